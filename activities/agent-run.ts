/**
 * One agent run: start commit in, task commit in the hub out.
 *
 * 1. A finished attempt never runs again: what the store or the hub already holds is returned.
 * 2. Between the end of the container and the hub's receipt nothing depends on the store: an outage of it costs no finished work.
 * 3. The agent's log is kept on every way out.
 */
import { readFile } from 'node:fs/promises';
import { engineFor } from '../engines/index.ts';
import type { TranscriptStep } from '../engines/index.ts';
import { treeOf } from '../mainline/git.ts';
import { InfrastructureFault } from '../sandbox/faults.ts';
import { putFiles } from '../sandbox/overlay.ts';
import { openScratch } from '../sandbox/scratch.ts';
import type { Scratch } from '../sandbox/scratch.ts';
import type { StepOutcome } from '../sandbox/types.ts';
import { agentEnd } from '../spec/gate/ends.ts';
import type { AgentResult, AttemptKey, CompiledSpec, TaskSpec } from '../spec/model.ts';
import { AGENT_LOG, PROMPT, SCOPE_LOG, STEPS, WHY_CHARS } from './agent-attempt.ts';
import type { AgentTimes, Attempt, Done, Red } from './agent-attempt.ts';
import { promptFor } from './agent-prompt.ts';
import { resultInHub, takeMerged, takeTree } from './agent-tree.ts';
import type { AttemptDeps } from './attempt-ports.ts';
import type { RunAgentInput } from './contract.ts';
import { engineStep } from './engine-step.ts';
import type { Running } from './running.ts';

/** What an attempt starts from. */
interface Start {
  readonly base: string;
  /** What has to be at hand beside the base. */
  readonly commits?: readonly string[];
  readonly attempt: (scratch: Scratch) => Attempt | Promise<Attempt>;
}

export async function agentRun(input: RunAgentInput, deps: AttemptDeps, running: Running): Promise<AgentResult> {
  return runAttempt(input, deps, running, async (key, spec, task) => {
    const role = spec.roles[task.role] ?? spec.roles.worker;
    const engine = engineFor(role.engine, spec.engines);
    const base = await deps.hub.resolve(key.run, input.startFrom, running.signal);
    return { base, attempt: (scratch) => ({ key, spec, task, role, engine, base, scratch }) };
  });
}

export async function runAttempt(
  input: AttemptKey & { readonly round: number },
  deps: AttemptDeps,
  running: Running,
  begin: (key: AttemptKey, spec: CompiledSpec, task: TaskSpec) => Promise<Start>,
): Promise<AgentResult> {
  const { store, hub } = deps;
  const key: AttemptKey = { run: input.run, task: input.task, attempt: input.attempt };
  const recorded = await store.agentResult(key);
  if (recorded !== null) return recorded.ok ? recorded : end(key, recorded, deps);
  const kept = await hub.find(key);
  if (kept !== null) return store.recordAgent(key, await resultInHub(input.run, kept, deps, running), 0);

  const [spec, task] = [await store.spec(input.run), await store.task(input.run, input.task)];
  const { base, commits = [], attempt } = await begin(key, spec, task);
  const source = await hub.ensure(input.run, [base, ...commits], running.signal);
  await store.startAttempt(key, { round: input.round, host: deps.hostId, base });
  const scratch = await openScratch({ stateDir: deps.stateDir, source, union: spec.repository.union });
  try {
    return await attempted(await attempt(scratch), deps, running);
  } catch (error) {
    const stopped = { outcome: 'cancelled', why: 'Stopped by a person or by its run.', failureArtifact: null } as const;
    if (running.cancelRequested()) await store.endAttempt(key, stopped);
    throw error;
  } finally {
    await scratch.close();
  }
}

async function attempted(attempt: Attempt, deps: AttemptDeps, running: Running): Promise<AgentResult> {
  const { key, scratch } = attempt;
  const { store } = deps;
  let times: AgentTimes | null = null;
  let steps: readonly TranscriptStep[] | null = null;
  let done: Done;
  try {
    done = await perform(attempt, deps, running, {
      ran: (ran) => void (times = ran),
      did: (did) => void (steps = did),
    });
  } finally {
    const output = await readFile(scratch.outputFile(AGENT_LOG), 'utf8').catch(() => null);
    if (output !== null) await store.saveArtifact({ ...key, name: AGENT_LOG }, output);
    if (steps !== null) await store.saveArtifact({ ...key, name: STEPS }, JSON.stringify(steps));
  }
  const { startedAtMs, ms } = times ?? { startedAtMs: deps.now(), ms: 0 };
  // Everything before that, from the moment at which the attempt was asked for, it waited for us.
  const queuedMs = Math.max(0, startedAtMs - running.scheduledAtMs);
  await store.markAttempt(key, { phase: 'agent', agentStartedAtMs: startedAtMs, queuedMs });
  if (!('cause' in done)) return store.recordAgent(key, { ok: true, ...done }, ms);
  if (done.violations !== undefined) await store.saveArtifact({ ...key, name: SCOPE_LOG }, done.violations);
  const stands = await store.recordAgent(key, { ok: false, cause: done.cause, why: done.why }, ms);
  return stands.ok ? stands : end(key, stands, deps);
}

/** Ends a red attempt: after it was recorded, and once more when a worker died between the two. */
async function end(key: AttemptKey, red: Red & { ok: false }, deps: AttemptDeps): Promise<AgentResult> {
  const failureArtifact = red.cause === 'scope' ? SCOPE_LOG : AGENT_LOG;
  await deps.store.endAttempt(key, { outcome: red.cause, why: red.why, failureArtifact });
  return red;
}

async function perform(
  attempt: Attempt,
  deps: AttemptDeps,
  running: Running,
  tell: { readonly ran: (times: AgentTimes) => void; readonly did: (steps: readonly TranscriptStep[]) => void },
): Promise<Done> {
  const { key, spec, task, base, scratch, engine, merge } = attempt;
  if (merge !== undefined && merge.refused !== null) return { cause: 'conflict', why: merge.refused };
  const startTree = await putFiles(scratch.gitDir, merge?.tree ?? (await treeOf(scratch.gitDir, base)), task.tests);
  if (merge?.paths.length === 0) return takeMerged(attempt, startTree, deps, running);
  const workspace = await deps.openWorkspace({
    gitDir: scratch.gitDir,
    treeish: startTree,
    diskBytes: spec.sandbox.limits.diskBytes,
    name: `${key.run}-${key.task}-${key.attempt}-agent`,
  });
  try {
    const { end: ended, exitCode, durationMs } = await runEngine(attempt, startTree, workspace.dir, deps, running);
    tell.ran({ startedAtMs: deps.now() - durationMs, ms: durationMs });
    running.signal.throwIfAborted();
    const meaning = agentEnd(ended, exitCode);
    if (meaning === 'infrastructure' || meaning === 'stopped') {
      throw new InfrastructureFault(`The agent's container ended "${ended}": it says nothing about the agent.`);
    }
    const output = await readFile(scratch.outputFile(AGENT_LOG), 'utf8').catch(() => '');
    const verdict = engine.outcome({ end: ended, exitCode, output });
    if (verdict.steps !== undefined) tell.did(verdict.steps);
    if (!verdict.ok) return { cause: verdict.cause ?? 'agent-failed', why: verdict.why.slice(0, WHY_CHARS) };
    // It may have been given more files meanwhile; where the store is away, what it began with holds (invariant 2).
    const now = merge === undefined ? await deps.store.task(key.run, key.task).catch(() => task) : task;
    return await takeTree({ ...attempt, task: now }, workspace.dir, startTree, deps, running);
  } finally {
    await workspace.close();
  }
}

async function runEngine(
  attempt: Attempt,
  startTree: string,
  dir: string,
  deps: AttemptDeps,
  running: Running,
): Promise<StepOutcome> {
  const { key, spec, task, role, engine, base, scratch, merge } = attempt;
  const lastFailure = await deps.store.lastFailure(key.run, key.task, merge?.ofAttempt ?? null);
  const told = (): string | Promise<string> =>
    merge === undefined ? promptFor(attempt, startTree, lastFailure, deps) : merge.prompt(lastFailure);
  const prompt = engine.needsPrompt === true ? await told() : null;
  if (prompt !== null) await deps.store.saveArtifact({ ...key, name: PROMPT }, prompt);
  const input = { task, role, lastFailure, attemptIndex: key.attempt };
  const command = engine.command(prompt === null ? input : { ...input, prompt });
  const as = { role: task.role, model: role.model };
  const workspace = { dir, readOnly: false };
  return engineStep({ key, name: 'agent', as, spec, command, commit: base, workspace, scratch }, deps, running);
}
