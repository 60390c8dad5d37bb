/**
 * One review of an attempt: its commit in, a verdict in the store out.
 *
 * 1. A verdict that was given is not asked for again, whoever asks and how often.
 * 2. An answer that cannot be read is sent back with every problem; when it stays so, or its agent fails, the review is missing, which is
 *    never an approval (spec/review.ts).
 * 3. A reviewer edits nothing: its workspace is read-only (ask-agent).
 */
import { engineFor, promptBytes } from '../engines/index.ts';
import { openScratch } from '../sandbox/scratch.ts';
import type { AttemptKey, Problem, Reviewer } from '../spec/model.ts';
import { buildReviewerPrompt } from '../spec/prompt/index.ts';
import { readVerdict } from '../spec/review.ts';
import type { Verdict } from '../spec/review.ts';
import { askAgent } from './ask-agent.ts';
import type { Ask } from './ask-agent.ts';
import type { AttemptDeps } from './attempt-ports.ts';
import type { AttemptActivities, RunReviewInput } from './contract.ts';
import { markWhatWasFollowed } from './finding-followed.ts';
import { shownCommit, suspicionsOf, unnoticedOf, viewOf } from './review-view.ts';
import type { ReviewSubject } from './review-view.ts';
import type { Running } from './running.ts';

/** Answers to one call, the first included. */
const ASKS = 3;
/** Some 50,000 tokens, as a worker's. */
const PROMPT_BYTES = 200_000;

/** Names its sockets, calls, containers and artifacts beside those of other reviewers. */
export const seatOf = (reviewer: number): string => `review-${reviewer + 1}`;

export async function runReview(
  input: RunReviewInput,
  deps: AttemptDeps,
  running: Running,
): ReturnType<AttemptActivities['runReview']> {
  const { run, reviewer: index, call, commit, base } = input;
  const key: AttemptKey = { run, task: input.task, attempt: input.attempt };
  const before = (await deps.store.reviews(key)).find(({ reviewer }) => reviewer === index);
  if (before !== undefined && (before.verdict !== null || before.calls >= call))
    return { verdict: before.verdict?.verdict ?? null };
  const [spec, task] = [await deps.store.spec(run), await deps.store.task(run, input.task)];
  const reviewer = spec.reviewers[index];
  if (reviewer === undefined) throw new Error(`The run "${run}" has no reviewer ${index + 1}.`);
  const source = await deps.hub.ensure(run, [base, commit], running.signal);
  await deps.store.markAttempt(key, { phase: 'gate' });
  const scratch = await openScratch({ stateDir: deps.stateDir, source, union: spec.repository.union });
  try {
    const subject = { key, task, base, commit, gitDir: scratch.gitDir };
    if (index === 0) await markWhatWasFollowed(subject, deps, running);
    const seat = seatOf(index);
    const role = { engine: reviewer.engine, model: reviewer.model };
    const ask = { key, seat, spec, role, roleName: 'reviewer' as const, commit: shownCommit(reviewer.sees, subject) };
    const said = await verdictOf(reviewer, subject, { ...ask, scratch }, call, deps, running);
    const { engine, model, sees: view } = reviewer;
    await deps.store.saveReview(key, { reviewer: index, view, engine, model, calls: call, ...said });
    return { verdict: said.verdict?.verdict ?? null };
  } finally {
    await scratch.close();
  }
}

interface Said {
  readonly verdict: Verdict | null;
  /** Why there is none; ''. */
  readonly why: string;
  readonly ms: number;
}

async function verdictOf(
  { sees }: Reviewer,
  subject: ReviewSubject,
  ask: Omit<Ask, 'name' | 'prompt'> & { readonly seat: string },
  call: number,
  deps: AttemptDeps,
  running: Running,
): Promise<Said> {
  running.report({ phase: 'reading what is reviewed' });
  const { task } = subject;
  const [reviewed, suspicious] = [await viewOf(sees, subject, deps), await suspicionsOf(subject)];
  const unnoticed = await unnoticedOf(subject, deps);
  const maxBytes = promptBytes(PROMPT_BYTES, engineFor(ask.role.engine, ask.spec.engines));
  let sentBack: readonly Problem[] = [];
  let ms = 0;
  for (let asked = 1; ; asked++) {
    const { text: prompt } = buildReviewerPrompt({ task, reviewed, suspicious, unnoticed, sentBack, maxBytes });
    const nth = (call - 1) * ASKS + asked;
    const name = nth === 1 ? ask.seat : `${ask.seat}-${nth}`;
    const answer = await askAgent({ ...ask, name, prompt }, deps, running);
    ms += answer.ms;
    if (!answer.ok) return { verdict: null, why: answer.why, ms };
    const { verdict, problems } = readVerdict(answer.text);
    if (verdict !== null) return { verdict, why: '', ms };
    sentBack = problems;
    const lines = problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
    if (asked === ASKS) return { verdict: null, why: `Its answer could not be read: ${lines.join('; ')}`, ms };
  }
}
