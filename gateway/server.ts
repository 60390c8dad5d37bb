/**
 * The HTTP server behind one attempt's socket.
 *
 * 1. Whoever asks is the attempt that the socket was made for; what a request says about itself is not looked at.
 * 2. Bounded in everything: connections, header bytes, time for a request to arrive, body (request.ts). Only an answer may take
 *    as long as it takes.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { forward } from './forward.ts';
import type { ForwardDeps } from './forward.ts';
import { RequestRefused } from './refused.ts';
import { readBody, understand } from './request.ts';
import { routeOf } from './routes.ts';
import type { Caller, UpstreamName } from './types.ts';

export interface ServerDeps extends Omit<ForwardDeps, 'upstream' | 'backoff'> {
  /** null: not configured. */
  upstream(name: UpstreamName): Pick<ForwardDeps, 'upstream' | 'backoff'> | null;
  /** The tools of an attempt; null: none here. */
  readonly mcp: ((caller: Caller, request: IncomingMessage, response: ServerResponse) => Promise<void>) | null;
}

const CONNECTIONS = 32;
const ARRIVAL_MS = 30_000;
/** For how long the rest of a refused request is still read, so that its sender gets to read why. */
const LINGER_MS = 1_000;

export function createAttemptServer(caller: Caller, deps: ServerDeps): Server {
  const server = createServer(
    {
      maxHeaderSize: 16 * 1024,
      headersTimeout: 10_000,
      requestTimeout: ARRIVAL_MS,
      keepAliveTimeout: 60_000,
      connectionsCheckingInterval: 5_000,
      requireHostHeader: false,
    },
    (request, response) => {
      answer(caller, request, response, deps).catch((error: unknown) => refuse(request, response, error, deps));
    },
  );
  server.maxConnections = CONNECTIONS;
  // CONNECT and Upgrade: there is no way through but a request.
  server.on('connect', (_request, socket) =>
    socket.end('HTTP/1.1 405 Method Not Allowed\r\nConnection: close\r\n\r\n'),
  );
  server.on('upgrade', (_request, socket) => socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n'));
  return server;
}

async function answer(
  caller: Caller,
  request: IncomingMessage,
  response: ServerResponse,
  deps: ServerDeps,
): Promise<void> {
  const route = routeOf(request.method ?? '', request.url ?? '');
  switch (route.kind) {
    case 'refused':
      throw new RequestRefused(route.status, route.why);
    case 'alive':
      response.writeHead(200).end();
      return;
    case 'mcp':
      if (deps.mcp === null) throw new RequestRefused(404, 'There are no tools here.');
      return deps.mcp(caller, request, response);
    case 'model': {
      const asked = understand(await readBody(request), route.protocol, caller);
      const upstream = deps.upstream(route.upstream);
      if (upstream === null) {
        // Not 5xx: an agent would try it again and again.
        throw new RequestRefused(
          403,
          `This installation has no ${route.upstream} upstream: name one in the file of SWARMLINE_UPSTREAMS, then ./swarmline down && ./swarmline up`,
        );
      }
      return forward(randomUUID(), caller, route, asked, request.headers, response, { ...deps, ...upstream });
    }
  }
}

function refuse(request: IncomingMessage, response: ServerResponse, error: unknown, deps: ServerDeps): void {
  const known = error instanceof RequestRefused;
  if (!known && !response.destroyed) deps.log.warn({ error: String(error) }, 'a request failed');
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const status = known ? error.status : 500;
  const message = known ? error.message : 'The gateway failed on this request.';
  const body = JSON.stringify({ type: 'error', error: { type: 'swarmline_gateway', code: String(status), message } });
  // What was not read of the request would be taken for the next one.
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(body);
  if (request.complete || request.destroyed) return;
  request.on('error', () => undefined).resume();
  setTimeout(() => request.destroy(), LINGER_MS).unref();
}
