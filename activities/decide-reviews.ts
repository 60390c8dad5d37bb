/**
 * What the reviews of an attempt mean together (spec/review.ts), and the end of an attempt that they reject.
 *
 * 1. The worker's next attempt is given the findings as it would be given the log of a red gate step.
 * 2. A reviewer that gave no verdict is no approval. Asked once more in vain, what is undecided is rejected: the next attempt is reviewed
 *    anew, the number of attempts bounds how often, and at its end a person is asked, who is told who was missing. To stop at once for a
 *    person would hold up hours of work for one bad answer.
 */
import { decide, findingsLog } from '../spec/review.ts';
import type { Review, ReviewDecision } from '../spec/review.ts';
import type { AttemptKey, CompiledSpec } from '../spec/model.ts';
import { endAttempt, listReviews, loadSpec, markAttempt, saveArtifact } from '../store/index.ts';
import type { Db, NewReview } from '../store/index.ts';
import type { ReviewsDecided } from './contract.ts';

/** Artifact of an attempt that its reviewers rejected. */
export const REVIEW_LOG = 'review.log';

export async function decideReviews(db: Db, key: AttemptKey, final: boolean): Promise<ReviewsDecided> {
  const spec = await loadSpec(db, key.run);
  const given = await listReviews(db, key);
  const reviews = spec.reviewers.map(({ sees: view }, reviewer): Review => ({
    reviewer,
    view,
    verdict: given.find((one) => one.reviewer === reviewer)?.verdict ?? null,
  }));
  const decided = decide(spec.policy.reviews, reviews);
  const missing = reviews.filter(({ verdict }) => verdict === null).map(({ reviewer }) => reviewer);
  if (decided.decision === 'undecided' && !final) return { decision: 'undecided', missing, why: '' };
  if (decided.decision === 'approved') {
    await markAttempt(db, key, { phase: 'merge' });
    return { decision: 'approved', missing, why: '' };
  }
  const absent = missing.map((reviewer) => absentLine(reviewer, spec, given));
  const log = [findingsLog(decided.findings), ...absent].filter((text) => text !== '').join('\n');
  const why = whyOf(decided, missing.length, reviews.length);
  await saveArtifact(db, { ...key, name: REVIEW_LOG }, `${log}\n`);
  await endAttempt(db, key, { outcome: 'rejected', why, failureArtifact: REVIEW_LOG });
  return { decision: 'rejected', missing, why };
}

function absentLine(reviewer: number, spec: CompiledSpec, given: readonly NewReview[]): string {
  const { sees, engine } = spec.reviewers[reviewer]!;
  const why = given.find((one) => one.reviewer === reviewer)?.why ?? 'It was not asked.';
  return `Reviewer ${reviewer + 1} (${engine}, of the ${sees}) gave no verdict: ${why}`;
}

function whyOf({ decision, findings }: ReviewDecision, missing: number, of: number): string {
  if (decision === 'undecided') return `${missing} of ${of} reviewers gave no verdict that can be read`;
  const [worst] = findings;
  const file = worst?.file ?? null;
  const where = file === null ? '' : ` in ${file}${(worst?.line ?? null) === null ? '' : `:${worst!.line}`}`;
  return worst === undefined
    ? 'Rejected without a finding'
    : `${findings.length} finding${findings.length === 1 ? '' : 's'}, the worst (${worst.severity})${where}: ${worst.text}`;
}
