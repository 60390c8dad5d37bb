/** From started to ended: waits for whichever comes first of exit, deadline, abort, full disk and a lost engine. */
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type Docker from 'dockerode';
import type { StepEnd } from '../spec/model.ts';
import { type ContainerState, inspectState, waitStopped } from './container-life.ts';
import { Deadline } from './deadline.ts';
import { type DiskWatch, watchDisk } from './disk-watch.ts';
import { InfrastructureFault } from './faults.ts';
import type { Freezer } from './freezer.ts';
import type { OutputFile } from './output.ts';
import { pauseIfFrozen } from './pause.ts';
import type { StepProgress, StepRequest } from './types.ts';

export interface Ending {
  readonly end: StepEnd;
  readonly exitCode: number | null;
  readonly durationMs: number;
  readonly childOom: boolean;
  readonly detail: string | null;
}

export interface Watched {
  readonly docker: Docker;
  readonly freezer: Freezer;
  readonly id: string;
  readonly request: StepRequest;
  readonly signal: AbortSignal;
  readonly output: OutputFile;
  readonly stream: Duplex;
  readonly onProgress: (progress: StepProgress) => void;
}

const TICK_MS = 1000;
/** The engine is asked for the state this often though wait() should tell: a hung engine breaks no connection. */
const INSPECT_MS = 5000;
/** An engine that has not answered for this long is lost. */
const SILENT_MS = 30_000;
/** wait() confirms an exit that inspect saw within this, or the connection over which it would have come is dead. */
const CONFIRM_MS = 5000;
/** SIGKILL: the exit code of an out-of-memory kill, of our own kill, and of `exit 137`. Only flags tell them apart. */
const KILLED = 137;

export async function watchContainer(watched: Watched): Promise<Ending> {
  const { docker, freezer, id, request, signal, output, stream, onProgress } = watched;
  const run = request.key.run;
  let nudged = false;
  let wake: () => void = () => undefined;
  const nudge = (): void => {
    nudged = true;
    wake();
  };

  let expired = false;
  const deadline = new Deadline(request.deadlineMs, () => {
    expired = true;
    nudge();
  });
  const followFreeze = (): void => (freezer.isFrozen(run) ? deadline.hold() : deadline.run());

  const waitAbort = new AbortController();
  let stopped = false;
  let waitFault: unknown = null;
  waitStopped(docker, id, waitAbort.signal).then(
    () => ((stopped = true), nudge()),
    (error: unknown) => ((waitFault = error), nudge()),
  );

  let diskFull = false;
  let disk: DiskWatch | null = null;
  const offFreeze = freezer.onChange(followFreeze);
  signal.addEventListener('abort', nudge, { once: true });
  let streamEnded = false;
  stream.once('close', () => ((streamEnded = true), nudge()));
  const ending = (end: StepEnd, exitCode: number | null, childOom = false, detail: string | null = null): Ending => ({
    end,
    exitCode,
    durationMs: deadline.elapsedMs(),
    childOom,
    detail,
  });

  try {
    followFreeze();
    if (freezer.isFrozen(run)) await pauseIfFrozen(docker, freezer, run, id);
    if (request.workspace !== null && !request.workspace.readOnly) {
      disk = await watchDisk(request.workspace.dir, request.limits.diskBytes, () => ((diskFull = true), nudge()));
    }
    let inspected = performance.now();
    let answered = inspected;
    let exitSeen: number | null = null;
    for (;;) {
      if (stopped) return await afterExit(watched, deadline, disk, ending);
      if (signal.aborted) return ending('killed', null);
      if (expired)
        return ending(
          'timeout',
          null,
          false,
          `The deadline of ${request.deadlineMs} ms passed; the container was killed.`,
        );
      if (diskFull)
        return ending(
          'disk-full',
          null,
          false,
          `The workspace grew beyond its limit of ${request.limits.diskBytes} bytes.`,
        );
      if (waitFault !== null) throw waitFault;
      followFreeze();

      const now = performance.now();
      if (now - inspected > INSPECT_MS || streamEnded) {
        streamEnded = false;
        inspected = now;
        let state: ContainerState | null | 'silent';
        try {
          state = await inspectState(docker, id);
          answered = performance.now();
        } catch (error) {
          if (performance.now() - answered > SILENT_MS) throw error;
          state = 'silent';
        }
        if (state === null) throw new InfrastructureFault(`Container ${id.slice(0, 12)} vanished while it ran.`);
        if (state !== 'silent' && !state.running) exitSeen ??= performance.now();
      }
      if (exitSeen !== null && performance.now() - exitSeen > CONFIRM_MS) {
        throw new InfrastructureFault(
          `The engine never confirmed the exit of container ${id.slice(0, 12)}; it was restarted.`,
        );
      }
      onProgress({ elapsedMs: deadline.elapsedMs(), outputBytes: output.bytes, frozen: freezer.isFrozen(run) });
      if (!nudged) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, TICK_MS);
          wake = () => (clearTimeout(timer), resolve());
        });
      }
      nudged = false;
    }
  } finally {
    deadline.hold();
    offFreeze();
    disk?.stop();
    signal.removeEventListener('abort', nudge);
    waitAbort.abort();
  }
}

/**
 * The container stopped by itself. A fresh connection asks for its state: an engine that is shutting down has closed its listener before it
 * kills containers, so its kills (exit 143, or 137) surface here as an unreachable engine and never as a result.
 */
async function afterExit(
  watched: Watched,
  deadline: Deadline,
  disk: DiskWatch | null,
  ending: (end: StepEnd, exitCode: number, childOom?: boolean, detail?: string | null) => Ending,
): Promise<Ending> {
  deadline.hold();
  const { docker, id, request } = watched;
  const inspect = async (): Promise<ContainerState> => {
    const state = await inspectState(docker, id);
    if (state === null || state.running)
      throw new InfrastructureFault(`Container ${id.slice(0, 12)} vanished as it ended.`);
    return state;
  };
  let state = await inspect();
  if (state.exitCode === KILLED && !state.oomKilled) {
    await sleep(100); // the out-of-memory event may reach the engine after the exit
    state = await inspect();
  }
  const { exitCode, oomKilled } = state;
  if (oomKilled && exitCode === KILLED) {
    return ending(
      'oom',
      exitCode,
      false,
      `The command was killed: it needed more than the ${request.limits.memoryBytes} bytes of memory that sandbox.limits.memory gives.`,
    );
  }
  if (exitCode !== 0 && disk !== null && (await disk.isFull())) {
    return ending(
      'disk-full',
      exitCode,
      oomKilled,
      `The workspace is full: sandbox.limits.disk is ${request.limits.diskBytes} bytes.`,
    );
  }
  return ending('exited', exitCode, oomKilled);
}
