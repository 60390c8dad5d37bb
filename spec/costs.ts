/** What models cost, call by call summed up by attempt, and what became of it. Pure. */

/**
 * What became of the attempt that a call belonged to; a reviewer's calls share the fate of what was reviewed.
 *
 * landed: its work is under `verified`, or a merger's that was made of it is. planning: a planner's answer that was taken.
 * sent back: one that was not, and all else that a planner asked in vain. conflict, rejected: what the mainline and the reviewers said.
 * abandoned: stopped, or the last attempt of a task that is blocked, skipped or cancelled, or of a run that has ended.
 * retried: every other red attempt, ejected ones included.
 */
export const COST_OUTCOMES = [
  'landed',
  'planning',
  'under way',
  'retried',
  'conflict',
  'rejected',
  'sent back',
  'abandoned',
] as const;
export type CostOutcome = (typeof COST_OUTCOMES)[number];

/** Paid for and of no use. */
export const WASTE: ReadonlySet<CostOutcome> = new Set(['retried', 'conflict', 'rejected', 'sent back', 'abandoned']);

export interface CostSum {
  readonly calls: number;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  /** Millionths of a US dollar. */
  readonly microusd: number;
  /** Of it by our own estimate: the provider never said. */
  readonly estimatedMicrousd: number;
  readonly waitedMs: number;
}

export interface AttemptFate {
  /** A planner's begins with `plan:`. */
  readonly task: string;
  /** null: it has not ended. */
  readonly outcome: string | null;
  /** No attempt of the task came after it. */
  readonly isLast: boolean;
  /** A merger's attempt that was made of its work has landed. */
  readonly isMerged: boolean;
  /** null: there is no such task (a planner's calls). */
  readonly taskState: string | null;
  readonly runEnded: boolean;
}

/** The calls of one attempt, role, seat and model. */
export interface CostEntry extends CostSum, AttemptFate {
  readonly attempt: number;
  readonly role: string;
  /** Tells several of one role and attempt apart (`review-1`); '' where there is one. */
  readonly seat: string;
  readonly model: string;
}

export const PLANNERS = 'plan:';
/** States in which no further attempt comes unless a person says so. */
const GIVEN_UP: ReadonlySet<string> = new Set(['blocked', 'skipped', 'cancelled']);

export function outcomeOf({ task, outcome, isLast, isMerged, taskState, runEnded }: AttemptFate): CostOutcome {
  const isPlanner = task.startsWith(PLANNERS);
  const isOver = runEnded || GIVEN_UP.has(taskState ?? '');
  // One that waited for the mainline when its task was cancelled never hears how it ended.
  if (outcome === null) return isOver ? 'abandoned' : 'under way';
  if (outcome === 'passed') return isPlanner ? 'planning' : 'landed';
  if (outcome === 'cancelled') return 'abandoned';
  if (isPlanner) return 'sent back';
  if (outcome === 'conflict') return isMerged ? 'landed' : 'conflict';
  if (outcome === 'rejected') return 'rejected';
  return isLast && isOver ? 'abandoned' : 'retried';
}

export const NO_COST: CostSum = {
  calls: 0,
  inputTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  microusd: 0,
  estimatedMicrousd: 0,
  waitedMs: 0,
};

export function add(a: CostSum, b: CostSum): CostSum {
  return {
    calls: a.calls + b.calls,
    inputTokens: a.inputTokens + b.inputTokens,
    cachedTokens: a.cachedTokens + b.cachedTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    microusd: a.microusd + b.microusd,
    estimatedMicrousd: a.estimatedMicrousd + b.estimatedMicrousd,
    waitedMs: a.waitedMs + b.waitedMs,
  };
}

export const sumOf = (entries: readonly CostSum[]): CostSum => entries.reduce<CostSum>(add, NO_COST);

export const tokensOf = (sum: CostSum): number =>
  sum.inputTokens + sum.cachedTokens + sum.cacheWriteTokens + sum.outputTokens;

/** Sums by a key, dearest first. */
export function sumBy<E extends CostSum, K extends string>(
  entries: readonly E[],
  key: (entry: E) => K,
): [K, CostSum][] {
  const sums = new Map<K, CostSum>();
  for (const entry of entries) sums.set(key(entry), add(sums.get(key(entry)) ?? NO_COST, entry));
  return [...sums].toSorted(([, a], [, b]) => b.microusd - a.microusd || b.calls - a.calls);
}
