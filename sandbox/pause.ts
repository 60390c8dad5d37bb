/** Freezing containers and letting them go. Invariant: after thaw no container of the run stays paused, whatever raced with it. */
import type Docker from 'dockerode';
import { CALL_MS, engineDone } from './engine-call.ts';
import type { Freezer } from './freezer.ts';

/** 404 gone, 409 not running or paused already. */
const PAST = [404, 409];

export async function pauseContainer(docker: Docker, id: string): Promise<void> {
  await engineDone('container pause', CALL_MS.quick, PAST, (abortSignal) =>
    docker.getContainer(id).pause({ abortSignal }),
  );
}

export async function unpauseContainer(docker: Docker, id: string): Promise<void> {
  // 500: "not paused" in engines up to at least 20.10
  await engineDone('container unpause', CALL_MS.quick, [...PAST, 500], (abortSignal) =>
    docker.getContainer(id).unpause({ abortSignal }),
  );
}

/** For a container that started while its run was being frozen: the freezer's list may have missed it. */
export async function pauseIfFrozen(docker: Docker, freezer: Freezer, run: string, id: string): Promise<void> {
  await pauseContainer(docker, id);
  if (!freezer.isFrozen(run)) await unpauseContainer(docker, id); // thawed meanwhile, and that list may have missed it too
}
