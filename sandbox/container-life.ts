/** Making, attaching, starting, awaiting one container: the engine's calls in the order that has no race. */
import type Docker from 'dockerode';
import type { Duplex } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import { CALL_MS, engineCall, engineDone, statusOf } from './engine-call.ts';
import { ImageMissing, InfrastructureFault, RequestRefused } from './faults.ts';
import { removeContainer } from './remove.ts';
import { opaque } from './opaque.ts';

/** What the engine said, for people; never decided by. */
export function engineSaid(error: unknown): string {
  const message = (error as { json?: { message?: unknown } }).json?.message;
  return typeof message === 'string' ? message : error instanceof Error ? error.message : String(error);
}

/** Creates the container, removing whatever holds its name: the name is of this step, so the other is a try that is over. */
export async function createContainer(docker: Docker, options: Docker.ContainerCreateOptions): Promise<string> {
  const name = options.name ?? '';
  for (let tries = 1; ; tries += 1) {
    try {
      const made = await engineCall('container create', CALL_MS.create, (abortSignal) =>
        docker.createContainer({ ...options, abortSignal }),
      );
      return made.id;
    } catch (error) {
      const status = statusOf(error);
      if (status === 409 && tries < 5) await removeContainer(docker, name);
      else if (status === 404) throw new ImageMissing(options.Image ?? '', engineSaid(error));
      else if (status === 400)
        throw new RequestRefused(`The engine refused the container: ${engineSaid(error)}`, { cause: error });
      else if (status === null) throw error;
      else
        throw new InfrastructureFault(`The engine could not create a container: ${engineSaid(error)}`, {
          cause: error,
        });
    }
  }
}

/** Output of the container from its first byte: attach before start. `hijack` without stdin, or the modem half-closes wrongly. */
export async function attachContainer(docker: Docker, id: string): Promise<Duplex> {
  const stream = await engineCall('container attach', CALL_MS.create, () =>
    docker.getContainer(id).attach({
      stream: true,
      stdout: true,
      stderr: true,
      hijack: true,
      stdin: false,
    }),
  );
  return stream as Duplex;
}

/** Rejects with the engine's own error when the command cannot be started. 304: it runs already. */
export async function startContainer(docker: Docker, id: string): Promise<void> {
  await engineDone('container start', CALL_MS.start, [304], (abortSignal) =>
    docker.getContainer(id).start({ abortSignal }),
  );
}

export interface ContainerState {
  readonly running: boolean;
  readonly exitCode: number;
  readonly oomKilled: boolean;
}

/** null: the engine does not know the container (any more). */
export async function inspectState(docker: Docker, id: string): Promise<ContainerState | null> {
  try {
    const { State } = await engineCall('container inspect', CALL_MS.quick, (abortSignal) =>
      docker.getContainer(id).inspect({ abortSignal } as object),
    );
    return {
      running: State.Running || State.Paused || State.Restarting,
      exitCode: State.ExitCode,
      oomKilled: State.OOMKilled,
    };
  } catch (error) {
    if (statusOf(error) === 404) return null;
    throw error;
  }
}

/**
 * Resolves when the engine says that the container stopped; call it after start ("next-exit" before start hung 1 in 300 times).
 * Rejects with InfrastructureFault when the connection ends first. container.wait() of dockerode would never settle then, since
 * docker-modem ignores a response that breaks off after its headers: hence the raw response here.
 */
export async function waitStopped(docker: Docker, id: string, signal: AbortSignal): Promise<void> {
  const lost = (cause?: unknown): InfrastructureFault =>
    new InfrastructureFault(`The Docker engine went away while container ${id.slice(0, 12)} ran.`, { cause });
  await new Promise<void>((resolve, reject) => {
    docker.modem.dial(
      {
        path: `/containers/${id}/wait?`,
        method: 'POST',
        options: { condition: 'not-running' },
        isStream: true,
        abortSignal: opaque(signal, 'signal'),
        statusCodes: { 200: true, 404: 'no such container', 500: 'server error' },
      },
      (error: unknown, answer: unknown) => {
        if (error !== null && error !== undefined) {
          reject(statusOf(error) === null ? lost(error) : (error as Error));
          return;
        }
        const response = answer as IncomingMessage;
        const body: Buffer[] = [];
        response.on('data', (chunk: Buffer) => body.push(chunk));
        response.on('error', (cause) => reject(lost(cause)));
        response.on('close', () => (response.complete && body.length > 0 ? resolve() : reject(lost())));
      },
    );
  });
}
