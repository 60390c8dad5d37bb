/**
 * One table: every cause of a red attempt and what follows from it. Infrastructure faults are not here: they are thrown, Temporal
 * retries them, and they count as no attempt.
 */
import type { FailureCause } from './model.ts';

export interface Consequence {
  /** Where the next attempt starts. After a conflict the other side is in `next` and perhaps not yet verified. */
  readonly startFrom: 'verified' | 'next';
  /** Counts against `policy.fixAttempts` as well as `policy.attempts`. */
  readonly isEjection: boolean;
  /** Sentence for a person. */
  readonly says: string;
}

const consequence = (
  says: string,
  startFrom: Consequence['startFrom'] = 'verified',
  isEjection = false,
): Consequence => ({
  startFrom,
  isEjection,
  says,
});

const CONSEQUENCES: Readonly<Record<FailureCause, Consequence>> = {
  'agent-failed': consequence('its agent ended with an error'),
  'agent-timeout': consequence('its agent ran beyond its deadline and was stopped'),
  'agent-oom': consequence('its agent ran out of memory'),
  'agent-disk-full': consequence('its agent filled its disk'),
  'model-error': consequence('its model could not be reached or failed'),
  refusal: consequence('its model declined the task'),
  budget: consequence('its budget was spent'),
  'nothing-done': consequence('it changed nothing'),
  scope: consequence('it changed what it was not given'),
  'gate-red': consequence('its gate is red'),
  'gate-timeout': consequence('a gate step ran beyond its deadline'),
  'gate-oom': consequence('a gate step ran out of memory'),
  rejected: consequence('its reviewers rejected it'),
  conflict: consequence('it conflicts with what others have landed', 'next'),
  refused: consequence('the mainline refused its tree'),
  answer: consequence('its answer could not become part of the plan'),
  ejected: consequence('it turned the mainline red and was taken out', 'verified', true),
};

export function consequenceOf(cause: FailureCause): Consequence {
  return CONSEQUENCES[cause];
}

/** Whether a task may try again after `attempts` red attempts of which `ejections` were ejections. */
export function mayRetry(
  policy: { readonly attempts: number; readonly fixAttempts: number },
  attempts: number,
  ejections: number,
): boolean {
  return attempts < policy.attempts && ejections <= policy.fixAttempts;
}
