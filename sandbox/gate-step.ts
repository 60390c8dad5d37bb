/**
 * One gate step: a fresh checkout, a fresh container, and what its end and its report mean.
 *
 * 1. Red is decided by how the container ended, never by what the code under test wrote; a report only names failures.
 * 2. What is read from the workspace is read after the container is gone, without following links.
 * 3. A lost container throws; it is never a red.
 */
import { appendFile } from 'node:fs/promises';
import { subtractBaseline } from '../spec/gate/baseline.ts';
import { withChanged } from '../spec/gate/changed.ts';
import { describeCoverage, judgeCoverage } from '../spec/gate/coverage.ts';
import { signatureName } from '../spec/gate/describe.ts';
import { gateEnd } from '../spec/gate/ends.ts';
import type { GateCause } from '../spec/gate/ends.ts';
import { parseLcov } from '../spec/gate/lcov.ts';
import type { PlannedStep } from '../spec/gate/plan.ts';
import { failedTests, parseReport } from '../spec/gate/report.ts';
import type { TestReport } from '../spec/gate/report.ts';
import { failureSignature, stripAnsi } from '../spec/gate/signature.ts';
import type { GateStepResult } from '../spec/model.ts';
import { InfrastructureFault } from './faults.ts';
import type { GateJob, GatePorts } from './gate-ports.ts';
import { readTail, readWorkspaceFile } from './gate-read.ts';
import type { StepOutcome, StepProgress } from './types.ts';

/** Where the step's command lies in the container: a file, because one argument of a process is limited to 128 KiB and `{changed}` is not. */
const STEP_DIR = '/run/swarmline';
/** Bytes of output that stand in a result. */
export const TAIL_BYTES = 2048;
/** Failing tests that stand in a result; a gate's result is a payload. */
const NAMES_KEPT = 100;
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

/** @param lcovPath coverage file to keep for the next step, null for none */
export async function runGateStep(
  job: GateJob,
  ports: GatePorts,
  step: PlannedStep,
  run: {
    readonly name: string;
    readonly lcovPath: string | null;
    readonly onProgress?: ((progress: StepProgress) => void) | undefined;
  },
): Promise<StepRun> {
  const command = withChanged(step.command ?? ':', job.changed);
  if (command === null) return nothingToRun(step, 'No file that changed is there for this step to look at.\n');
  const outputFile = job.scratch.outputFile(`${run.name}.log`);
  const script = await job.scratch.inputDir({ 'step.sh': `${command}\n` });
  const key = { ...job.key, step: run.name };
  const workspace = await ports.openWorkspace({
    gitDir: job.scratch.gitDir,
    treeish: job.tree,
    diskBytes: job.limits.diskBytes,
    name: `${job.key.run}-${job.key.task ?? 'run'}-${job.key.attempt}-${run.name}`,
  });
  try {
    const services = await ports.startServices({ services: job.services, key, limits: job.limits, signal: job.signal });
    let outcome: StepOutcome;
    try {
      outcome = await ports.sandbox.runStep(
        {
          key,
          image: job.image,
          argv: ['/bin/sh', `${STEP_DIR}/step.sh`],
          env: job.env,
          workspace: { dir: workspace.dir, readOnly: false },
          mounts: [...job.mounts, { source: script, target: STEP_DIR, readOnly: true }],
          stdinFile: null,
          limits: job.limits,
          deadlineMs: job.limits.stepMs,
          network: services.network,
          outputFile,
        },
        { signal: job.signal, onProgress: run.onProgress },
      );
    } finally {
      await services.close();
    }
    job.signal.throwIfAborted();
    const report = await readReport(workspace.dir, step.report);
    const lcov = run.lcovPath === null ? null : await readText(workspace.dir, run.lcovPath);
    return await judge(job, step, outcome, { outputFile, report, lcov });
  } finally {
    await workspace.close();
  }
}

async function judge(
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

async function readReport(dir: string, path: string | null): Promise<TestReport | null> {
  const text = path === null ? null : await readText(dir, path);
  return text === null ? null : parseReport(text);
}

async function readText(dir: string, path: string): Promise<string | null> {
  const file = await readWorkspaceFile(dir, path);
  return 'text' in file ? file.text : null;
}
