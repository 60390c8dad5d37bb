/**
 * Runs the steps of a gate on one tree.
 *
 * 1. Each step has a checkout and a container of its own: none sees what another, or an agent, left behind.
 * 2. The first red step ends the gate (a red gate is red; the rest of the machine is for others), unless everything is asked for.
 * 3. Where a red is run again, it counts only when it is red twice; green the second time is recorded as flaky.
 */
import type { GateCause } from '../spec/gate/ends.ts';
import type { PlannedStep } from '../spec/gate/plan.ts';
import type { GateStepName, GateStepResult } from '../spec/model.ts';
import { judgeBorrowedCoverage, nothingToRun } from './gate-judge.ts';
import type { StepRun } from './gate-judge.ts';
import type { GateJob, GatePlan, GatePorts } from './gate-ports.ts';
import { runGateStep } from './gate-step.ts';

export interface GateOutput {
  /** Name of the artifact, e.g. `gate.test.log`. */
  readonly name: string;
  readonly step: GateStepName;
  readonly file: string;
}

export interface GateVerdict {
  readonly steps: readonly GateStepResult[];
  /** The first red step; null: green. */
  readonly red: { readonly step: GateStepName; readonly cause: GateCause } | null;
  /** Steps after a red one that were not run. */
  readonly notRun: readonly GateStepName[];
  readonly outputs: readonly GateOutput[];
  /** Per red step: all tests that it names as failing, or null when it names none reliably. What a baseline is recorded from. */
  readonly failed: Readonly<Partial<Record<GateStepName, readonly string[] | null>>>;
}

/** @throws InfrastructureFault when a container was lost, and what the signal was aborted with. */
export async function runGateSteps(job: GateJob, ports: GatePorts, plan: GatePlan): Promise<GateVerdict> {
  const steps: GateStepResult[] = [];
  const outputs: GateOutput[] = [];
  const failed: Partial<Record<GateStepName, readonly string[] | null>> = {};
  let red: GateVerdict['red'] = null;
  let lcov: string | null = null;
  for (const [at, step] of plan.entries()) {
    if (red !== null && job.stopAtRed) break;
    const lcovPath = coveragePath(plan, at);
    const run = await runTwice(job, ports, step, { nth: at + 1, of: plan.length, lcovPath, lcov }, outputs);
    if (run.lcov !== null) lcov = run.lcov;
    steps.push(run.result);
    if (run.cause === null) continue;
    failed[step.name] = run.failed === null || run.failed.length === 0 ? null : run.failed;
    red ??= { step: step.name, cause: run.cause };
  }
  return { steps, red, notRun: plan.slice(steps.length).map((step) => step.name), outputs, failed };
}

interface Place {
  readonly nth: number;
  readonly of: number;
  readonly lcovPath: string | null;
  readonly lcov: string | null;
}

async function runTwice(
  job: GateJob,
  ports: GatePorts,
  step: PlannedStep,
  place: Place,
  outputs: GateOutput[],
): Promise<StepRun> {
  const name = `gate.${step.name}`;
  const first = await runOnce(job, ports, step, place, name);
  const keep = (run: StepRun, as: string): void => {
    if (run.outputFile !== null) outputs.push({ name: `${as}.log`, step: step.name, file: run.outputFile });
  };
  keep(first, name);
  if (first.cause === null || !job.rerunRed || step.command === null || step.waived) return first;
  const second = await runOnce(job, ports, step, place, `${name}.again`);
  keep(second, `${name}.again`);
  const durationMs = first.result.durationMs + second.result.durationMs;
  if (second.cause !== null) return { ...second, result: { ...second.result, durationMs } };
  return { ...second, result: { ...second.result, durationMs, flaky: true, failures: first.result.failures } };
}

async function runOnce(
  job: GateJob,
  ports: GatePorts,
  step: PlannedStep,
  place: Place,
  name: string,
): Promise<StepRun> {
  job.signal.throwIfAborted();
  if (step.waived) return nothingToRun(step, 'Waived by a person: not run.\n');
  if (step.command === null) return judgeBorrowedCoverage(job, step, place.lcov);
  return runGateStep(job, ports, step, {
    name,
    lcovPath: place.lcovPath,
    onProgress: (progress) => job.onProgress?.({ ...progress, step: step.name, nth: place.nth, of: place.of }),
  });
}

/** The coverage file that must be kept from this step: its own, or that of a following `coverage` step without a command. */
function coveragePath(plan: GatePlan, at: number): string | null {
  const step = plan[at];
  if (step !== undefined && step.coverage !== null) return step.command === null ? null : step.coverage.report;
  const borrower = plan.find((one) => one.coverage !== null && one.command === null);
  return step?.name === 'test' ? (borrower?.coverage?.report ?? null) : null;
}
