/**
 * What a reviewer is shown, from what is stored: never from the directory of an agent.
 *
 * 1. Each sees its own view and nothing of another: who judges by the transcript is given the tree that the worker started from.
 */
import type { TranscriptStep } from '../engines/index.ts';
import { diffTrees } from '../mainline/git.ts';
import { MUTATION_LOG, unnoticedLines } from '../sandbox/gate-mutation.ts';
import { escapeGlob } from '../spec/globs.ts';
import type { AttemptKey, TaskSpec } from '../spec/model.ts';
import type { Reviewed } from '../spec/prompt/index.ts';
import type { ReviewView } from '../spec/review.ts';
import { isTestPath, suspiciousTests } from '../spec/suspicious-tests.ts';
import type { SuspiciousTest } from '../spec/suspicious-tests.ts';
import { AGENT_LOG, STEPS } from './agent-attempt.ts';
import type { AttemptDeps } from './attempt-ports.ts';
import { treeDiff } from './tree-diff.ts';
import { treeTexts } from './tree-texts.ts';

/** Characters of a log that stands for a transcript. */
const LOG_CHARS = 20_000;
const SUSPICIONS = 50;

export interface ReviewSubject {
  readonly key: AttemptKey;
  readonly task: TaskSpec;
  readonly base: string;
  readonly commit: string;
  readonly gitDir: string;
}

/** Commit that is checked out for it. */
export const shownCommit = (view: ReviewView, { base, commit }: Pick<ReviewSubject, 'base' | 'commit'>): string =>
  view === 'transcript' ? base : commit;

export async function viewOf(view: ReviewView, subject: ReviewSubject, deps: AttemptDeps): Promise<Reviewed> {
  const { key, task, base, commit, gitDir } = subject;
  switch (view) {
    case 'transcript':
      return { view, steps: await stepsOf(key, deps) };
    case 'diff':
      return { view, files: await treeDiff(gitDir, base, commit) };
    case 'tree': {
      const tree = await treeTexts(gitDir, commit);
      return { view, files: await tree.read(tree.matching(task.files.allow, task.files.forbid)) };
    }
  }
}

/** An engine without a transcript leaves its output, which has to do. */
async function stepsOf(key: AttemptKey, deps: AttemptDeps): Promise<readonly TranscriptStep[]> {
  const kept = await deps.store.artifact({ ...key, name: STEPS });
  const steps = kept === null ? null : parsed(kept);
  if (steps !== null) return steps;
  const log = (await deps.store.artifact({ ...key, name: AGENT_LOG })) ?? '';
  return [{ kind: 'message', text: log === '' ? '(it left no transcript)' : log.slice(-LOG_CHARS) }];
}

/** null: it was so long that the store kept only its two ends. */
function parsed(text: string): readonly TranscriptStep[] | null {
  try {
    return JSON.parse(text) as readonly TranscriptStep[];
  } catch {
    return null;
  }
}

/** Faults that its gate planted on changed lines and that its tests did not notice (`policy.mutation`). */
export async function unnoticedOf({ key }: ReviewSubject, deps: AttemptDeps): Promise<string[]> {
  return unnoticedLines((await deps.store.artifact({ ...key, name: MUTATION_LOG })) ?? '');
}

/** In the tests that the attempt changed. */
export async function suspicionsOf({ base, commit, gitDir }: ReviewSubject): Promise<SuspiciousTest[]> {
  const changes = await diffTrees(gitDir, base, commit);
  const tests = changes.filter(({ newOid, path }) => newOid !== null && isTestPath(path)).map(({ path }) => path);
  if (tests.length === 0) return [];
  const tree = await treeTexts(gitDir, commit);
  const files = await tree.read(tree.matching(tests.map(escapeGlob)));
  return files.flatMap(({ path, content }) => suspiciousTests(path, content)).slice(0, SUSPICIONS);
}
