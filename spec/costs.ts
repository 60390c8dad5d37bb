/** Sums of what models cost, by what became of it. Pure. */

/** What became of the attempt that a call belonged to. */
export const COST_OUTCOMES = [
  'landed',
  'retried',
  'conflict',
  'rejected',
  'abandoned',
  'under way',
  'planning',
] as const;
export type CostOutcome = (typeof COST_OUTCOMES)[number];

export interface CostSum {
  readonly calls: number;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  readonly microusd: number;
  readonly estimatedMicrousd: number;
  readonly waitedMs: number;
}

export interface CostEntry extends CostSum {
  readonly task: string;
  readonly attempt: number;
  readonly role: string;
  readonly model: string;
  /** The attempt's; null: it has not ended, or there is none. */
  readonly outcome: string | null;
}

export function outcomeOf({ task, outcome }: Pick<CostEntry, 'task' | 'outcome'>): CostOutcome {
  if (task === '') return 'planning';
  switch (outcome) {
    case null:
      return 'under way';
    case 'passed':
      return 'landed';
    case 'cancelled':
      return 'abandoned';
    case 'conflict':
      return 'conflict';
    case 'rejected':
      return 'rejected';
    default:
      return 'retried';
  }
}

const NOTHING: CostSum = { calls: 0, inputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 0, microusd: 0, estimatedMicrousd: 0, waitedMs: 0 }; // prettier-ignore

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

/** Sums by a key, dearest first. */
export function sumBy<K extends string>(entries: readonly CostEntry[], key: (entry: CostEntry) => K): [K, CostSum][] {
  const sums = new Map<K, CostSum>();
  for (const entry of entries) sums.set(key(entry), add(sums.get(key(entry)) ?? NOTHING, entry));
  return [...sums].toSorted(([, a], [, b]) => b.microusd - a.microusd || b.calls - a.calls);
}

export interface CostReport {
  readonly total: CostSum;
  readonly byOutcome: readonly [CostOutcome, CostSum][];
  readonly byRole: readonly [string, CostSum][];
  readonly byModel: readonly [string, CostSum][];
  readonly byTask: readonly [string, CostSum][];
  readonly landedTasks: number;
  /** All that was spent, by task that landed; null when none has. Millionths of a dollar. */
  readonly perLandedTask: number | null;
  /** Spent on attempts that did not land. */
  readonly wasted: CostSum;
}

const WASTE: ReadonlySet<CostOutcome> = new Set(['retried', 'conflict', 'rejected', 'abandoned']);

export function costReport(entries: readonly CostEntry[]): CostReport {
  const total = entries.reduce<CostSum>(add, NOTHING);
  const landedTasks = new Set(entries.filter((entry) => outcomeOf(entry) === 'landed').map(({ task }) => task)).size;
  return {
    total,
    byOutcome: sumBy(entries, outcomeOf),
    byRole: sumBy(entries, ({ role }) => role),
    byModel: sumBy(entries, ({ model }) => model),
    byTask: sumBy(entries, ({ task }) => (task === '' ? '(the run)' : task)),
    landedTasks,
    perLandedTask: landedTasks === 0 ? null : Math.round(total.microusd / landedTasks),
    wasted: entries.filter((entry) => WASTE.has(outcomeOf(entry))).reduce<CostSum>(add, NOTHING),
  };
}
