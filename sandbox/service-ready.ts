/** Waiting until a service can be used. */
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../spec/model.ts';
import { engineSaid, inspectState } from './container-life.ts';
import { CALL_MS, engineCall, statusOf } from './engine-call.ts';
import { InfrastructureFault, ServiceFailed } from './faults.ts';
import type { Sandbox } from './types.ts';

/** Most that all services together may take to become ready, milliseconds. */
export const READY_MS = 120_000;
const POLL_MS = 200;

export interface Started {
  readonly name: string;
  readonly id: string;
  readonly service: Service;
  readonly stream: Duplex;
  readonly log: { tail: Buffer };
}

/** Resolves when the service's ready command ended with 0, or at once when it has none and runs. `end` on the clock of performance.now(). */
export async function becomeReady(
  sandbox: Sandbox,
  run: string,
  one: Started,
  end: number,
  signal: AbortSignal,
): Promise<void> {
  let probe: string | null = null;
  for (let limit = end; ;) {
    signal.throwIfAborted();
    const state = await inspectState(sandbox.docker, one.id);
    if (state === null) throw new InfrastructureFault(`The container of service ${one.name} vanished.`);
    if (!state.running) {
      await sleep(100); // the rest of its log
      throw failed(
        one,
        `ended with exit code ${state.exitCode}${state.oomKilled ? ' (out of memory)' : ''} instead of running`,
      );
    }
    if (one.service.ready === null) return;
    if (sandbox.context.freezer.isFrozen(run)) {
      const before = performance.now();
      await sandbox.context.freezer.whenThawed(run, signal);
      limit += performance.now() - before;
    }
    probe ??= await startProbe(sandbox, one);
    const ended = probe === null ? null : await probeEnd(sandbox, probe);
    if (ended === 0) return;
    if (ended !== null) probe = null;
    if (performance.now() > limit) throw failed(one, `was not ready within ${READY_MS} ms: ${one.service.ready}`);
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}

function failed(one: Started, how: string): ServiceFailed {
  const tail = one.log.tail.toString('utf8').replaceAll('\0', '').trim();
  return new ServiceFailed(
    one.name,
    `The service ${one.name} ${how}. Change sandbox.services.${one.name} in the spec.${tail === '' ? '' : ` The end of its output:\n${tail.slice(-2000)}`}`,
  );
}

/** Starts the ready command detached: nothing of it has to be drained. null: the container is just not up yet (409). */
async function startProbe(sandbox: Sandbox, one: Started): Promise<string | null> {
  try {
    return await engineCall('exec', CALL_MS.quick, async () => {
      const exec = await sandbox.docker.getContainer(one.id).exec({ Cmd: ['sh', '-c', one.service.ready ?? 'true'] });
      await exec.start({ Detach: true });
      return exec.id;
    });
  } catch (error) {
    if (statusOf(error) === 409) return null;
    if (statusOf(error) === 404)
      throw new InfrastructureFault(`The container of service ${one.name} vanished.`, { cause: error });
    // It ended between our look at it and the command: how it ended says more than that nothing could be run in it.
    if (statusOf(error) !== null && (await inspectState(sandbox.docker, one.id))?.running !== true) return null;
    if (statusOf(error) !== null) throw failed(one, `cannot run its ready command: ${engineSaid(error)}`);
    throw error;
  }
}

async function probeEnd(sandbox: Sandbox, id: string): Promise<number | null> {
  const state = await engineCall('exec inspect', CALL_MS.quick, () => sandbox.docker.getExec(id).inspect());
  return state.Running ? null : (state.ExitCode ?? null);
}
