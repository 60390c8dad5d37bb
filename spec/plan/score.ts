/**
 * What a plan is worth before it runs: how much of it could go on at once, how long it would take, what it would cost. Pure.
 *
 * 1. Work is counted in attempts of tasks; every task weighs the same unless the caller knows better.
 * 2. Time is from a simulation of the schedule that the spec names, ready tasks with the longest path below them first, as the run does it.
 * 3. Money is null, not nothing, where a price is not known.
 */
import { topologicalOrder } from '../dag.ts';
import { anyGlob } from '../globs.ts';
import type { Problem, TaskKind } from '../model.ts';
import { findOverlaps } from '../overlap.ts';
import { costOf } from '../prices.ts';
import type { Price } from '../prices.ts';
import { formatDuration } from '../units.ts';
import { makespanMs } from './makespan.ts';

export interface ScoredTask {
  readonly id: string;
  readonly kind: TaskKind;
  readonly files: { readonly allow: readonly string[]; readonly forbid: readonly string[] };
  readonly dependsOn: readonly string[];
}

/** What one attempt takes. */
export interface AttemptCost {
  readonly ms: number;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
}

export interface ScoreOptions {
  readonly attempt: AttemptCost;
  /** Attempts that a task needs on average; above 1, since some come back red. */
  readonly attemptsPerTask: number;
  /** From the end of a task's gate until it has landed, and of an integration point. */
  readonly landMs: number;
  readonly waveMs: number;
  readonly schedule: 'waves' | 'frontier';
  /** Tasks that may run at once. */
  readonly agents: number;
  /** Of the worker's model; null: not known. */
  readonly price: Price | null;
  /** Paths of the tree, for how many files a scope has; null: globs are counted. */
  readonly files: readonly string[] | null;
  readonly union: readonly string[];
}

/** Guesses, none of them measured, until a run has figures of its own: whoever shows an estimate made of them says so. */
export const GUESSED: Pick<ScoreOptions, 'attempt' | 'attemptsPerTask' | 'landMs' | 'waveMs'> = {
  attempt: { ms: 300_000, inputTokens: 40_000, cachedTokens: 600_000, cacheWriteTokens: 60_000, outputTokens: 15_000 },
  attemptsPerTask: 1.3,
  landMs: 30_000,
  waveMs: 120_000,
};

export interface PlanScore {
  readonly tasks: number;
  readonly waves: number;
  /** Tasks on the longest chain. */
  readonly criticalPath: number;
  /** Attempts to be expected in all. */
  readonly totalWork: number;
  readonly largestScope: { readonly task: string; readonly files: number } | null;
  /** Share of all pairs of tasks that may write the same file, whether or not one waits for the other; 0 to 1. */
  readonly overlap: number;
  /** Tasks for each of the longest chain: how many could go on at once on average. */
  readonly parallelism: number;
  /** The fewest agents with which it takes at most a tenth longer than with any number. */
  readonly worthwhileAgents: number;
  /** US dollars. */
  readonly expectedUsd: number | null;
  readonly expectedMs: number;
}

/** How much longer than the shortest time possible still counts as not longer. */
const WORTH = 1.1;

/** @param tasks without cycles */
export function scorePlan(tasks: readonly ScoredTask[], options: ScoreOptions): PlanScore {
  const { attempt, attemptsPerTask, price } = options;
  const layers = layersOf(tasks);
  const criticalPath = layers.length;
  const totalWork = tasks.length * attemptsPerTask;
  const costs = { ...options, workMs: attempt.ms * attemptsPerTask };
  const time = (agents: number): number => makespanMs(tasks, layers, agents, costs);
  const widest = Math.max(1, ...layers.map((layer) => layer.length));
  const most = options.schedule === 'waves' ? widest : Math.max(1, tasks.length);
  const usd = price === null ? null : (tasks.length * attemptsPerTask * costOf(attempt, price)) / 1e6;
  return {
    tasks: tasks.length,
    waves: layers.length,
    criticalPath,
    totalWork,
    largestScope: largestScope(tasks, options.files),
    overlap: overlapOf(tasks, options.union),
    parallelism: criticalPath === 0 ? 0 : tasks.length / criticalPath,
    worthwhileAgents: tasks.length === 0 ? 0 : fewest(most, (agents) => time(agents) <= time(most) * WORTH),
    expectedUsd: usd === null ? null : Math.round(usd * 100) / 100,
    expectedMs: time(Math.max(1, options.agents)),
  };
}

/** Tasks by the length of the longest chain above them. */
function layersOf(tasks: readonly ScoredTask[]): number[][] {
  const index = new Map(tasks.map(({ id }, i) => [id, i]));
  const depth: number[] = [];
  const layers: number[][] = [];
  for (const i of topologicalOrder(tasks)) {
    const above = tasks[i]!.dependsOn.flatMap((id) => index.get(id) ?? []).map((dep) => depth[dep] ?? 0);
    depth[i] = 1 + Math.max(-1, ...above);
    (layers[depth[i]] ??= []).push(i);
  }
  return layers;
}

/** By halving: with more agents nothing takes (much) longer. */
function fewest(most: number, isEnough: (agents: number) => boolean): number {
  let [low, high] = [1, most];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isEnough(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function largestScope(tasks: readonly ScoredTask[], files: readonly string[] | null): PlanScore['largestScope'] {
  let largest: PlanScore['largestScope'] = null;
  for (const { id, files: own } of tasks) {
    const [inside, outside] = [anyGlob(own.allow), anyGlob(own.forbid)];
    const known = files?.filter((path) => inside(path) && !outside(path)).length ?? 0;
    const count = Math.max(known, own.allow.length);
    if (largest === null || count > largest.files) largest = { task: id, files: count };
  }
  return largest;
}

function overlapOf(tasks: readonly ScoredTask[], union: readonly string[]): number {
  if (tasks.length < 2) return 0;
  // Without dependencies, so that pairs in order count too: what overlaps must wait, and what must wait is no parallel work.
  const free = tasks.map((task) => ({ ...task, kind: 'work' as const, dependsOn: [] }));
  const { total } = findOverlaps(free, { serialise: false, union, files: null, limit: 0 });
  return total / ((tasks.length * (tasks.length - 1)) / 2);
}

/** Where a plan is refused; null: no limit. */
export interface ScoreLimits {
  /** Least `parallelism`; plans of fewer than MIN_JUDGED tasks are not held to it. */
  readonly minParallelism: number | null;
  /** Most `overlap`, 0 to 1. */
  readonly maxOverlap: number | null;
  readonly maxScopeFiles: number | null;
  readonly maxUsd: number | null;
  readonly maxMs: number | null;
}
export const NO_LIMITS: ScoreLimits = {
  minParallelism: null,
  maxOverlap: null,
  maxScopeFiles: null,
  maxUsd: null,
  maxMs: null,
};

/** Two or three tasks in a row are a small job, not a bad plan. */
export const MIN_JUDGED = 4;

/** Why a plan is sent back; empty: it may run. Paths are those of the score. */
export function planRefusals(score: PlanScore, limits: ScoreLimits): Problem[] {
  const out: Problem[] = [];
  const two = (value: number): string => String(Math.round(value * 100) / 100);
  const { minParallelism, maxOverlap, maxScopeFiles, maxUsd, maxMs } = limits;
  if (minParallelism !== null && score.tasks >= MIN_JUDGED && score.parallelism < minParallelism)
    out.push({
      path: 'parallelism',
      message: `is ${two(score.parallelism)} (${score.tasks} tasks, ${score.criticalPath} of them in one chain); at least ${two(minParallelism)} is asked for: cut dependencies that only order the work, let tasks agree on an interface first and go on side by side`,
    });
  if (maxOverlap !== null && score.overlap > maxOverlap)
    out.push({
      path: 'overlap',
      message: `is ${two(score.overlap * 100)} % of all pairs of tasks; at most ${two(maxOverlap * 100)} % may write the same file: divide the work by files`,
    });
  if (maxScopeFiles !== null && (score.largestScope?.files ?? 0) > maxScopeFiles)
    out.push({
      path: 'largestScope',
      message: `is ${score.largestScope!.files} files, of the task "${score.largestScope!.task}"; at most ${maxScopeFiles}: narrow or split it`,
    });
  if (maxUsd !== null && score.expectedUsd === null)
    out.push({
      path: 'expectedUsd',
      message: `is not known, since the worker's model has no price; at most ${two(maxUsd)} USD is asked for`,
    });
  if (maxUsd !== null && score.expectedUsd !== null && score.expectedUsd > maxUsd)
    out.push({
      path: 'expectedUsd',
      message: `is ${two(score.expectedUsd)} USD; at most ${two(maxUsd)}: plan fewer or larger tasks`,
    });
  if (maxMs !== null && score.expectedMs > maxMs)
    out.push({
      path: 'expectedMs',
      message: `is ${formatDuration(score.expectedMs)}; at most ${formatDuration(maxMs)}: shorten the longest chain (${score.criticalPath} tasks)`,
    });
  return out;
}

/** A score as lines for a person: `plan` and the end report show them. */
export function scoreLines(score: PlanScore): string[] {
  const { tasks, waves, criticalPath, parallelism, worthwhileAgents, largestScope, overlap, expectedMs, expectedUsd } =
    score;
  const round = (value: number): string => String(Math.round(value * 10) / 10);
  return [
    `${tasks} tasks in ${waves} waves; the longest chain has ${criticalPath}, so that ${round(parallelism)} can go on at once on average`,
    `worthwhile: up to ${worthwhileAgents} agents at once; about ${formatDuration(expectedMs)} in all`,
    expectedUsd === null ? 'cost: not known (the model has no price)' : `cost: about ${expectedUsd.toFixed(2)} USD`,
    ...(largestScope === null ? [] : [`largest scope: ${largestScope.task}, ${largestScope.files} files`]),
    ...(overlap === 0
      ? []
      : [`${round(overlap * 100)} % of all pairs of tasks may write the same file, and wait for each other`]),
  ];
}
