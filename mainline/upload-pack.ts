/**
 * git's smart HTTP, fetch only: two requests, each one run of `git upload-pack`.
 *
 * 1. A host reads; nothing that it sends can move a ref here.
 */
import { spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { Transform as TransformStream } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { closedEnvironment } from './git-process.ts';

/** Wants and haves: some 50 bytes each. */
const REQUEST_BYTES = 16 * 1024 ** 2;
const TIMEOUT_MS = 30 * 60_000;

export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge';
}

/** Passes bytes on until there are too many. */
export function capped(limit: number): Transform {
  let bytes = 0;
  return new TransformStream({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > limit) done(new BodyTooLarge(`More than ${limit} bytes`));
      else done(null, chunk);
    },
  });
}

/** GET /info/refs?service=git-upload-pack */
export async function advertise(hubDir: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  headers(response, 'application/x-git-upload-pack-advertisement');
  const service = '# service=git-upload-pack\n';
  const version2 = protocolOf(request) === 'version=2';
  if (!version2) response.write(`${(service.length + 4).toString(16).padStart(4, '0')}${service}0000`);
  await run(hubDir, ['--advertise-refs'], request, null, response);
}

/** POST /git-upload-pack */
export async function uploadPack(hubDir: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  headers(response, 'application/x-git-upload-pack-result');
  const zipped = request.headers['content-encoding'] === 'gzip';
  const limit = capped(REQUEST_BYTES);
  const body = zipped ? pipe(pipe(request, createGunzip()), limit) : pipe(request, limit);
  await run(hubDir, [], request, body, response);
}

function pipe<T extends Transform>(from: Readable, to: T): T {
  from.on('error', (error) => to.destroy(error));
  return from.pipe(to);
}

function headers(response: ServerResponse, type: string): void {
  response.writeHead(200, { 'Content-Type': type, 'Cache-Control': 'no-cache, no-store, must-revalidate' });
}

function protocolOf(request: IncomingMessage): string | null {
  const asked = request.headers['git-protocol'];
  return typeof asked === 'string' && /^version=[0-2]$/.test(asked) ? asked : null;
}

async function run(
  hubDir: string,
  flags: string[],
  request: IncomingMessage,
  body: Readable | null,
  response: ServerResponse,
): Promise<void> {
  const protocol = protocolOf(request);
  const child = spawn('git', ['-c', 'gc.auto=0', 'upload-pack', '--strict', '--stateless-rpc', ...flags, hubDir], {
    cwd: hubDir,
    env: { ...closedEnvironment(), ...(protocol === null ? {} : { GIT_PROTOCOL: protocol }) },
    stdio: ['pipe', 'pipe', 'ignore'],
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  const stop = (): void => void child.kill('SIGKILL');
  response.on('close', stop);
  child.on('error', stop);
  child.stdin.on('error', () => undefined);
  if (body === null) child.stdin.end();
  else {
    body.on('error', stop);
    body.pipe(child.stdin);
  }
  // The status is out already: a fetch that breaks off is an error to git at the other end.
  await pipeline(child.stdout, response).catch(() => response.destroy());
}
