/**
 * An agent that answers and edits nothing: a planner, a reviewer.
 *
 * 1. Its workspace is mounted read-only, and nothing is collected from it: whatever it does there, no tree comes of it.
 * 2. Prompt and log are kept on every way out, as `<name>.prompt.md` and `<name>.log` of the attempt.
 */
import { readFile } from 'node:fs/promises';
import { engineFor } from '../engines/index.ts';
import type { TranscriptStep } from '../engines/index.ts';
import { InfrastructureFault } from '../sandbox/faults.ts';
import type { Scratch } from '../sandbox/scratch.ts';
import { agentEnd } from '../spec/gate/ends.ts';
import type { AttemptKey, CompiledSpec, FailureCause, Role, RoleName, TaskSpec } from '../spec/model.ts';
import { WHY_CHARS } from './agent-attempt.ts';
import type { AttemptDeps } from './attempt-ports.ts';
import { engineStep, logOf } from './engine-step.ts';
import type { Running } from './running.ts';

export interface Ask {
  readonly key: AttemptKey;
  /** Names its container, log and prompt beside others of the same attempt. */
  readonly name: string;
  /** Whose model calls these are among several of the same role; its name when it says nothing. */
  readonly seat?: string;
  readonly spec: CompiledSpec;
  readonly role: Role;
  readonly roleName: RoleName;
  /** What it sees, checked out. */
  readonly commit: string;
  readonly prompt: string;
  readonly scratch: Scratch;
}

export type Answer =
  | { readonly ok: true; readonly text: string; readonly steps: readonly TranscriptStep[]; readonly ms: number }
  | { readonly ok: false; readonly cause: FailureCause; readonly why: string; readonly ms: number };

export const promptOf = (name: string): string => `${name}.prompt.md`;

export async function askAgent(ask: Ask, deps: AttemptDeps, running: Running): Promise<Answer> {
  const { key, name, spec, role, roleName, commit, prompt, scratch } = ask;
  const engine = engineFor(role.engine, spec.engines);
  await deps.store.saveArtifact({ ...key, name: promptOf(name) }, prompt);
  const command = engine.command({ task: askedTask(name, roleName), role, lastFailure: null, prompt });
  const workspace = await deps.openWorkspace({
    gitDir: scratch.gitDir,
    treeish: commit,
    diskBytes: spec.sandbox.limits.diskBytes,
    name: `${key.run}-${key.task.replaceAll(/[^a-z0-9._-]/g, '-')}-${key.attempt}-${name}`,
  });
  try {
    const as = { role: roleName, model: role.model, seat: ask.seat ?? name };
    const ran = await engineStep(
      { key, name, as, spec, command, commit, workspace: { dir: workspace.dir, readOnly: true }, scratch },
      deps,
      running,
    );
    running.signal.throwIfAborted();
    const meaning = agentEnd(ran.end, ran.exitCode);
    if (meaning === 'infrastructure' || meaning === 'stopped')
      throw new InfrastructureFault(`The ${roleName}'s container ended "${ran.end}": it says nothing about the agent.`);
    const output = await readFile(scratch.outputFile(logOf(name)), 'utf8').catch(() => '');
    const said = engine.outcome({ end: ran.end, exitCode: ran.exitCode, output });
    return said.ok
      ? { ok: true, text: said.lastMessage, steps: said.steps ?? [], ms: ran.durationMs }
      : { ok: false, cause: said.cause ?? 'agent-failed', why: said.why.slice(0, WHY_CHARS), ms: ran.durationMs };
  } finally {
    const log = await readFile(scratch.outputFile(logOf(name)), 'utf8').catch(() => null);
    if (log !== null) await deps.store.saveArtifact({ ...key, name: logOf(name) }, log);
    await workspace.close();
  }
}

/** For engines that look at their task beside the prompt: there is nothing that it may write. */
function askedTask(name: string, role: RoleName): TaskSpec {
  const files = { allow: [], forbid: [], reference: [] };
  const nothing = { acceptance: [], tests: {}, dependsOn: [], priority: 0, run: null, script: null, mayBeEmpty: true };
  return { id: name, kind: 'review', goal: '', interface: '', files, role, ...nothing };
}
