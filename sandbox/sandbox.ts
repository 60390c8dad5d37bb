/** The sandbox of one worker: containers of an instance on one engine. What each part keeps is said in its own file. */
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type Docker from 'dockerode';
import { admit } from './admission.ts';
import { checkEngine, engineSeesPath } from './docker.ts';
import { CALL_MS, engineCall } from './engine-call.ts';
import { Freezer } from './freezer.ts';
import { labelFilter } from './identity.ts';
import { engineSees } from './loop-store.ts';
import { thisOwner } from './owner.ts';
import { pauseContainer, unpauseContainer } from './pause.ts';
import { reapContainers } from './reap-containers.ts';
import { reapDirectories } from './reap-directories.ts';
import { removeContainer } from './remove.ts';
import { type RunContext, runContainer } from './run-step.ts';
import { Semaphore } from './semaphore.ts';
import type { Sandbox, SandboxOptions, StepOptions, StepOutcome, StepRequest } from './types.ts';

interface Active {
  readonly run: string;
  readonly task: string | null;
  readonly stop: AbortController;
  done: Promise<unknown>;
}

export function createSandbox(options: SandboxOptions): Sandbox {
  const { docker, instance, stateDir, log } = options;
  const owner = thisOwner(options.hostId);
  const freezer = new Freezer(stateDir);
  const slots = new Semaphore(options.slots);
  const startGate = new Semaphore(2 * availableParallelism());
  const context: RunContext = { docker, instance, owner, startGate, freezer };
  engineSees(stateDir, (path) => engineSeesPath(docker, path));
  const active = new Set<Active>();
  let engineChecked: Promise<void> | null = null;

  const listed = async (run?: string, task?: string): Promise<Docker.ContainerInfo[]> =>
    engineCall('container list', CALL_MS.quick, (abortSignal) =>
      docker.listContainers({ all: true, filters: labelFilter(instance, run, task), abortSignal }),
    );

  async function checkedEngine(): Promise<void> {
    engineChecked ??= checkEngine(docker);
    try {
      await engineChecked;
    } catch (error) {
      engineChecked = null;
      throw error;
    }
  }

  /** A slot while the run is not frozen: frozen steps that wait hold no slot. */
  async function placeFor(run: string, signal: AbortSignal): Promise<() => void> {
    for (;;) {
      await freezer.whenThawed(run, signal);
      const release = await slots.acquire(signal);
      if (!freezer.isFrozen(run)) return release;
      release();
    }
  }

  async function runStep(request: StepRequest, { signal, onProgress }: StepOptions): Promise<StepOutcome> {
    const stop = new AbortController();
    const either = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
    const me: Active = { run: request.key.run, task: request.key.task, stop, done: Promise.resolve() };
    const work = (async (): Promise<StepOutcome> => {
      await checkedEngine();
      const beat = setInterval(
        () => onProgress?.({ elapsedMs: 0, outputBytes: 0, frozen: freezer.isFrozen(me.run) }),
        1000,
      );
      let release: () => void;
      try {
        release = await placeFor(me.run, either);
      } catch {
        return {
          end: 'killed',
          exitCode: null,
          durationMs: 0,
          outputBytes: 0,
          truncated: false,
          childOom: false,
          detail: null,
        };
      } finally {
        clearInterval(beat);
      }
      try {
        return await runContainer(context, request, either, (now) => onProgress?.(now));
      } finally {
        release();
      }
    })();
    me.done = work.catch(() => undefined);
    active.add(me);
    try {
      return await work;
    } finally {
      active.delete(me);
    }
  }

  async function stop(run: string, task?: string): Promise<number> {
    if (task === undefined) freezer.clear(run);
    const mine = [...active].filter((step) => step.run === run && (task === undefined || step.task === task));
    const theirs = await listed(run, task);
    for (const step of mine) step.stop.abort(new Error('stopped'));
    // Also those that this process has not started: another worker of this host, or a dead one, owns them.
    await Promise.all(theirs.map(({ Id }) => removeContainer(docker, Id, 15_000)));
    await Promise.all(mine.map(({ done }) => done));
    for (const { Id } of await listed(run, task)) await removeContainer(docker, Id, 15_000);
    return Math.max(mine.length, theirs.length);
  }

  async function freeze(run: string): Promise<number> {
    freezer.set(run);
    const running = (await listed(run)).filter(({ State }) => State === 'running');
    await Promise.all(running.map(({ Id }) => pauseContainer(docker, Id)));
    return running.length;
  }

  async function thaw(run: string): Promise<number> {
    freezer.clear(run);
    let count = 0;
    // Twice: a step that was just pausing itself sees the cleared marker, but only after its own pause.
    for (let round = 0; round < 2; round += 1) {
      const paused = (await listed(run)).filter(({ State }) => State === 'paused');
      await Promise.all(paused.map(({ Id }) => unpauseContainer(docker, Id)));
      count += paused.length;
      if (round === 0) await sleep(50);
    }
    return count;
  }

  return {
    docker,
    context,
    stateDir,
    log,
    caBundle: options.caBundle,
    get slots() {
      return { total: slots.size, taken: slots.taken, waiting: slots.waiting };
    },
    runStep: (request, stepOptions = {}) => runStep(request, stepOptions),
    freeze,
    thaw,
    stop,
    async reap() {
      const containers = await reapContainers({ docker, containers: await listed(), owner, log });
      return containers + (await reapDirectories(stateDir, log));
    },
    admission: (limits) => admit({ stateDir, slots, limits }),
  };
}
