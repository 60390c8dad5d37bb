/** Gate results as sentences for a person: what failed, how, and what it names. */
import type { GateCause } from './ends.ts';
import type { GateStepResult } from '../model.ts';

const NAMED = 5;

export function describeRed(step: GateStepResult, cause: GateCause): string {
  const failures =
    step.failures.length === 0 || isSignature(step.failures)
      ? ''
      : ` ${step.failures.length} failing: ${step.failures.slice(0, NAMED).join('; ')}${step.failures.length > NAMED ? '; …' : ''}.`;
  return `The gate step "${step.step}" ${howItEnded(step, cause)}.${failures}`;
}

function howItEnded(step: GateStepResult, cause: GateCause): string {
  switch (cause) {
    case 'gate-oom':
      return 'ran out of memory';
    case 'gate-timeout':
      return `ran beyond its deadline and was stopped after ${Math.round(step.durationMs / 1000)} s`;
    case 'gate-red':
      if (step.end === 'disk-full') return 'filled its disk';
      return step.exitCode === 0 ? 'is red' : `is red (exit code ${step.exitCode ?? '?'})`;
  }
}

/** A failure that no report named stands as `signature:<digest>`. */
const SIGNATURE = /^signature:[0-9a-f]{16}$/;
export const signatureName = (digest: string): string => `signature:${digest}`;
const isSignature = (failures: readonly string[]): boolean => failures.every((failure) => SIGNATURE.test(failure));
