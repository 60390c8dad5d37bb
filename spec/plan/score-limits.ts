/** Where a plan is refused for its score, and how a score is told. Pure. */
import type { Problem } from '../model.ts';
import { formatDuration } from '../units.ts';
import type { PlanScore } from './score.ts';

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

/** What a plan must be worth, in words for a planner; '' where nothing is asked for. */
export function planDemands({ minParallelism, maxOverlap, maxScopeFiles, maxUsd, maxMs }: ScoreLimits): string {
  const demands = [
    minParallelism === null ? '' : `at least ${minParallelism} tasks for each of its longest chain`,
    maxOverlap === null
      ? ''
      : `at most ${Math.round(maxOverlap * 1000) / 10} % of all pairs of tasks may write the same file`,
    maxScopeFiles === null ? '' : `at most ${maxScopeFiles} files in the scope of one task`,
    maxUsd === null ? '' : `an expected cost of at most ${maxUsd} USD`,
    maxMs === null ? '' : `an expected time of at most ${formatDuration(maxMs)}`,
  ].filter(Boolean);
  return demands.length === 0 ? '' : `A plan is sent back unless it has ${demands.join('; ')}.`;
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
