/** A run's costs as a whole: the figures of `swarmline cost`, and the few of them that its end report holds. Pure. */
import { outcomeOf, PLANNERS, sumBy, sumOf, tokensOf, WASTE } from './costs.ts';
import type { CostEntry, CostOutcome, CostSum } from './costs.ts';
import type { ReviewerRecord } from './finding-proof.ts';
import type { ConflictRecord } from './merging.ts';
import { costOf, priceOf } from './prices.ts';
import type { Price, PriceTable } from './prices.ts';

/** What calls alone do not tell. */
export interface CostFacts {
  readonly landedTasks: number;
  /** Attempts that conflicted. */
  readonly conflicts: number;
  /** Conflicts that a merger was called for, with what they cost. */
  readonly mergers: readonly ConflictRecord[];
  readonly reviewers: readonly ReviewerRecord[];
  /** Answers of planners that were judged. */
  readonly planners: { readonly taken: number; readonly sentBack: number };
  readonly underWay: { readonly calls: number; readonly reservedMicrousd: number };
  readonly waiting: readonly WaitingCalls[];
}

/** Model calls that wait at a gateway now. */
export interface WaitingCalls {
  readonly task: string;
  /** For a place, the key's rate, the budget. */
  readonly refusal: string;
  readonly calls: number;
  /** The longest of them. */
  readonly waitedMs: number;
}

export interface Comparison {
  readonly model: string;
  /** Why that model: it is the planner's, or there is none with a price. */
  readonly of: 'planner' | 'dearest';
  readonly microusd: number;
}

export interface CostReport extends CostFacts {
  readonly total: CostSum;
  readonly byOutcome: readonly [CostOutcome, CostSum][];
  readonly byRole: readonly [string, CostSum][];
  readonly byRoleAndOutcome: readonly { readonly role: string; readonly outcome: CostOutcome; readonly sum: CostSum }[];
  /** Seat and model of each; empty without reviewers. */
  readonly byReviewer: readonly [string, CostSum][];
  readonly byModel: readonly [string, CostSum][];
  readonly byTask: readonly [string, CostSum][];
  readonly byPlanner: readonly [string, CostSum][];
  /** All that was spent, by task that landed; null when none has. */
  readonly perLandedTask: number | null;
  /** Spent on attempts of which nothing landed. */
  readonly wasted: CostSum;
  /** null: no model has a price. */
  readonly comparison: Comparison | null;
  /** Models that were counted as costing nothing, since they have no price. */
  readonly unpriced: readonly string[];
}

export function costReport(
  entries: readonly CostEntry[],
  facts: CostFacts,
  options: { readonly plannerModel: string | null; readonly prices: readonly PriceTable[] },
): CostReport {
  const total = sumOf(entries);
  const inRole = (name: string): CostEntry[] => entries.filter(({ role }) => role === name);
  const byRole = sumBy(entries, ({ role }) => role);
  const planners = entries.filter(({ task }) => task.startsWith(PLANNERS));
  const byModel = sumBy(entries, ({ model }) => model);
  return {
    ...facts,
    total,
    byOutcome: sumBy(entries, outcomeOf),
    byRole,
    byRoleAndOutcome: byRole.flatMap(([role]) =>
      sumBy(inRole(role), outcomeOf).map(([outcome, sum]) => ({ role, outcome, sum })),
    ),
    byReviewer: sumBy(inRole('reviewer'), ({ seat, model }) => `${seat === '' ? 'reviewer' : seat} (${model})`),
    byModel,
    byTask: sumBy(
      entries.filter(({ task }) => !task.startsWith(PLANNERS)),
      ({ task }) => task,
    ),
    byPlanner: sumBy(planners, ({ task }) => task.slice(PLANNERS.length) || '(the first)'),
    perLandedTask: facts.landedTasks === 0 ? null : Math.round(total.microusd / facts.landedTasks),
    wasted: sumOf(entries.filter((entry) => WASTE.has(outcomeOf(entry)))),
    comparison: compare(entries, options.plannerModel ?? mostUsed(planners), options.prices),
    unpriced: byModel.flatMap(([model, sum]) => (sum.microusd === 0 && tokensOf(sum) > 0 ? [model] : [])),
  };
}

const mostUsed = (entries: readonly CostEntry[]): string | null =>
  sumBy(entries, ({ model }) => model).toSorted(([, a], [, b]) => b.calls - a.calls)[0]?.[0] ?? null;

/**
 * The same tokens at another price. They would not have been the same with another model: it is a yardstick, not a forecast.
 * Whether a prompt counts as long is judged by the average of its attempt.
 */
function compare(
  entries: readonly CostEntry[],
  plannerModel: string | null,
  prices: readonly PriceTable[],
): Comparison | null {
  if (entries.length === 0) return null;
  const at = (price: Price): number => entries.reduce((sum, entry) => sum + costOfCalls(entry, price), 0);
  const planners = plannerModel === null ? null : priceOf(plannerModel, prices);
  if (plannerModel !== null && planners !== null) return { model: plannerModel, of: 'planner', microusd: at(planners) };
  const [dearest] = [...new Set(entries.map(({ model }) => model))]
    .flatMap((model) => {
      const price = priceOf(model, prices);
      return price === null ? [] : [{ model, of: 'dearest' as const, microusd: at(price) }];
    })
    .toSorted((a, b) => b.microusd - a.microusd);
  return dearest ?? null;
}

/** Of several calls: tokens of their sum, at the price of their average prompt. */
export function costOfCalls(sum: CostSum, { long, ...short }: Price): number {
  const prompt = (sum.inputTokens + sum.cachedTokens + sum.cacheWriteTokens) / Math.max(1, sum.calls);
  return costOf(sum, long !== undefined && prompt > long.overTokens ? long.price : short);
}

/** What a run's report keeps. Money in millionths of a US dollar. */
export interface CostSummary {
  readonly microusd: number;
  readonly tokens: number;
  readonly calls: number;
  readonly byRole: readonly { readonly role: string; readonly microusd: number; readonly tokens: number }[];
  readonly landedTasks: number;
  readonly perLandedTask: number | null;
  readonly wasted: number;
  readonly comparison: Comparison | null;
}

/** null: no model was asked. */
export function costSummary(report: CostReport): CostSummary | null {
  const { total, byRole, landedTasks, perLandedTask, wasted, comparison } = report;
  if (total.calls === 0) return null;
  return {
    microusd: total.microusd,
    tokens: tokensOf(total),
    calls: total.calls,
    byRole: byRole.map(([role, sum]) => ({ role, microusd: sum.microusd, tokens: tokensOf(sum) })),
    landedTasks,
    perLandedTask,
    wasted: wasted.microusd,
    comparison,
  };
}
