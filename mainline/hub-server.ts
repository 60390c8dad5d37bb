/**
 * The hubs of this machine over HTTP, for sandbox hosts.
 *
 * 1. Every request but /healthz needs the bearer token; it is compared in constant time.
 * 2. Hosts fetch, and hand packs in. Refs of the line move through the mainline worker alone.
 * 3. A pack is bounded and goes through quarantine (intake.ts). Sent twice, taken once.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { HubError, IntakeRefused } from './errors.ts';
import { openHub } from './hub.ts';
import type { Hub } from './hub.ts';
import { parseClaim, parseRoute } from './hub-http.ts';
import type { HubRoute, ProblemAnswer } from './hub-http.ts';
import { INTAKE_LIMITS } from './intake-limits.ts';
import type { IntakeLimits } from './intake-limits.ts';
import { BodyTooLarge, advertise, capped, uploadPack } from './upload-pack.ts';

export interface HubServerOptions {
  /** Directory of `<run>.git` hubs. */
  readonly root: string;
  readonly token: string;
  /** 0: any free one. */
  readonly port: number;
  /** Address to listen on, e.g. 127.0.0.1. */
  readonly host: string;
  readonly limits?: IntakeLimits;
  /** Called with what nobody expected; nothing of it goes to the client. */
  readonly onError?: (error: unknown) => void;
}

export interface HubServer {
  readonly url: string;
  /** Stops listening and ends open connections. */
  close(): Promise<void>;
}

export async function startHubServer(options: HubServerOptions): Promise<HubServer> {
  if (options.token.length < 16) throw new HubError('The hub token must have at least 16 characters');
  const limits = options.limits ?? INTAKE_LIMITS;
  const server = createServer((request, response) => {
    handle(options, limits, request, response).catch((error: unknown) => {
      options.onError?.(error);
      if (response.headersSent) response.destroy();
      else answer(response, 500, { error: 'The hub failed; see the log of the mainline worker.' });
    });
  });
  // Slow hosts with large packs are fine; silent ones are not.
  server.requestTimeout = 30 * 60_000;
  server.headersTimeout = 30_000;
  server.keepAliveTimeout = 5_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  return {
    url: `http://${host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function handle(
  options: HubServerOptions,
  limits: IntakeLimits,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://hub');
  const route = parseRoute(url.pathname);
  const method = request.method ?? 'GET';
  if (route?.kind === 'health') return answer(response, 200, { ok: true });
  const auth = request.headers.authorization;
  if (auth === undefined)
    return answer(response, 401, { error: 'A bearer token is needed (SWARMLINE_HUB_TOKEN).' }, true);
  if (!sameToken(auth, options.token))
    return answer(response, 403, { error: 'The bearer token is not the one of this hub.' });
  if (route === null) return answer(response, 404, { error: 'Nothing here.' });
  if (!methodsOf(route).includes(method)) return answer(response, 405, { error: `${method} is not allowed here.` });
  let hub: Hub;
  try {
    hub = await openHub(join(options.root, `${route.run}.git`));
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    return answer(response, 404, { error: `There is no hub of run ${route.run}.` });
  }
  switch (route.kind) {
    case 'refs':
      if (url.searchParams.get('service') !== 'git-upload-pack')
        return answer(response, 403, { error: 'Hosts fetch only.' });
      return advertise(hub.dir, request, response);
    case 'upload-pack':
      return uploadPack(hub.dir, request, response);
    case 'heads':
      return answer(response, 200, await hub.heads());
    case 'attempt':
      if (method === 'PUT') return takeIn(hub, route, url, limits, request, response);
      return found(response, await hub.findAttempt(route.task, route.attempt));
    default:
      return route satisfies never;
  }
}

function methodsOf(route: Exclude<HubRoute, null | { kind: 'health' }>): readonly string[] {
  if (route.kind === 'attempt') return ['GET', 'PUT'];
  return route.kind === 'upload-pack' ? ['POST'] : ['GET'];
}

function found(response: ServerResponse, commit: string | null): void {
  if (commit === null) answer(response, 404, { error: 'The attempt is not here.' });
  else answer(response, 200, { commit });
}

async function takeIn(
  hub: Hub,
  key: { task: string; attempt: number },
  url: URL,
  limits: IntakeLimits,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const claim = parseClaim(url.searchParams);
  if (claim === null) return answer(response, 400, { error: 'commit and base must be object ids.' });
  const tooLarge = { error: `A pack may have ${limits.packBytes} bytes.`, rule: 'too-large', path: '' };
  const refuse = async (status: number, problem: ProblemAnswer): Promise<void> => {
    await drain(request);
    answer(response, status, problem);
  };
  if (Number(request.headers['content-length'] ?? 0) > limits.packBytes) return refuse(413, tooLarge);
  const body = capped(limits.packBytes);
  // Whoever reads it hears of it too; this keeps an error that comes when nobody reads any more from ending the process.
  body.on('error', () => undefined);
  request.on('error', (error) => body.destroy(error));
  request.on('close', () => {
    if (!request.complete) body.destroy(new Error('The host hung up'));
  });
  request.pipe(body);
  try {
    await intake(() => hub.takePack({ task: key.task, attempt: key.attempt, ...claim }, body, limits));
    answer(response, 200, { commit: claim.commit });
  } catch (error) {
    if (error instanceof BodyTooLarge) return refuse(413, tooLarge);
    if (error instanceof IntakeRefused) {
      return refuse(STATUS_OF_RULE[error.rule] ?? 422, { error: error.message, rule: error.rule, path: error.path });
    }
    if (request.destroyed && !request.complete) return;
    throw error;
  }
}

/** Packs being unpacked at once; the rest wait on their sockets, unread. Each is five git processes, and merging needs the CPU too. */
const intake = pLimit(4);

const STATUS_OF_RULE: Readonly<Record<string, number>> = { 'other-commit': 409, 'unknown-base': 424, 'too-large': 413 };

/** How much of a refused body is read, and for how long, so that the host hears the answer instead of a broken connection. */
const DRAIN_BYTES = 1024 ** 3;
const DRAIN_MS = 30_000;

async function drain(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return;
  await new Promise<void>((resolve) => {
    let bytes = 0;
    const timer = setTimeout(resolve, DRAIN_MS);
    request.unpipe();
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > DRAIN_BYTES) resolve();
    });
    request.once('end', resolve).once('close', resolve).once('error', resolve);
    request.resume();
    timer.unref();
  });
}

function answer(response: ServerResponse, status: number, body: ProblemAnswer | object, challenge = false): void {
  const text = `${JSON.stringify(body)}\n`;
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
    ...(challenge ? { 'WWW-Authenticate': 'Bearer realm="swarmline hub"' } : {}),
    // What is left of a refused body is not read.
    ...(status >= 400 ? { Connection: 'close' } : {}),
  });
  response.end(text);
}

/** Equal length first, by hashing: the comparison takes as long for every guess. */
function sameToken(header: string, token: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(header), digest(`Bearer ${token}`));
}
