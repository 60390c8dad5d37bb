/** Removing containers so that they are really gone. */
import { setTimeout as sleep } from 'node:timers/promises';
import type Docker from 'dockerode';
import { CALL_MS, engineCall, engineDone, statusOf } from './engine-call.ts';
import { InfrastructureFault } from './faults.ts';

/**
 * Kills and removes a container with its anonymous volumes; resolves when the engine no longer knows it. 404 is success; 409 (removal in
 * progress), 5xx and timeouts are tried again until `patienceMs` is over, then InfrastructureFault.
 */
export async function removeContainer(docker: Docker, id: string, patienceMs = 60_000): Promise<void> {
  const end = performance.now() + patienceMs;
  for (let pause = 50; ; pause = Math.min(pause * 2, 1000)) {
    try {
      await engineDone('container remove', Math.min(CALL_MS.remove, patienceMs), [404], (abortSignal) =>
        docker.getContainer(id).remove({ force: true, v: true, abortSignal }),
      );
      return;
    } catch (error) {
      const status = statusOf(error);
      const passing = error instanceof InfrastructureFault || status === 409 || (status !== null && status >= 500);
      if (!passing) throw error;
      if (performance.now() + pause > end) {
        throw new InfrastructureFault(`Container ${id.slice(0, 12)} could not be removed within ${patienceMs} ms.`, {
          cause: error,
        });
      }
      await sleep(pause);
      if (status === 409 && (await isGone(docker, id))) return;
    }
  }
}

async function isGone(docker: Docker, id: string): Promise<boolean> {
  try {
    await engineCall('container inspect', CALL_MS.quick, (abortSignal) =>
      docker.getContainer(id).inspect({ abortSignal } as object),
    );
    return false;
  } catch (error) {
    return statusOf(error) === 404;
  }
}
