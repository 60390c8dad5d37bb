/**
 * How the host's worker opens and closes attempts: HTTP over a socket that only the worker's own user can reach.
 */
import { chmod, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { Server } from 'node:http';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { readBody } from './request.ts';
import type { Sockets } from './sockets.ts';
import type { Caller } from './types.ts';

const Asked = z.object({
  run: z.string().min(1),
  task: z.string(),
  attempt: z.number().int().nonnegative(),
  role: z.string().min(1),
  seat: z.string().exactOptional(),
  model: z.string().nullable(),
});
const Answer = z.object({ dir: z.string() });

/** @param wake called on POST /wake: a limit has changed, whoever waits may go on */
export async function serveControl(path: string, sockets: Sockets, wake: () => void): Promise<Server> {
  const server = createServer((incoming, response) => {
    void (async () => {
      if (incoming.method === 'POST' && incoming.url === '/wake') wake();
      else if (incoming.method === 'PUT' || incoming.method === 'DELETE') {
        const caller = Asked.parse(JSON.parse((await readBody(incoming, 65_536)).toString('utf8')));
        if (incoming.method === 'PUT') return response.end(JSON.stringify({ dir: await sockets.open(caller) }));
        await sockets.close(caller);
      }
      return response.end('{}');
    })().catch((error: unknown) => response.writeHead(500).end(JSON.stringify({ error: String(error) })));
  });
  await rm(path, { force: true });
  server.listen(path);
  await once(server, 'listening');
  await chmod(path, 0o600);
  return server;
}

export class GatewayAway extends Error {
  override readonly name = 'GatewayAway';
}

export interface GatewayClient {
  /** Directory to mount into the attempt's container. Waits while the gateway starts. Throws GatewayAway. */
  open(caller: Caller, signal?: AbortSignal): Promise<string>;
  /** When it returns, no call of the attempt is under way. */
  close(caller: Caller): Promise<void>;
}

/** For how long a gateway that does not answer is taken to be starting again. */
const AWAY_MS = 60_000;

/** @param path of the control socket */
export function createGatewayClient(path: string): GatewayClient {
  const ask = async (method: string, caller: Caller, signal?: AbortSignal): Promise<string> => {
    const deadline = Date.now() + AWAY_MS;
    for (;;) {
      try {
        return await exchange(path, method, JSON.stringify(caller));
      } catch (error) {
        const away = ['ECONNREFUSED', 'ENOENT', 'ECONNRESET', 'EPIPE'].includes(
          String((error as NodeJS.ErrnoException).code),
        );
        if (!away) throw error;
        if (Date.now() > deadline) {
          throw new GatewayAway('The gateway of this host does not answer. Type: ./swarmline up', { cause: error });
        }
        await delay(250, undefined, signal === undefined ? {} : { signal });
      }
    }
  };
  return {
    open: async (caller, signal) => Answer.parse(JSON.parse(await ask('PUT', caller, signal))).dir,
    close: async (caller) => void (await ask('DELETE', caller)),
  };
}

function exchange(socketPath: string, method: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request(
      { socketPath, method, path: '/attempts', headers: { 'content-length': Buffer.byteLength(body) } },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('error', reject);
        response.on('end', () =>
          response.statusCode === 200
            ? resolve(text)
            : reject(new Error(`The gateway answered ${response.statusCode}: ${text}`)),
        );
      },
    );
    asked.on('error', reject);
    asked.end(body);
  });
}
