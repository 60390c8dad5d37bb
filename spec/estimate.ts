/**
 * What a run is expected to take, before it runs. Pure.
 *
 * 1. Every figure is measured or a guess, and says which.
 * 2. Money that cannot be known is null, never nothing: a model without a price, a program that chooses its model by itself.
 * 3. Whoever asks no model costs nothing.
 */
import {
  ANSWERS_A_CALL, attemptOf, attemptsPerTask, conflictsPerTask, landTime, REVIEWS_A_TASK, waveTime,
} from './estimate-figures.ts'; // prettier-ignore
import type { Figure, Measured } from './estimate-figures.ts';
import type { CompiledSpec, Role } from './model.ts';
import { scorePlan } from './plan/score.ts';
import type { AttemptCost, PlanScore, ScoredTask } from './plan/score.ts';
import { costOf, priceOf } from './prices.ts';
import type { PriceTable } from './prices.ts';

export interface RoleEstimate {
  /** `worker`, `reviewer 2`, … */
  readonly role: string;
  readonly engine: string;
  readonly model: string | null;
  /** Attempts, answers, reviews. */
  readonly times: number;
  readonly each: AttemptCost;
  /** Attempts that `each` is the mean of; 0: a guess. */
  readonly of: number;
  /** Of one; null: not known. */
  readonly eachUsd: number | null;
  readonly usd: number | null;
}

export interface Estimate {
  readonly score: PlanScore;
  readonly roles: readonly RoleEstimate[];
  /** US dollars; null: that of at least one role is not known. */
  readonly usd: number | null;
  /** Of those roles whose cost is known. */
  readonly knownUsd: number;
  readonly tokens: number;
  readonly ms: number;
  /** Attempts at once at most, and what sets it. */
  readonly atOnce: { readonly agents: number; readonly by: 'policy.inFlight' | 'budget.modelCalls' | 'slots' };
  readonly figures: {
    readonly attemptsPerTask: Figure;
    readonly conflictsPerTask: Figure;
    readonly landMs: Figure;
    readonly waveMs: Figure;
  };
}

export interface EstimateOptions {
  readonly measured: Measured;
  readonly prices: readonly PriceTable[];
  /** Paths of the base commit; null: not known. */
  readonly files: readonly string[] | null;
  /** Containers that the hosts run at once; null: not known. */
  readonly slots: number | null;
}

/** Engines that ask no model. */
const SILENT: ReadonlySet<string> = new Set(['command', 'scripted', 'external']);
/** Tasks that one planner plans: beyond it, it hands scopes to others. A guess. */
const TASKS_A_PLANNER = 40;

/** Tasks that planners may plan, of which nothing else is known: as many chains side by side as `waves` makes of them. */
export function imaginedTasks(count: number, waves: number): ScoredTask[] {
  const width = Math.ceil(count / Math.max(1, Math.min(waves, count)));
  return Array.from({ length: count }, (_, i) => ({
    id: `planned-${i + 1}`,
    kind: 'work',
    files: { allow: [`planned-${i + 1}/**`], forbid: [] },
    dependsOn: i < width ? [] : [`planned-${i + 1 - width}`],
  }));
}

/** @param imagined tasks that planners are expected to add to those of the spec */
export function estimate(
  spec: CompiledSpec,
  imagined: readonly ScoredTask[],
  { measured, prices, files, slots }: EstimateOptions,
): Estimate {
  const tasks = [...spec.tasks, ...imagined];
  const n = tasks.length;
  const { worker, planner, merger } = spec.roles;
  const retries = attemptsPerTask(measured, worker.model);
  const conflicts = conflictsPerTask(measured);
  const [land, wave] = [landTime(measured), waveTime(measured)];
  const estimated = (role: string, { engine, model }: Role, times: number): RoleEstimate => {
    const asks = asksModels(spec, engine);
    const { each, of } = attemptOf(measured, role, asks ? model : null);
    const price = model === null ? null : priceOf(model, prices);
    const eachUsd = !asks ? 0 : price === null ? null : costOf(each, price) / 1e6;
    const usd = eachUsd === null ? null : eachUsd * times;
    return { role, engine, model, times, each: asks ? each : { ...each, ...NO_TOKENS }, of, eachUsd, usd };
  };

  const others = byRole(spec);
  const own = n - others.reduce((sum, [, count]) => sum + count, 0);
  const workers = [
    ...(own > 0 ? [estimated('worker', worker, own * retries.value)] : []),
    ...others.map(([role, count]) => estimated(role, spec.roles[role] ?? worker, count * retries.value)),
  ];
  const reviewers = spec.reviewers.map((one) => estimated('reviewer', one, n * REVIEWS_A_TASK));
  const mergers = merger === undefined ? [] : [estimated('merger', merger, n * conflicts.value)];

  const times = workers.reduce((sum, one) => sum + one.times, 0);
  const workMs = workers.reduce((sum, one) => sum + one.times * one.each.ms, 0) / Math.max(1, times);
  const reviewMs = (Math.max(0, ...reviewers.map(({ each }) => each.ms)) * REVIEWS_A_TASK) / retries.value;
  const atOnce = agentsAtOnce(spec, slots);
  const score = scorePlan(tasks, {
    attempt: { ...NO_TOKENS, ms: workMs + reviewMs },
    attemptsPerTask: retries.value,
    landMs: land.value,
    waveMs: wave.value,
    schedule: spec.policy.schedule,
    agents: atOnce.agents,
    price: null,
    files,
    union: spec.repository.union,
  });
  const planners = planner === undefined ? [] : [estimated('planner', planner, answers(spec, n, score.waves))];
  const roles = [...planners, ...workers, ...numbered(reviewers), ...mergers];
  const knownUsd = roles.reduce((sum, { usd }) => sum + (usd ?? 0), 0);
  const isKnown = roles.every(({ usd, times: some }) => usd !== null || some === 0);
  // Only the first answers hold work up; later ones come while it goes on.
  const planMs = imagined.length === 0 || planners[0] === undefined ? 0 : planners[0].each.ms * ANSWERS_A_CALL;
  const ms = score.expectedMs + planMs;
  return {
    score: { ...score, expectedUsd: isKnown ? Math.round(knownUsd * 100) / 100 : null, expectedMs: ms },
    roles,
    usd: isKnown ? knownUsd : null,
    knownUsd,
    tokens: Math.round(roles.reduce((sum, { each, times: some }) => sum + some * tokensOf(each), 0)),
    ms,
    atOnce,
    figures: { attemptsPerTask: retries, conflictsPerTask: conflicts, landMs: land, waveMs: wave },
  };
}

const NO_TOKENS = { inputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 0 };
const tokensOf = (each: AttemptCost): number =>
  each.inputTokens + each.cachedTokens + each.cacheWriteTokens + each.outputTokens;

/** An engine of the spec's own asks only where it has the gateway. */
export function asksModels(spec: Pick<CompiledSpec, 'engines'>, engine: string): boolean {
  return !SILENT.has(engine) && (spec.engines[engine]?.gateway ?? true);
}

/** An agent that asks a model has a call under way most of the time, so that places for calls bound agents too. */
function agentsAtOnce(spec: CompiledSpec, slots: number | null): Estimate['atOnce'] {
  const bounds: Estimate['atOnce'][] = [
    { agents: spec.policy.inFlight, by: 'policy.inFlight' },
    ...(asksModels(spec, spec.roles.worker.engine)
      ? [{ agents: spec.budget.modelCalls, by: 'budget.modelCalls' as const }]
      : []),
    ...(slots === null ? [] : [{ agents: slots, by: 'slots' as const }]),
  ];
  return bounds.toSorted((a, b) => a.agents - b.agents)[0]!;
}

/** Tasks of the spec that another role than the worker carries out. */
function byRole({ tasks }: CompiledSpec): [CompiledSpec['tasks'][number]['role'], number][] {
  const counts = new Map<CompiledSpec['tasks'][number]['role'], number>();
  for (const { role } of tasks) if (role !== 'worker') counts.set(role, (counts.get(role) ?? 0) + 1);
  return [...counts];
}

const numbered = (reviewers: readonly RoleEstimate[]): RoleEstimate[] =>
  reviewers.map((one, i) => (reviewers.length === 1 ? one : { ...one, role: `reviewer ${i + 1}` }));

/** Of all planners: each is called once, the first again for each wave that lands where the spec says so. */
function answers({ planning }: CompiledSpec, tasks: number, waves: number): number {
  const again = planning.replan.includes('wave') ? Math.min(waves, planning.calls - 1) : 0;
  return (Math.max(1, Math.ceil(tasks / TASKS_A_PLANNER)) + again) * ANSWERS_A_CALL;
}
