/**
 * One run of an engine in its container: image, set-up, services, and the gateway's socket for as long as it runs.
 *
 * 1. The socket is closed, and no call of it is under way, before anything is said about the run.
 */
import { EGRESS_DIR, ENGINE_DIR } from '../engines/index.ts';
import type { EngineCommand } from '../engines/index.ts';
import type { Scratch } from '../sandbox/scratch.ts';
import type { StepOutcome } from '../sandbox/types.ts';
import type { AttemptKey, CompiledSpec } from '../spec/model.ts';
import type { AttemptDeps } from './attempt-ports.ts';
import type { Running } from './running.ts';
import { setUp } from './set-up.ts';

export interface EngineStep {
  readonly key: AttemptKey;
  /** Names the step beside others of the same attempt, and its log: `<name>.log`. */
  readonly name: string;
  /** As whom it asks models. */
  readonly as: { readonly role: string; readonly model: string | null; readonly seat?: string };
  readonly spec: CompiledSpec;
  readonly command: EngineCommand;
  /** Whose manifests count for the set-up. */
  readonly commit: string;
  readonly workspace: { readonly dir: string; readonly readOnly: boolean };
  readonly scratch: Scratch;
}

export const logOf = (name: string): string => `${name}.log`;

export async function engineStep(step: EngineStep, deps: AttemptDeps, running: Running): Promise<StepOutcome> {
  const { key, name, as, spec, command, commit, workspace, scratch } = step;
  const { limits, services } = spec.sandbox;
  running.report({ phase: 'image and set-up' });
  const image = await deps.resolveImage(spec.sandbox.image);
  const setup = await setUp(commit, { key, spec, scratch, image }, deps, running);
  const files = await scratch.inputDir(command.files);
  const stepKey = { ...key, kind: 'agent' as const, step: name };
  const beside = await deps.startServices({ services, key: stepKey, limits, signal: running.signal });
  const caller = { ...key, ...as };
  try {
    const egress = command.gateway === true ? await deps.gateway.open(caller, running.signal) : null;
    return await deps.sandbox.runStep(
      {
        key: stepKey,
        image,
        argv: command.argv,
        env: { ...setup.env, ...command.env },
        workspace,
        mounts: [
          ...setup.mounts,
          { source: files, target: ENGINE_DIR, readOnly: true },
          ...(egress === null ? [] : [{ source: egress, target: EGRESS_DIR, readOnly: true }]),
        ],
        stdinFile: command.stdinFile,
        limits,
        deadlineMs: limits.agentMs,
        network: beside.network,
        outputFile: scratch.outputFile(logOf(name)),
      },
      { signal: running.signal, onProgress: (progress) => running.report({ phase: name, ...progress }) },
    );
  } finally {
    if (command.gateway === true) await deps.gateway.close(caller);
    await beside.close();
  }
}
