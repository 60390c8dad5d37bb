/**
 * What a gate step's end and its report mean.
 *
 * 1. Red is decided by how the container ended, never by what the code under test wrote; a report only names failures.
 * 2. A lost container throws; it is never a red.
 */
import { appendFile } from 'node:fs/promises';
import { subtractBaseline } from '../spec/gate/baseline.ts';
import { describeCoverage, judgeCoverage } from '../spec/gate/coverage.ts';
import { signatureName } from '../spec/gate/describe.ts';
import { gateEnd } from '../spec/gate/ends.ts';
import type { GateCause } from '../spec/gate/ends.ts';
import { parseLcov } from '../spec/gate/lcov.ts';
import type { PlannedStep } from '../spec/gate/plan.ts';
import { failedTests } from '../spec/gate/report.ts';
import type { TestReport } from '../spec/gate/report.ts';
import { failureSignature, stripAnsi } from '../spec/gate/signature.ts';
import type { GateStepResult } from '../spec/model.ts';
import { InfrastructureFault } from './faults.ts';
import type { GateJob } from './gate-ports.ts';
import { readTail } from './gate-read.ts';
import type { StepOutcome } from './types.ts';

/** Bytes of output that stand in a result. */
export const TAIL_BYTES = 2048;
/** Failing tests that stand in a result; a gate's result is a payload. */
export const NAMES_KEPT = 100;
/** Characters of one such name. */
const NAME_CHARS = 200;

export interface StepRun {
  readonly result: GateStepResult;
  /** null: green. */
  readonly cause: GateCause | null;
  /** null: there was nothing to run. */
  readonly outputFile: string | null;
  /** All failing tests that its report names; null without a complete report. */
  readonly failed: readonly string[] | null;
  /** Coverage report that a following `coverage` step without a command is judged by. */
  readonly lcov: string | null;
}

export async function judgeStep(
  job: GateJob,
  step: PlannedStep,
  outcome: StepOutcome,
  seen: { outputFile: string; report: TestReport | null; lcov: string | null },
): Promise<StepRun> {
  const meaning = gateEnd(outcome.end, outcome.exitCode);
  if (meaning === 'infrastructure' || meaning === 'stopped')
    throw new InfrastructureFault(
      `The container of the gate step "${step.name}" ended "${outcome.end}": it says nothing about the code.`,
    );
  if (outcome.detail !== null) await appendFile(seen.outputFile, `\n[swarmline: ${outcome.detail}]\n`);
  const verdict = subtractBaseline(job.baseline, {
    name: step.name,
    end: outcome.end,
    exitCode: outcome.exitCode,
    report: seen.report,
  });
  let cause: GateCause | null = meaning === 'ok' || verdict.ok ? null : meaning;
  if (verdict.known.length > 0)
    await appendFile(
      seen.outputFile,
      `\n[swarmline: red before this run and not counted: ${verdict.known.join('; ')}]\n`,
    );
  if (cause === null && step.coverage !== null && step.command !== null && !(await coverageHolds(job, step, seen)))
    cause = 'gate-red';
  const tail = stripAnsi(await readTail(seen.outputFile, TAIL_BYTES)).slice(-TAIL_BYTES);
  return {
    result: {
      step: step.name,
      ok: cause === null,
      end: outcome.end,
      exitCode: outcome.exitCode,
      durationMs: outcome.durationMs,
      failures: cause === null ? [] : named(step, verdict.fresh, tail),
      flaky: false,
      tail,
    },
    cause,
    outputFile: seen.outputFile,
    failed: seen.report?.complete === true ? failedTests(seen.report) : null,
    lcov: seen.lcov,
  };
}

/** The step `coverage` where it has no command of its own: judged by the file that `test` left, in no container. */
export async function judgeBorrowedCoverage(job: GateJob, step: PlannedStep, lcov: string | null): Promise<StepRun> {
  if (lcov === null && !step.coverageRequired)
    return nothingToRun(
      step,
      `Not judged at this level: the step "test" wrote no ${step.coverage?.report ?? 'report'}.\n`,
    );
  const outputFile = job.scratch.outputFile(`gate.${step.name}.log`);
  const ok = await coverageHolds(job, step, { outputFile, lcov });
  const tail = await readTail(outputFile, TAIL_BYTES);
  return {
    result: {
      step: step.name,
      ok,
      end: 'exited',
      exitCode: 0,
      durationMs: 0,
      failures: ok ? [] : named(step, [], tail),
      flaky: false,
      tail,
    },
    cause: ok ? null : 'gate-red',
    outputFile,
    failed: null,
    lcov: null,
  };
}

async function coverageHolds(
  job: GateJob,
  step: PlannedStep,
  seen: { outputFile: string; lcov: string | null },
): Promise<boolean> {
  const rule = step.coverage;
  if (rule === null) return true;
  if (seen.lcov === null) {
    await appendFile(seen.outputFile, `The coverage report ${rule.report} was not written.\n`);
    return false;
  }
  const hits = parseLcov(seen.lcov);
  const verdict = judgeCoverage(rule, hits, await job.changedLines(hits));
  await appendFile(seen.outputFile, `${describeCoverage(rule, verdict)}\n`);
  return verdict.ok;
}

export function nothingToRun(step: PlannedStep, why: string): StepRun {
  return {
    result: {
      step: step.name,
      ok: true,
      end: 'exited',
      exitCode: 0,
      durationMs: 0,
      failures: [],
      flaky: false,
      tail: why,
    },
    cause: null,
    outputFile: null,
    failed: null,
    lcov: null,
  };
}

function named(step: PlannedStep, failures: readonly string[], tail: string): string[] {
  if (failures.length === 0) return [signatureName(failureSignature(step.name, [], tail))];
  return failures
    .slice(0, NAMES_KEPT)
    .map((name) => (name.length > NAME_CHARS ? `${name.slice(0, NAME_CHARS - 1)}…` : name));
}
