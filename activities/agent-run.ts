/**
 * One agent run: start commit in, task commit in the hub out.
 *
 * 1. A finished attempt never runs again: what the store or the hub already holds is returned.
 * 2. The tree is collected only when the container is gone, and judged as stored objects, whatever happens in the directory.
 * 3. What the agent did to preset tests is undone before anything is judged or kept.
 * 4. The agent's log is kept on every way out.
 */
import { readFile } from 'node:fs/promises';
import { ENGINE_DIR, engineFor } from '../engines/index.ts';
import type { Engine } from '../engines/index.ts';
import { messageWithTrailers } from '../mainline/commit.ts';
import { IntakeRefused } from '../mainline/errors.ts';
import { diffTrees, gitText, treeOf, writeCommit } from '../mainline/git.ts';
import { listDirectories } from '../mainline/tree.ts';
import { InfrastructureFault, SetupFailed } from '../sandbox/faults.ts';
import { putFiles } from '../sandbox/overlay.ts';
import { openScratch } from '../sandbox/scratch.ts';
import type { Scratch } from '../sandbox/scratch.ts';
import type { StepOutcome } from '../sandbox/types.ts';
import { agentEnd } from '../spec/gate/ends.ts';
import type { AgentResult, AttemptKey, CompiledSpec, FailureCause, Role, TaskSpec } from '../spec/model.ts';
import { checkScope, scopeRules } from '../spec/scope.ts';
import type { ScopeViolation, TreeChange } from '../spec/scope.ts';
import type { AttemptDeps, SetUp } from './attempt-ports.ts';
import type { RunAgentInput } from './contract.ts';
import type { Running } from './running.ts';

/** Name of the artifact that holds what the agent printed. */
export const AGENT_LOG = 'agent.log';
export const SCOPE_LOG = 'scope.log';
/** Characters of a reason; the result is a payload. */
const WHY_CHARS = 4000;

interface Red {
  readonly cause: FailureCause;
  readonly why: string;
}

/** Ends a red attempt: after it was recorded, and once more when a worker died between the two. */
async function end(key: AttemptKey, red: Red & { ok: false }, deps: AttemptDeps): Promise<AgentResult> {
  const failureArtifact = red.cause === 'scope' ? SCOPE_LOG : AGENT_LOG;
  await deps.store.endAttempt(key, { outcome: red.cause, why: red.why, failureArtifact });
  return red;
}

export async function agentRun(input: RunAgentInput, deps: AttemptDeps, running: Running): Promise<AgentResult> {
  const key: AttemptKey = { run: input.run, task: input.task, attempt: input.attempt };
  const recorded = await deps.store.agentResult(key);
  if (recorded !== null) return recorded.ok ? recorded : end(key, recorded, deps);
  const kept = await deps.hub.find(key);
  if (kept !== null) return deps.store.recordAgent(key, await resultOf(input.run, kept, deps, running), 0);

  const [spec, task] = [await deps.store.spec(input.run), await deps.store.task(input.run, input.task)];
  const role = spec.roles[task.role] ?? spec.roles.worker;
  const engine = engineFor(role.engine);
  const base = await deps.hub.resolve(input.run, input.startFrom, running.signal);
  const source = await deps.hub.ensure(input.run, [base], running.signal);
  await deps.store.startAttempt(key, { round: input.round, host: deps.hostId, base });
  const scratch = await openScratch({ stateDir: deps.stateDir, source, union: spec.repository.union });
  try {
    const attempt = { key, spec, task, role, engine, base, scratch, timing: { agentMs: 0 } };
    const done = await perform(attempt, input, deps, running);
    const ms = attempt.timing.agentMs;
    if ('cause' in done) {
      const stands = await deps.store.recordAgent(key, { ok: false, ...done }, ms);
      return stands.ok ? stands : await end(key, stands, deps);
    }
    return await deps.store.recordAgent(key, { ok: true, ...done }, ms);
  } catch (error) {
    if (running.cancelRequested())
      await deps.store.endAttempt(key, {
        outcome: 'cancelled',
        why: 'Stopped by a person or by its run.',
        failureArtifact: null,
      });
    throw error;
  } finally {
    await scratch.close();
  }
}

interface Attempt {
  readonly key: AttemptKey;
  readonly spec: CompiledSpec;
  readonly task: TaskSpec;
  readonly role: Role;
  readonly engine: Engine;
  readonly base: string;
  readonly scratch: Scratch;
  readonly timing: { agentMs: number };
}

type Done = { readonly commit: string; readonly base: string; readonly changed: number } | Red;

async function perform(attempt: Attempt, input: RunAgentInput, deps: AttemptDeps, running: Running): Promise<Done> {
  const { key, spec, task, base, scratch, engine } = attempt;
  const baseTree = await treeOf(scratch.gitDir, base);
  const startTree = await putFiles(scratch.gitDir, baseTree, task.tests);
  const workspace = await deps.openWorkspace({
    gitDir: scratch.gitDir,
    treeish: startTree,
    diskBytes: spec.sandbox.limits.diskBytes,
    name: `${key.run}-${key.task}-${key.attempt}-agent`,
  });
  try {
    const { outcome, outputFile } = await runEngine(attempt, input, workspace.dir, deps, running);
    const output = await readFile(outputFile, 'utf8').catch(() => '');
    await deps.store.saveArtifact({ ...key, name: AGENT_LOG }, output);
    running.signal.throwIfAborted();
    const meaning = agentEnd(outcome.end, outcome.exitCode);
    if (meaning === 'infrastructure' || meaning === 'stopped')
      throw new InfrastructureFault(`The agent's container ended "${outcome.end}": it says nothing about the agent.`);
    const verdict = engine.outcome({ end: outcome.end, exitCode: outcome.exitCode, output });
    if (!verdict.ok) return { cause: verdict.cause ?? 'agent-failed', why: verdict.why.slice(0, WHY_CHARS) };

    running.report({ phase: 'collecting' });
    const collected = await deps.collectTree({
      dir: workspace.dir,
      gitDir: scratch.gitDir,
      objectDir: scratch.objectDir,
      baseTree: startTree,
      limits: { diskBytes: spec.sandbox.limits.diskBytes },
      leaveOut: spec.sandbox.setup === null ? [] : [spec.sandbox.setup.provides],
      signal: running.signal,
    });
    if ('refused' in collected)
      return scopeRed(deps, key, [{ rule: collected.refused, path: collected.path, message: collected.message }]);
    const tree = await putFiles(scratch.gitDir, collected.tree, task.tests);
    const changes = await diffTrees(scratch.gitDir, startTree, tree);
    if (changes.length === 0 && !task.mayBeEmpty)
      return { cause: 'nothing-done', why: 'The agent ended without an error but changed no file.' };
    const violations = await outOfScope(scratch.gitDir, tree, changes, spec, task);
    if (violations.length > 0) return scopeRed(deps, key, violations);
    return await submit(attempt, tree, changes.length, deps, running);
  } finally {
    await workspace.close();
  }
}

async function runEngine(
  { key, spec, task, role, engine, base, scratch, timing }: Attempt,
  input: RunAgentInput,
  dir: string,
  deps: AttemptDeps,
  running: Running,
): Promise<{ outcome: StepOutcome; outputFile: string }> {
  const { limits, services } = spec.sandbox;
  const lastFailure = await deps.store.lastFailure(key.run, key.task);
  const command = engine.command({ task, role, lastFailure, attemptIndex: input.attempt });
  running.report({ phase: 'image and set-up' });
  const image = await deps.resolveImage(spec.sandbox.image);
  const setup = await setUp(base, { key, spec, scratch, image }, deps, running);
  const files = await scratch.inputDir(command.files);
  const stepKey = { ...key, kind: 'agent' as const, step: 'agent' };
  const outputFile = scratch.outputFile(AGENT_LOG);
  const beside = await deps.startServices({ services, key: stepKey, limits, signal: running.signal });
  try {
    const outcome = await deps.sandbox.runStep(
      {
        key: stepKey,
        image,
        argv: command.argv,
        env: { ...setup.env, ...command.env },
        workspace: { dir, readOnly: false },
        mounts: [...setup.mounts, { source: files, target: ENGINE_DIR, readOnly: true }],
        stdinFile: command.stdinFile,
        limits,
        deadlineMs: limits.agentMs,
        network: beside.network,
        outputFile,
      },
      { signal: running.signal, onProgress: (progress) => running.report({ phase: 'agent', ...progress }) },
    );
    timing.agentMs = outcome.durationMs;
    const agentStartedAtMs = deps.now() - outcome.durationMs;
    // Everything before that, from the moment at which the attempt was asked for, it waited for us.
    const queuedMs = Math.max(0, agentStartedAtMs - running.scheduledAtMs);
    await deps.store.markAttempt(key, { phase: 'agent', agentStartedAtMs, queuedMs });
    return { outcome, outputFile };
  } finally {
    await beside.close();
  }
}

/** The setup cache for a commit or tree. What a failed setup printed is kept before the failure goes on. */
export async function setUp(
  treeish: string,
  on: {
    key: { run: string; task: string | null; attempt: number };
    spec: CompiledSpec;
    scratch: Scratch;
    image: string;
  },
  deps: AttemptDeps,
  running: Running,
): Promise<SetUp> {
  const { setup, limits } = on.spec.sandbox;
  if (setup === null) return { mounts: [], env: {} };
  const outputFile = on.scratch.outputFile('setup.log');
  try {
    return await deps.ensureSetup({
      gitDir: on.scratch.gitDir,
      commit: treeish,
      setup,
      image: on.image,
      limits,
      signal: running.signal,
      outputFile,
    });
  } catch (error) {
    if (error instanceof SetupFailed)
      await deps.store.saveArtifact({ ...on.key, name: 'setup.log' }, await readFile(error.outputFile).catch(() => ''));
    throw error;
  }
}

async function outOfScope(
  gitDir: string,
  tree: string,
  changes: TreeChange[],
  spec: CompiledSpec,
  task: TaskSpec,
): Promise<ScopeViolation[]> {
  const dirs = new Set(changes.flatMap((change) => parents(change.path)));
  const names = await listDirectories(gitDir, tree, [...dirs]);
  return checkScope(
    changes,
    scopeRules(spec, task, (dir) => names.get(dir) ?? []),
  );
}

function parents(path: string): string[] {
  const parts = path.split('/');
  return parts.map((_, at) => parts.slice(0, at).join('/'));
}

async function scopeRed(
  deps: AttemptDeps,
  key: AttemptKey,
  violations: readonly { rule: string; path: string; message: string }[],
): Promise<Red> {
  const lines = violations.map(({ rule, path, message }) => `${path}: ${message} [${rule}]`);
  await deps.store.saveArtifact({ ...key, name: SCOPE_LOG }, `${lines.join('\n')}\n`);
  const why = `It changed what it was not given: ${lines.join('; ')}`;
  return { cause: 'scope', why: why.length > WHY_CHARS ? `${why.slice(0, WHY_CHARS)}… (${lines.length} in all)` : why };
}

/** A pack that the hub refuses is the attempt's fault, the same at every try; one under another commit means that the attempt has a result already. */
async function submit(
  { key, task, base, scratch, role }: Attempt,
  tree: string,
  changed: number,
  deps: AttemptDeps,
  running: Running,
): Promise<Done> {
  running.report({ phase: 'submitting' });
  const message = messageWithTrailers(task.goal.trim() === '' ? key.task : task.goal, [
    ['Swarmline-Task', key.task],
    ['Swarmline-Attempt', String(key.attempt)],
    ['Swarmline-Engine', role.engine],
  ]);
  const commit = await writeCommit(scratch.gitDir, { tree, parents: [base], message, atMs: deps.now() });
  try {
    const pack = { gitDir: scratch.gitDir, objectDir: scratch.objectDir, commit, base };
    await deps.hub.submit(key, pack, running.signal);
    return { commit, base, changed };
  } catch (error) {
    if (!(error instanceof IntakeRefused)) throw error;
    if (error.rule === 'unknown-base')
      throw new InfrastructureFault('The commit that the attempt started from is no longer in the hub.');
    const other = error.rule === 'other-commit' ? await deps.hub.find(key) : null;
    if (other === null) return { cause: 'refused', why: refusal(error) };
    const stands = await resultOf(key.run, other, deps, running);
    return { commit: stands.commit, base: stands.base, changed: stands.changed };
  }
}

function refusal({ path, message, rule }: IntakeRefused): string {
  return `The mainline does not take its tree: ${path === '' ? '' : `${path}: `}${message} [${rule}]`;
}

/** The result of an attempt whose commit is in the hub though nobody recorded it (the worker died between the two). */
async function resultOf(
  run: string,
  commit: string,
  deps: AttemptDeps,
  running: Running,
): Promise<Extract<AgentResult, { ok: true }>> {
  const gitDir = await deps.hub.ensure(run, [commit], running.signal);
  const base = await gitText(gitDir, ['rev-parse', '--verify', `${commit}^1`]);
  return { ok: true, commit, base, changed: (await diffTrees(gitDir, base, commit)).length };
}
