/**
 * One judgement of a commit at a level.
 *
 * 1. The same tree under the same configuration, asked for under the same key, is judged once.
 * 2. At task level the commit is judged merged with the newest verified (base given, never computed), with the task's preset tests
 *    over it; at every level protected files are those of the base. What a task's tree says about its own judgement has no effect.
 * 3. A red gives the next attempt the log of the step that was red.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { mergeTrees, treeOf } from '../mainline/git.ts';
import { SetupFailed } from '../sandbox/faults.ts';
import { changedFiles, changedLines } from '../sandbox/gate-changes.ts';
import { runGateSteps } from '../sandbox/gate.ts';
import type { GateVerdict } from '../sandbox/gate.ts';
import { putFiles, restoreFrom } from '../sandbox/overlay.ts';
import { openScratch } from '../sandbox/scratch.ts';
import type { Scratch } from '../sandbox/scratch.ts';
import type { BaselineRecord } from '../spec/gate/baseline.ts';
import { describeRed } from '../spec/gate/describe.ts';
import { planGate } from '../spec/gate/plan.ts';
import type { PlannedStep } from '../spec/gate/plan.ts';
import type { CompiledSpec, GateJudged, GateResult, GateStepResult, TaskSpec } from '../spec/model.ts';
import { setUp } from './agent-run.ts';
import type { AttemptDeps, SetUp } from './attempt-ports.ts';
import type { RunGateInput } from './contract.ts';
import type { Running } from './running.ts';

/** The key under which what is red before the first task is judged and, where the policy says so, recorded. */
export const BASELINE_KEY = 'baseline';

export async function gateRun(input: RunGateInput, deps: AttemptDeps, running: Running): Promise<GateResult> {
  const spec = await deps.store.spec(input.run);
  const task = input.task === null ? null : await deps.store.task(input.run, input.task);
  const onto = input.onto === null ? null : await deps.hub.resolve(input.run, input.onto, running.signal);
  const commits = [input.commit, input.base, onto].filter((commit) => commit !== null);
  const source = await deps.hub.ensure(input.run, commits, running.signal);
  const scratch = await openScratch({ stateDir: deps.stateDir, source, union: spec.repository.union });
  try {
    running.report({ phase: 'merging' });
    const tree = await judgedTree(input, onto, spec, task, scratch, running);
    if (typeof tree !== 'string') return await save(input, tree, null, deps, {});
    const plan = planGate(spec.gate, input.level, { only: input.only, waive: input.waive });
    const baseline =
      spec.policy.baseline === 'record' && input.key !== BASELINE_KEY ? await deps.store.baseline(input.run) : null;
    const image = await deps.resolveImage(spec.sandbox.image);
    const judged = { tree, config: configDigest(spec, plan, image, input, baseline) };
    const known = await deps.store.gateResult(input.run, input.key, input.level, input.commit);
    if (
      known !== null &&
      known.outcome !== 'conflict' &&
      known.judged?.tree === tree &&
      known.judged.config === judged.config
    )
      return known;
    return await judge({ input, spec, plan, image, judged, onto, scratch, baseline }, deps, running);
  } finally {
    await scratch.close();
  }
}

async function judgedTree(
  input: RunGateInput,
  onto: string | null,
  spec: CompiledSpec,
  task: TaskSpec | null,
  scratch: Scratch,
  running: Running,
): Promise<string | Extract<GateResult, { outcome: 'conflict' }>> {
  let tree = await treeOf(scratch.gitDir, input.commit);
  if (onto !== null) {
    const base = input.base ?? `${input.commit}^1`;
    const merged = await mergeTrees(
      scratch.gitDir,
      { base, ours: onto, theirs: input.commit },
      {},
      { signal: running.signal },
    );
    if (!merged.clean) return { outcome: 'conflict', paths: merged.paths };
    tree = merged.tree;
  }
  const authority = onto ?? input.base;
  if (authority !== null) tree = await restoreFrom(scratch.gitDir, tree, authority, spec.repository.protected);
  return task === null || input.level !== 'task' ? tree : putFiles(scratch.gitDir, tree, task.tests);
}

interface Judgement {
  readonly input: RunGateInput;
  readonly spec: CompiledSpec;
  readonly plan: readonly PlannedStep[];
  readonly image: string;
  readonly judged: GateJudged;
  readonly onto: string | null;
  readonly scratch: Scratch;
  readonly baseline: BaselineRecord | null;
}

async function judge(judgement: Judgement, deps: AttemptDeps, running: Running): Promise<GateResult> {
  const { input, spec, plan, image, judged, onto, scratch, baseline } = judgement;
  const started = deps.now();
  const key = { run: input.run, task: input.task, attempt: input.attempt ?? 0 };
  if (input.task !== null && input.attempt !== null)
    await deps.store.markAttempt({ run: input.run, task: input.task, attempt: input.attempt }, { phase: 'gate' });
  running.report({ phase: 'set-up' });
  let setup: SetUp;
  try {
    setup =
      plan.length === 0
        ? { mounts: [], env: {} }
        : await setUp(judged.tree, { key, spec, scratch, image }, deps, running);
  } catch (error) {
    const first = plan[0];
    // A dependency-update task whose lockfile cannot be installed is red like any other; before the first task it is the spec that is wrong.
    if (!(error instanceof SetupFailed) || first === undefined || input.key === BASELINE_KEY) throw error;
    return finish(judgement, setupRed(first, error, deps.now() - started), started, deps);
  }
  const linesBase = onto ?? input.base;
  const verdict = await runGateSteps(
    {
      key: { ...key, kind: input.level === 'task' ? 'gate' : 'verify' },
      prefix: input.key,
      scratch,
      tree: judged.tree,
      image,
      mounts: setup.mounts,
      env: setup.env,
      services: spec.sandbox.services,
      limits: spec.sandbox.limits,
      changed: await changedFiles(scratch.gitDir, input.base, input.commit, judged.tree),
      changedLines: async (hits) =>
        linesBase === null ? new Map() : changedLines(scratch.gitDir, linesBase, judged.tree, (path) => hits.has(path)),
      baseline,
      rerunRed: input.rerunRed,
      stopAtRed: input.key !== BASELINE_KEY,
      signal: running.signal,
      onProgress: (progress) => running.report({ phase: 'gate', ...progress }),
    },
    deps,
    plan,
  );
  return finish(judgement, verdict, started, deps);
}

async function finish(
  judgement: Judgement,
  verdict: GateVerdict,
  started: number,
  deps: AttemptDeps,
): Promise<GateResult> {
  const { input, spec, judged } = judgement;
  const artifacts: Record<string, string> = {};
  for (const output of verdict.outputs) {
    const name = input.task === null ? `${input.key}.${input.commit.slice(0, 12)}.${output.name}` : output.name;
    await deps.store.saveArtifact(
      { run: input.run, task: input.task, attempt: input.attempt ?? 0, name },
      await readFile(output.file).catch(() => ''),
    );
    if (!output.name.endsWith('.again.log') || artifacts[output.step] === undefined) artifacts[output.step] = name;
  }
  const common = { steps: verdict.steps, commit: input.commit, judged };
  const result: GateResult =
    verdict.red === null
      ? { outcome: 'green', ...common }
      : { outcome: 'red', cause: verdict.red.cause, step: verdict.red.step, ...common };
  const saved =
    input.key === BASELINE_KEY && spec.policy.baseline === 'record'
      ? await recordBaseline(input.run, result, verdict, deps)
      : result;
  await save(input, saved, judged.tree, deps, artifacts);
  await endOfGate(input, saved, artifacts, deps.now() - started, deps);
  return saved;
}

/** Records what is red; green when every red step names its failures, so that they can be told from new ones. */
async function recordBaseline(
  run: string,
  result: GateResult,
  verdict: GateVerdict,
  deps: AttemptDeps,
): Promise<GateResult> {
  const record: { -readonly [K in keyof BaselineRecord]: BaselineRecord[K] } = {};
  for (const [step, names] of Object.entries(verdict.failed) as [keyof BaselineRecord, readonly string[] | null][]) {
    if (names === null) return result;
    record[step] = names;
  }
  await deps.store.saveBaseline(run, record);
  if (result.outcome !== 'red') return result;
  return {
    outcome: 'green',
    steps: result.steps,
    commit: result.commit,
    ...(result.judged === undefined ? {} : { judged: result.judged }),
  };
}

async function endOfGate(
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

async function save(
  input: RunGateInput,
  result: GateResult,
  tree: string | null,
  deps: AttemptDeps,
  artifacts: Readonly<Record<string, string>>,
): Promise<GateResult> {
  const ref = { run: input.run, key: input.key, level: input.level, commit: input.commit, tree };
  await deps.store.saveGateResult(ref, result, { waived: input.waive ?? [], artifacts });
  return result;
}

function setupRed(step: PlannedStep, error: SetupFailed, durationMs: number): GateVerdict {
  const tail = `The setup command failed, so that nothing could be judged: ${error.message}\n`;
  const result: GateStepResult = {
    step: step.name,
    ok: false,
    end: 'exited',
    exitCode: null,
    durationMs,
    failures: ['setup'],
    flaky: false,
    tail,
  };
  return {
    steps: [result],
    red: { step: step.name, cause: 'gate-red' },
    notRun: [],
    outputs: [{ name: 'setup.log', step: step.name, file: error.outputFile }],
    failed: {},
  };
}

function configDigest(
  spec: CompiledSpec,
  plan: readonly PlannedStep[],
  image: string,
  input: RunGateInput,
  baseline: BaselineRecord | null,
): string {
  const { setup, services, limits } = spec.sandbox;
  return createHash('sha256')
    .update(JSON.stringify([plan, image, setup, services, limits, input.base, input.rerunRed, baseline]))
    .digest('hex');
}
