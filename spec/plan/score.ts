/**
 * What a plan is worth before it runs: how much of it could go on at once, how long it would take, what it would cost. Pure.
 *
 * 1. Work is counted in attempts of tasks; every task weighs the same unless the caller knows better.
 * 2. Time is from a simulation of the schedule that the spec names, ready tasks with the longest path below them first, as the run does it.
 * 3. Money is null, not nothing, where a price is not known.
 */
import { topologicalOrder } from '../dag.ts';
import { anyGlob } from '../globs.ts';
import type { TaskKind } from '../model.ts';
import { findOverlaps } from '../overlap.ts';
import { costOf } from '../prices.ts';
import type { Price } from '../prices.ts';
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
