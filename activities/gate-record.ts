/**
 * What becomes of a gate's verdict: artifacts, rows, the attempt's end, the baseline.
 *
 * 1. A red at task level gives the next attempt the log of the step that was red.
 * 2. A baseline is recorded only when every red step names its failures: what cannot be named cannot be told from something new.
 */
import { readFile } from 'node:fs/promises';
import { SetupFailed, WorkspaceTooSmall } from '../sandbox/faults.ts';
import type { GateVerdict } from '../sandbox/gate.ts';
import type { BaselineRecord } from '../spec/gate/baseline.ts';
import { describeRed } from '../spec/gate/describe.ts';
import type { PlannedStep } from '../spec/gate/plan.ts';
import type { CompiledSpec, GateJudged, GateResult, GateStepResult } from '../spec/model.ts';
import type { AttemptDeps } from './attempt-ports.ts';
import type { RunGateInput } from './contract.ts';

/** The key under which what is red before the first task is judged and, where the policy says so, recorded. */
export const BASELINE_KEY = 'baseline';

export interface Judgement {
  readonly input: RunGateInput;
  readonly spec: CompiledSpec;
  readonly judged: GateJudged;
}

export async function recordGate(
  { input, spec, judged }: Judgement,
  verdict: GateVerdict,
  gateMs: number,
  deps: AttemptDeps,
): Promise<GateResult> {
  const artifacts = await saveOutputs(input, verdict, deps);
  const common = { steps: verdict.steps, commit: input.commit, judged };
  let result: GateResult =
    verdict.red === null
      ? { outcome: 'green', ...common }
      : { outcome: 'red', cause: verdict.red.cause, step: verdict.red.step, ...common };
  if (input.key === BASELINE_KEY && spec.policy.baseline === 'record') {
    const record = baselineOf(verdict);
    if (record !== null) {
      await deps.store.saveBaseline(input.run, record);
      result = { outcome: 'green', ...common };
    }
  }
  // The result last: what has one is not judged again, so all else must be written by then.
  await endOfAttempt(input, result, artifacts, gateMs, deps);
  await saveResult(input, result, judged.tree, artifacts, deps);
  return result;
}

export async function saveResult(
  input: RunGateInput,
  result: GateResult,
  tree: string | null,
  artifacts: Readonly<Record<string, string>>,
  deps: AttemptDeps,
): Promise<GateResult> {
  const ref = { run: input.run, key: input.key, level: input.level, commit: input.commit, tree };
  await deps.store.saveGateResult(ref, result, { waived: input.waive ?? [], artifacts });
  return result;
}

/** Step → name of the artifact with its output. Of a step that ran twice, that is the last one. */
async function saveOutputs(
  input: RunGateInput,
  verdict: GateVerdict,
  deps: AttemptDeps,
): Promise<Record<string, string>> {
  const artifacts: Record<string, string> = {};
  for (const output of verdict.outputs) {
    // Those of the run itself are of many commits.
    const name = input.task === null ? `${input.key}.${input.commit.slice(0, 12)}.${output.name}` : output.name;
    const content = await readFile(output.file).catch(() => '');
    await deps.store.saveArtifact({ run: input.run, task: input.task, attempt: input.attempt ?? 0, name }, content);
    artifacts[output.step] = name;
  }
  return artifacts;
}

function baselineOf(verdict: GateVerdict): BaselineRecord | null {
  const record: Partial<Record<GateStepResult['step'], readonly string[]>> = {};
  for (const { step, ok } of verdict.steps) {
    if (ok) continue;
    const names = verdict.failed[step];
    if (names === null || names === undefined) return null;
    record[step] = names;
  }
  return record;
}

async function endOfAttempt(
  input: RunGateInput,
  result: GateResult,
  artifacts: Readonly<Record<string, string>>,
  gateMs: number,
  deps: AttemptDeps,
): Promise<void> {
  if (input.task === null || input.attempt === null || input.level !== 'task') return;
  const key = { run: input.run, task: input.task, attempt: input.attempt };
  await deps.store.markAttempt(key, { phase: result.outcome === 'green' ? 'merge' : 'gate', gateMs });
  if (result.outcome !== 'red') return;
  const step = result.steps.find((one) => one.step === result.step);
  const why = step === undefined ? `The gate step "${result.step}" is red.` : describeRed(step, result.cause);
  await deps.store.endAttempt(key, { outcome: result.cause, why, failureArtifact: artifacts[result.step] ?? null });
}

/**
 * A tree that cannot be installed or does not fit is red like one that does not compile: a task made it so, for before the first task
 * the baseline passed. null: the error is something else.
 */
export function redBeforeSteps(first: PlannedStep | undefined, error: unknown, durationMs: number): GateVerdict | null {
  if (first === undefined) return null;
  const setup = error instanceof SetupFailed;
  if (!setup && !(error instanceof WorkspaceTooSmall)) return null;
  const result: GateStepResult = {
    step: first.name,
    ok: false,
    end: 'exited',
    exitCode: null,
    durationMs,
    failures: [setup ? 'setup' : 'disk'],
    flaky: false,
    tail: `Nothing could be judged: ${error.message}\n`,
  };
  const outputs = setup ? [{ name: 'setup.log', step: first.name, file: error.outputFile }] : [];
  return { steps: [result], red: { step: first.name, cause: 'gate-red' }, notRun: [], outputs, failed: {} };
}
