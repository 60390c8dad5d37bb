/**
 * One judgement of a commit at a level.
 *
 * 1. The same tree under the same configuration, asked for under the same key, is judged once.
 * 2. Steps of ours go first, for they need no container (gate-steps.ts), whatever the level; the decisions that they know are part of the
 *    configuration.
 * 3. At task level the commit is judged merged with the newest verified (base given, never computed), with the task's preset tests
 *    over it; at every level protected files are those of the base. What a task's tree says about its own judgement has no effect.
 */
import { createHash } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/activity';
import { mergeTrees, treeOf } from '../mainline/git.ts';
import { ServiceFailed } from '../sandbox/faults.ts';
import type { GateVerdict } from '../sandbox/gate.ts';
import { putFiles, restoreFrom } from '../sandbox/overlay.ts';
import { openScratch } from '../sandbox/scratch.ts';
import type { Scratch } from '../sandbox/scratch.ts';
import type { BaselineRecord } from '../spec/gate/baseline.ts';
import { planGate } from '../spec/gate/plan.ts';
import type { PlannedStep } from '../spec/gate/plan.ts';
import type { CompiledSpec, GateResult, TaskSpec } from '../spec/model.ts';
import type { Decision } from '../spec/plan/index.ts';
import type { AttemptDeps } from './attempt-ports.ts';
import type { RunGateInput } from './contract.ts';
import { BASELINE_KEY, recordGate, redBeforeSteps, saveResult } from './gate-record.ts';
import { gateSteps } from './gate-steps.ts';
import type { Bench } from './gate-steps.ts';
import { tellStale } from './gate-stale.ts';
import { FAILURE_TYPES } from './running.ts';
import type { Running } from './running.ts';

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
    if (typeof tree !== 'string') return await saveResult(input, tree, null, {}, deps);
    const plan = planGate(spec.gate, input.level, { only: input.only, waive: input.waive });
    const counts = spec.policy.baseline === 'record' && input.key !== BASELINE_KEY;
    const baseline = counts ? await deps.store.baseline(input.run) : null;
    const image = await deps.resolveImage(spec.sandbox.image);
    await deps.store.noteImage(input.run, image);
    const decisions = await deps.store.decisions(input.run);
    const judged = { tree, config: configDigest(spec, plan, image, input, baseline, decisions) };
    const known = await deps.store.gateResult(input.run, input.key, input.level, input.commit);
    if (known !== null && known.outcome !== 'conflict' && known.judged?.tree === tree) {
      if (known.judged.config === judged.config) return known;
    }
    if (input.level === 'wave' && input.base !== null && input.only === undefined)
      await tellStale(input.run, { gitDir: scratch.gitDir, tree, decisions }, deps, running.signal);
    return await judge({ input, spec, task, judged, plan, image, onto, scratch, baseline, decisions }, deps, running);
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
  const { gitDir } = scratch;
  let tree = await treeOf(gitDir, input.commit);
  if (onto !== null) {
    const sides = { base: input.base ?? `${input.commit}^1`, ours: onto, theirs: input.commit };
    const merged = await mergeTrees(gitDir, sides, {}, { signal: running.signal });
    if (!merged.clean) return { outcome: 'conflict', paths: merged.paths };
    tree = merged.tree;
  }
  const authority = onto ?? input.base;
  if (authority !== null) tree = await restoreFrom(gitDir, tree, authority, spec.repository.protected);
  return task === null || input.level !== 'task' ? tree : putFiles(gitDir, tree, task.tests);
}

async function judge(bench: Bench, deps: AttemptDeps, running: Running): Promise<GateResult> {
  const { input, plan } = bench;
  const started = deps.now();
  if (input.task !== null && input.attempt !== null) {
    await deps.store.markAttempt({ run: input.run, task: input.task, attempt: input.attempt }, { phase: 'gate' });
  }
  let verdict: GateVerdict;
  try {
    verdict = await gateSteps(bench, deps, running);
  } catch (error) {
    running.signal.throwIfAborted();
    if (input.key === BASELINE_KEY && error instanceof ServiceFailed) {
      throw ApplicationFailure.create({
        message: error.message,
        type: FAILURE_TYPES.setup,
        nonRetryable: true,
        cause: error,
      });
    }
    const red = input.key === BASELINE_KEY ? null : redBeforeSteps(plan[0], error, deps.now() - started);
    if (red === null) throw error;
    verdict = red;
  }
  return recordGate(bench, verdict, deps.now() - started, deps);
}

function configDigest(
  spec: CompiledSpec,
  plan: readonly PlannedStep[],
  image: string,
  input: RunGateInput,
  baseline: BaselineRecord | null,
  decisions: readonly Decision[],
): string {
  const { setup, services, limits } = spec.sandbox;
  const stand = decisions.map(({ id, supersededBy }) => [id, supersededBy]);
  const own = [stand, input.only ?? null, input.waive ?? [], spec.repository.fieldGuide, spec.policy.mutation];
  const config = [plan, image, setup, services, limits, input.base, input.rerunRed, baseline, own];
  return createHash('sha256').update(JSON.stringify(config)).digest('hex');
}
