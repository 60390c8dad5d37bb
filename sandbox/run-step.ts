/**
 * The run protocol: one command as the main process of one container, from create to removed.
 *
 * Invariants
 * 1. When it settles, the container is removed, or the engine cannot be reached (then the reaper and the next try of the step remove it).
 * 2. How it ended is known from our own flags and the engine's state, never from the output or the exit code alone.
 * 3. A lost engine, a vanished container and an unconfirmed exit are InfrastructureFaults, not results.
 * 4. The deadline is ours, outside the container, and stands still while the run is frozen.
 * 5. The output is drained at all times, and its stream destroyed before the container is killed.
 */
import { randomUUID } from 'node:crypto';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type Docker from 'dockerode';
import { attachContainer, createContainer, engineSaid, inspectState, startContainer } from './container-life.ts';
import { Demux } from './demux.ts';
import { CALL_MS, engineCall, statusOf } from './engine-call.ts';
import { InfrastructureFault } from './faults.ts';
import type { Freezer } from './freezer.ts';
import { createOptions } from './host-config.ts';
import { LABEL, containerName, labelsOf, liveNonces } from './identity.ts';
import { OutputFile } from './output.ts';
import type { Owner } from './owner.ts';
import { removeContainer } from './remove.ts';
import type { Semaphore } from './semaphore.ts';
import type { StepOutcome, StepProgress, StepRequest } from './types.ts';
import { type Ending, watchContainer } from './watch-step.ts';

export interface RunContext {
  readonly docker: Docker;
  readonly instance: string;
  readonly owner: Owner;
  /** About 2 × cores places, held only around create/start and remove: more at once only makes each slower (research: throughput). */
  readonly startGate: Semaphore;
  readonly freezer: Freezer;
}

/** Patience with an engine that does not answer, when removing after it was lost. */
const LOST_PATIENCE_MS = 3000;
/** Output may arrive after the exit; it is awaited until nothing came for this long. */
const DRAIN_QUIET_MS = 3000;

export async function runContainer(
  context: RunContext,
  request: StepRequest,
  signal: AbortSignal,
  onProgress: (progress: StepProgress) => void,
): Promise<StepOutcome> {
  const output = await OutputFile.create(request.outputFile, request.limits.outputBytes);
  let lastLine: string | null = null;
  try {
    let outcome = await tryOnce(context, request, signal, output, onProgress);
    // A start can fail for a passing reason of the engine (5xx): once more, before it counts against the command.
    if (outcome === 'start-again') outcome = await tryOnce(context, request, signal, output, onProgress, true);
    const known = outcome as StepOutcome;
    lastLine = known.detail;
    return { ...known, outputBytes: output.bytes, truncated: output.truncated };
  } finally {
    await output.close(lastLine);
  }
}

async function tryOnce(
  context: RunContext,
  request: StepRequest,
  signal: AbortSignal,
  output: OutputFile,
  onProgress: (progress: StepProgress) => void,
  last = false,
): Promise<StepOutcome | 'start-again'> {
  const { docker, instance, owner, startGate } = context;
  const name = containerName(instance, request.key);
  const nonce = randomUUID();
  liveNonces.add(nonce);
  const labels = labelsOf(instance, request.key, owner, Date.now() + request.deadlineMs, nonce);
  const killed: Ending = { end: 'killed', exitCode: null, durationMs: 0, childOom: false, detail: null };

  let id: string | null = null;
  let stream: Awaited<ReturnType<typeof attachContainer>> | null = null;
  let release: (() => void) | null = null;
  let patienceMs = 60_000;
  let writeFault: unknown = null;
  try {
    try {
      release = await startGate.acquire(signal);
    } catch {
      return outcomeOf(killed);
    }
    id = await createContainer(docker, createOptions(request, name, labels));
    if (signal.aborted) return outcomeOf(killed);
    stream = await attachContainer(docker, id);
    const demux = new Demux(async (payload) => {
      try {
        if (writeFault === null) await output.write(payload);
      } catch (error) {
        writeFault = error; // go on draining: a blocked stream would block kill and remove
      }
    });
    const drained = finished(demux).catch(() => undefined);
    stream.on('error', () => demux.end());
    stream.on('close', () => demux.end());
    stream.pipe(demux);
    if (signal.aborted) return outcomeOf(killed);
    try {
      await startContainer(docker, id);
    } catch (error) {
      const failed = await startFailure(docker, id, error);
      return failed.retry && !last ? 'start-again' : outcomeOf(failed.ending);
    }
    release();
    release = null;

    const ending = await watchContainer({ ...context, id, request, signal, output, stream, onProgress });
    if (ending.exitCode !== null) await drain(drained, output);
    if (writeFault !== null) {
      throw new InfrastructureFault(
        `The output of step ${request.key.step} could not be written to ${request.outputFile}.`,
        { cause: writeFault },
      );
    }
    return outcomeOf(ending);
  } catch (error) {
    if (error instanceof InfrastructureFault && !signal.aborted) patienceMs = LOST_PATIENCE_MS;
    throw error;
  } finally {
    stream?.destroy();
    try {
      release ??= await startGate.acquire();
      await removeTry(docker, id, name, nonce, patienceMs);
    } finally {
      release?.();
      liveNonces.delete(nonce);
    }
  }
}

function outcomeOf(ending: Ending): StepOutcome {
  return { ...ending, outputBytes: 0, truncated: false };
}

/** Told apart: the engine is gone (throws), a passing failure (retry), or a command that cannot start. */
async function startFailure(docker: Docker, id: string, error: unknown): Promise<{ retry: boolean; ending: Ending }> {
  const status = statusOf(error);
  if (status === null) throw error;
  await engineCall('ping', CALL_MS.quick, () => docker.ping()); // an engine that is shutting down answers 5xx, then not at all
  const state = await inspectState(docker, id);
  if (state === null) throw new InfrastructureFault('The container vanished before it was started.', { cause: error });
  const detail = `The command could not be started: ${engineSaid(error)}`;
  const exitCode = state.exitCode === 0 ? null : state.exitCode;
  return { retry: status >= 500, ending: { end: 'start-failed', exitCode, durationMs: 0, childOom: false, detail } };
}

async function drain(drained: Promise<void>, output: OutputFile): Promise<void> {
  for (let seen = -1; seen !== output.bytes;) {
    seen = output.bytes;
    const timer = new AbortController();
    const quiet = sleep(DRAIN_QUIET_MS, 'quiet', { signal: timer.signal }).catch(() => 'quiet');
    const first = await Promise.race([drained, quiet]);
    timer.abort();
    if (first !== 'quiet') return;
  }
}

/** A create that timed out may have made the container all the same; the nonce tells it from a later try's. */
async function removeTry(
  docker: Docker,
  id: string | null,
  name: string,
  nonce: string,
  patienceMs: number,
): Promise<void> {
  let target = id;
  if (target === null) {
    try {
      const found = await engineCall('container inspect', CALL_MS.quick, () => docker.getContainer(name).inspect());
      if (found.Config.Labels[LABEL.nonce] === nonce) target = found.Id;
    } catch {
      return; // not there, or not reachable: the reaper's
    }
  }
  if (target === null) return;
  try {
    await removeContainer(docker, target, patienceMs);
  } catch (error) {
    if (patienceMs > LOST_PATIENCE_MS) throw error; // else the fault that made us impatient is the one to report
  }
}
