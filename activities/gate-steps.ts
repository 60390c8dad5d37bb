/**
 * All steps of one judgement, in order: ours that need no container, those of the spec, and after a green gate of a task the mutation check.
 */
import { changedFiles, changedLines } from '../sandbox/gate-changes.ts';
import { checkMutations, faultsFor, mutationLog } from '../sandbox/gate-mutation.ts';
import { ownResult } from '../sandbox/gate-own-result.ts';
import { judgeOwnSteps } from '../sandbox/gate-own.ts';
import type { GateJob } from '../sandbox/gate-ports.ts';
import { runGateSteps } from '../sandbox/gate.ts';
import type { GateVerdict } from '../sandbox/gate.ts';
import type { Scratch } from '../sandbox/scratch.ts';
import type { BaselineRecord } from '../spec/gate/baseline.ts';
import type { PlannedStep } from '../spec/gate/plan.ts';
import { anyGlob } from '../spec/globs.ts';
import type { TaskSpec } from '../spec/model.ts';
import type { Decision } from '../spec/plan/index.ts';
import { guideRules } from '../spec/prompt/index.ts';
import { mayWrite } from '../spec/scope.ts';
import type { AttemptDeps } from './attempt-ports.ts';
import { BASELINE_KEY } from './gate-record.ts';
import type { Judgement } from './gate-record.ts';
import type { Running } from './running.ts';
import { setUp } from './set-up.ts';

/** All that a judgement is made on. */
export interface Bench extends Judgement {
  readonly task: TaskSpec | null;
  readonly plan: readonly PlannedStep[];
  readonly image: string;
  readonly onto: string | null;
  readonly scratch: Scratch;
  readonly baseline: BaselineRecord | null;
  readonly decisions: readonly Decision[];
}

export async function gateSteps(bench: Bench, deps: AttemptDeps, running: Running): Promise<GateVerdict> {
  const own = await ownSteps(bench, deps);
  if (own.red !== null) return { ...own, notRun: bench.plan.map(({ name }) => name), failed: {} };
  const job = await jobOf(bench, deps, running);
  const verdict = await runGateSteps(job, deps, bench.plan);
  const after = verdict.red === null ? await mutationStep(bench, verdict, job, deps, running) : null;
  return {
    ...verdict,
    red: verdict.red ?? after?.red ?? null,
    steps: [...own.steps, ...verdict.steps, ...(after?.steps ?? [])],
    outputs: [...own.outputs, ...verdict.outputs, ...(after?.outputs ?? [])],
  };
}

type OwnVerdict = Pick<GateVerdict, 'steps' | 'red' | 'outputs'>;

/** Paths that are not the change's: protected files, preset tests. */
function leftOut({ spec, task }: Bench): (path: string) => boolean {
  const isProtected = anyGlob(spec.repository.protected);
  return (path) => isProtected(path) || (task !== null && path in task.tests);
}

/** What a task may change, whatever it did; null where no task alone is judged. */
function ownFiles(bench: Bench): ((path: string) => boolean) | null {
  const { input, task, spec } = bench;
  if (task === null || input.level !== 'task') return null;
  const { contracts, manifests } = spec.repository;
  const isClosed = anyGlob([
    ...(task.kind === 'interface-change' ? [] : contracts),
    ...(task.kind === 'dependency-update' ? [] : manifests),
  ]);
  const others = leftOut(bench);
  return (path) => mayWrite(task, path) && !isClosed(path) && !others(path);
}

/** Nothing without a base: what was there before the first task is nobody's change. */
async function ownSteps(bench: Bench, deps: AttemptDeps): Promise<OwnVerdict> {
  const { input, spec, judged, onto, scratch, decisions } = bench;
  if (input.base === null) return { steps: [], red: null, outputs: [] };
  return judgeOwnSteps({
    scratch,
    tree: judged.tree,
    commit: input.commit,
    base: input.base,
    onto: onto ?? input.base,
    decisions,
    guide: guideRules(spec.repository.fieldGuide),
    leaveOut: leftOut(bench),
    isOwn: ownFiles(bench),
    only: input.only,
    waive: input.waive,
    now: deps.now,
  });
}

async function jobOf(bench: Bench, deps: AttemptDeps, running: Running): Promise<GateJob> {
  const { input, spec, judged, plan, image, onto, scratch, baseline } = bench;
  const key = { run: input.run, task: input.task, attempt: input.attempt ?? 0 };
  running.report({ phase: 'set-up' });
  const nothing = { mounts: [], env: {} };
  const setup = plan.length === 0 ? nothing : await setUp(judged.tree, { key, spec, scratch, image }, deps, running);
  const linesBase = onto ?? input.base;
  return {
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
  };
}

/** null: there is nothing to check, or nobody asked. */
async function mutationStep(
  bench: Bench,
  verdict: GateVerdict,
  job: GateJob,
  deps: AttemptDeps,
  running: Running,
): Promise<OwnVerdict | null> {
  const { input, spec, judged, onto, scratch, plan } = bench;
  // undefined: of a run that was stored before there was one.
  const policy: typeof spec.policy.mutation | undefined = spec.policy.mutation;
  const step = plan.find(({ name, command, waived }) => name === 'test' && command !== null && !waived);
  if (policy === undefined || policy.check === 'off' || input.level !== 'task' || input.only !== undefined) return null;
  if (input.base === null || step === undefined || input.waive?.includes('mutation') === true) return null;
  const started = deps.now();
  const faults = await faultsFor(scratch.gitDir, onto ?? input.base, judged.tree, leftOut(bench), policy.faults);
  if (faults.length === 0) return null;
  const checked = await checkMutations(
    {
      job,
      step: { ...step, coverage: null },
      faults,
      greenMs: verdict.steps.find((one) => one.step === 'test')?.durationMs ?? 0,
      now: deps.now,
      deadlineMs: started + policy.timeMs,
      onPlant: ({ path, line }, nth) => running.report({ phase: 'mutation', path, line, nth, of: faults.length }),
    },
    deps,
  );
  const failures = checked.unnoticed.map(({ path, line, what }) => `${path}:${line} ${what}`);
  const ok = policy.check !== 'require' || failures.length === 0;
  const log = mutationLog(checked);
  const { result, output } = await ownResult(scratch, 'mutation', {
    log,
    failures,
    ok,
    durationMs: deps.now() - started,
  });
  if (ok && failures.length > 0) {
    const message = `Faults that the tests of ${input.key} did not notice:\n${failures.join('\n')}`;
    await deps.store.note(input.run, { key: `mutation/${input.key}`, kind: 'mutation', task: input.task, message });
  }
  return { steps: [result], outputs: [output], red: ok ? null : { step: 'mutation', cause: 'gate-red' } };
}
