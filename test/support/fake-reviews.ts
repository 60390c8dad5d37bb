/** Reviews of a FakeWorld: the test says who approves; what that means together is decided by the real rule. */
import type { AttemptActivities, RecordActivities, ToldReviewer } from '../../activities/contract.ts';
import { decide } from '../../spec/review.ts';
import type { Review, ReviewPolicy, ReviewView } from '../../spec/review.ts';

/** null: it gave no verdict that can be read. */
export type Says = (task: string, attempt: number, reviewer: number, call: number) => 'approve' | 'reject' | null;

export function fakeReviews(
  reviewers: readonly ToldReviewer[],
  policy: ReviewPolicy,
  says: Says,
): Pick<AttemptActivities, 'runReview'> & Pick<RecordActivities, 'decideReviews'> & { readonly asked: string[] } {
  const given = new Map<string, Review[]>();
  const asked: string[] = [];
  return {
    asked,
    runReview: async ({ task, attempt, reviewer, call }) => {
      asked.push(`${task}/${attempt} ${reviewer}${call === 1 ? '' : ` call ${call}`}`);
      const verdict = says(task, attempt, reviewer, call);
      const findings = verdict === 'reject' ? [{ severity: 'blocking' as const, file: null, line: null, text: 'no' }] : [];
      const key = `${task}/${attempt}`;
      const others = (given.get(key) ?? []).filter((one) => one.reviewer !== reviewer);
      const view = reviewers[reviewer]!.sees as ReviewView;
      given.set(key, [...others, { reviewer, view, verdict: verdict === null ? null : { verdict, findings, summary: '' } }]);
      return { verdict };
    },
    decideReviews: async ({ task, attempt, final }) => {
      const reviews = given.get(`${task}/${attempt}`) ?? [];
      const { decision } = decide(policy, reviews);
      const missing = reviews.filter(({ verdict }) => verdict === null).map(({ reviewer }) => reviewer);
      return { decision: final && decision === 'undecided' ? 'rejected' : decision, missing, why: `${decision}` };
    },
  }; // prettier-ignore
}
