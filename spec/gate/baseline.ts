/**
 * `policy.baseline: record`: what was red before the first task does not count against any task.
 *
 * 1. Only named tests are ever subtracted; a red step whose report is missing, cut off or names no failure stays red.
 * 2. A step that did not end by itself (out of memory, timeout) stays red, whatever its report says.
 */
import type { GateStepName, StepEnd } from '../model.ts';
import { failedTests } from './report.ts';
import type { TestReport } from './report.ts';

/** Step → names of the tests that failed on the base commit. */
export type BaselineRecord = Readonly<Partial<Record<GateStepName, readonly string[]>>>;

export interface BaselineVerdict {
  readonly ok: boolean;
  /** Failures that the baseline does not know. */
  readonly fresh: readonly string[];
  /** Failures that it knows. */
  readonly known: readonly string[];
}

export function subtractBaseline(
  record: BaselineRecord | null,
  step: {
    readonly name: GateStepName;
    readonly end: StepEnd;
    readonly exitCode: number | null;
    readonly report: TestReport | null;
  },
): BaselineVerdict {
  const failed = step.report === null ? [] : failedTests(step.report);
  if (step.end === 'exited' && step.exitCode === 0) return { ok: true, fresh: [], known: [] };
  const before = new Set(record?.[step.name] ?? []);
  const known = failed.filter((name) => before.has(name));
  const fresh = failed.filter((name) => !before.has(name));
  const ok =
    step.end === 'exited' && step.report !== null && step.report.complete && fresh.length === 0 && known.length > 0;
  return { ok, fresh, known };
}
