/** What one attempt, answer or review takes: measured in earlier runs where there are any, else a guess that says so. Pure. */
import { GUESSED } from './plan/score.ts';
import type { AttemptCost } from './plan/score.ts';

/** Means over attempts that have ended and were not stopped. */
export interface MeasuredAttempt extends AttemptCost {
  readonly role: string;
  readonly model: string;
  readonly attempts: number;
}
export interface MeasuredRetries {
  readonly role: string;
  readonly model: string;
  /** That landed. */
  readonly tasks: number;
  readonly attempts: number;
}

/** Of earlier runs; times of the same repository only, since gates differ. */
export interface Measured {
  readonly attempts: readonly MeasuredAttempt[];
  readonly retries: readonly MeasuredRetries[];
  /** Tasks that landed in runs whose agents asked models, and attempts of them that conflicted. */
  readonly conflicts: { readonly tasks: number; readonly conflicts: number };
  readonly land: { readonly ms: number; readonly of: number } | null;
  readonly wave: { readonly ms: number; readonly of: number } | null;
}
export const NOTHING_MEASURED: Measured = {
  attempts: [],
  retries: [],
  conflicts: { tasks: 0, conflicts: 0 },
  land: null,
  wave: null,
};

/** A figure, and of how many it is the mean; 0: a guess. */
export interface Figure {
  readonly value: number;
  readonly of: number;
}

const guess = (ms: number, input: number, cached: number, cacheWrite: number, output: number): AttemptCost => ({
  ms,
  inputTokens: input,
  cachedTokens: cached,
  cacheWriteTokens: cacheWrite,
  outputTokens: output,
});

/** None of these was measured. A planner reads the repository's map and writes much; a reviewer reads a change and writes little. */
const GUESSES: Readonly<Record<string, AttemptCost>> = {
  planner: guess(240_000, 40_000, 300_000, 80_000, 20_000),
  reviewer: guess(90_000, 20_000, 80_000, 30_000, 3_000),
};
/** Answers of a planner until one is taken; reviews of a task; tasks whose work conflicts. Guesses as well. */
export const ANSWERS_A_CALL = 1.3;
export const REVIEWS_A_TASK = 1.2;
const CONFLICTS_A_TASK = 0.03;
/** Fewer say too little. */
const LEAST = 3;

/** @param model null: whatever the program takes by itself, of which nothing can be known */
export function attemptOf(
  measured: Measured,
  role: string,
  model: string | null,
): { readonly each: AttemptCost; readonly of: number } {
  const found = measured.attempts.find((one) => one.role === role && one.model === model && one.attempts >= LEAST);
  if (found === undefined) return { each: GUESSES[role] ?? GUESSED.attempt, of: 0 };
  const { attempts, ms, inputTokens, cachedTokens, cacheWriteTokens, outputTokens } = found;
  return { each: { ms, inputTokens, cachedTokens, cacheWriteTokens, outputTokens }, of: attempts };
}

export function attemptsPerTask(measured: Measured, model: string | null): Figure {
  const found = measured.retries.find((one) => one.role === 'worker' && one.model === model && one.tasks >= LEAST);
  if (found === undefined) return { value: GUESSED.attemptsPerTask, of: 0 };
  return { value: found.attempts / found.tasks, of: found.tasks };
}

export function conflictsPerTask({ conflicts: { tasks, conflicts } }: Measured): Figure {
  return tasks < LEAST ? { value: CONFLICTS_A_TASK, of: 0 } : { value: conflicts / tasks, of: tasks };
}

export const landTime = ({ land }: Measured): Figure =>
  land === null || land.of < LEAST ? { value: GUESSED.landMs, of: 0 } : { value: land.ms, of: land.of };
export const waveTime = ({ wave }: Measured): Figure =>
  wave === null ? { value: GUESSED.waveMs, of: 0 } : { value: wave.ms, of: wave.of };
