/** The gateway through its real sockets, against an upstream that does what a test tells it. */
import { mkdtemp, readdir } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { controlPath, createGatewayClient, SOCKET, startGateway } from '../../../gateway/index.ts';
import type { CallResult, Caller, Gateway, Ledger, Reserved, WantedCall } from '../../../gateway/index.ts';
import { removeTree } from '../../../sandbox/owned-directory.ts';
import { until } from '../../support/stack.ts';

/** What a client sees of a connection that ends in the middle. */
const CUT = /cut|aborted|hang up|ECONNRESET|terminated/;
const KEY = 'the-real-key-that-nobody-sees';
const caller: Caller = { run: 'r', task: 't', attempt: 1, role: 'worker', model: 'm' };
const MESSAGE = { model: 'm', max_tokens: 10, messages: [] };

let dir: string;
let upstream: Server;
let seen: { headers: IncomingMessage['headers']; url: string; body: string }[];
let answer: (response: ServerResponse, request: IncomingMessage) => void;
let gateway: Gateway;
let settled: { call: WantedCall; result: CallResult }[];
let reserve: (call: WantedCall) => Reserved;
let logged: string;

const open = new Map<string, WantedCall>();
const ledger: Ledger = {
  async reserve(call) {
    await Promise.resolve();
    const reserved = reserve(call);
    if (reserved.ok) open.set(call.id, call);
    return reserved;
  },
  async settle(call, result) {
    await Promise.resolve();
    settled.push({ call, result });
    open.delete(call.id);
  },
};
const log = {
  info: (fields: object, text: string) => (logged += JSON.stringify({ ...fields, text })),
  warn: (fields: object, text: string) => (logged += JSON.stringify({ ...fields, text })),
};
const start = async (): Promise<Gateway> =>
  startGateway({
    dir: join(dir, 'gw'),
    upstreams: {
      anthropic: {
        url: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
        key: async () => KEY,
        requestsPerMinute: null,
        tokensPerMinute: null,
      },
    },
    ledger,
    mcp: null,
    log,
    onBudget: () => undefined,
  });

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'swarmline-gateway-'));
  [seen, settled, logged] = [[], [], ''];
  open.clear();
  reserve = () => ({ ok: true });
  answer = (response) => response.writeHead(200, { 'content-type': 'application/json' }).end(done(1));
  upstream = createServer((incoming, response) => {
    let body = '';
    incoming.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    incoming.on('end', () => {
      seen.push({ headers: incoming.headers, url: incoming.url ?? '', body });
      answer(response, incoming);
    });
  });
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  gateway = await start();
});
afterEach(async () => {
  await gateway.stop();
  upstream.close();
  upstream.closeAllConnections();
  await removeTree(dir);
});

const done = (output: number): string => JSON.stringify({ usage: { input_tokens: 7, output_tokens: output } });
const client = () => createGatewayClient(controlPath(join(dir, 'gw')));

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}
/** One request through a socket, as the forwarder in a container would make it. */
function ask(
  socketDir: string,
  body: string | Buffer = JSON.stringify(MESSAGE),
  more: {
    method?: string;
    path?: string;
    headers?: Record<string, string>;
    signal?: AbortSignal;
    onChunk?: (text: string) => void;
  } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { onChunk, ...options } = more;
    const asked = request(
      { socketPath: join(socketDir, SOCKET), method: 'POST', path: '/v1/messages', ...options },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
          onChunk?.(chunk);
        });
        response.on('error', reject);
        response.on('aborted', () => reject(new Error('cut')));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      },
    );
    asked.on('error', reject);
    asked.end(body);
  });
}
/** Bytes as they are; what comes back until the other side ends. */
async function raw(socketDir: string, text: string): Promise<string> {
  const socket = connect(join(socketDir, SOCKET));
  socket.write(text);
  let back = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (back += chunk));
  socket.on('error', () => undefined);
  await once(socket, 'close');
  return back;
}

describe('a model call', () => {
  test('goes to the upstream with our key and without what the agent sent as its own, and is counted by the provider’s words', async () => {
    const at = await client().open(caller);
    const agent = { 'x-api-key': 'agent-key', authorization: 'Bearer agent-key', cookie: 'c=1', host: 'evil.example' };
    const { status, text } = await ask(at, undefined, { path: '/v1/messages?beta=true', headers: agent });
    expect([status, text]).toEqual([200, done(1)]);
    expect(seen[0]).toMatchObject({ url: '/v1/messages?beta=true', headers: { 'x-api-key': KEY } });
    expect(JSON.stringify(seen)).not.toMatch(/agent-key|evil|c=1/);
    await until('it is settled', async () => settled.length === 1);
    expect(settled[0]).toMatchObject({
      call: { caller, upstream: 'anthropic', model: 'm' },
      result: { end: 'done', status: 200, estimated: false, usage: { inputTokens: 7, outputTokens: 1 } },
    });
  });

  test('streams as the upstream sends, an event at a time, without waiting for the next', async () => {
    const at = await client().open(caller);
    let next: () => void = () => undefined;
    answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"one":1}\n\n');
      next = () => response.end('data: {"usage":{"input_tokens":3,"output_tokens":4}}\n\n');
    };
    // The upstream ends only when the agent has read the first event: a gateway that buffers would hang here.
    const { text } = await ask(at, undefined, { onChunk: (chunk) => chunk.includes('one') && next() });
    expect(text).toContain('output_tokens');
    await until('it is settled', async () => settled.length === 1);
    expect(settled[0]!.result.usage).toMatchObject({ inputTokens: 3, outputTokens: 4 });
  });

  test('refused with 429 and 529 waits as long as the upstream said, and succeeds; the agent sees none of it', async () => {
    const at = await client().open(caller);
    const statuses = [429, 529, 200];
    answer = (response) => {
      const status = statuses.shift() ?? 200;
      if (status === 200) response.writeHead(200, { 'content-type': 'application/json' }).end(done(1));
      else response.writeHead(status, { 'retry-after': '0.2' }).end('{}');
    };
    expect((await ask(at)).status).toBe(200);
    await until('it is settled', async () => settled.length === 1);
    expect(settled[0]!.result).toMatchObject({ end: 'done', retries: 2 });
    expect(settled[0]!.result.waitedMs).toBeGreaterThanOrEqual(400);
  });

  test('to an upstream that refuses the key fails without a word of it', async () => {
    const at = await client().open(caller);
    answer = (response) => response.writeHead(401).end(`Incorrect API key provided: ${KEY}`);
    const { status, text } = await ask(at);
    expect([status, text.includes(KEY)]).toEqual([502, false]);
    expect(logged).not.toContain(KEY);
  });

  test('that the upstream cuts in the middle is cut for the agent, and counted as far as it came', async () => {
    const at = await client().open(caller);
    answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"message":{"usage":{"input_tokens":9,"output_tokens":1}}}\n\n', () => response.destroy());
    };
    await expect(ask(at)).rejects.toThrow(CUT);
    await until('it is settled', async () => settled.length === 1);
    expect(settled[0]!.result).toMatchObject({ end: 'failed', estimated: true, usage: { inputTokens: 9 } });
  });

  test('of an agent that disconnects ends at the upstream too, and frees its place', async () => {
    const at = await client().open(caller);
    const ended = new Promise<void>((resolve) => {
      answer = (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('data: {"one":1}\n\n');
        response.on('close', resolve);
      };
    });
    const leaving = new AbortController();
    const asked = ask(at, undefined, { signal: leaving.signal, onChunk: () => leaving.abort() });
    await expect(asked).rejects.toThrow(CUT);
    await ended;
    await until('it is settled', async () => settled.length === 1);
    expect(settled[0]!.result).toMatchObject({ end: 'aborted', estimated: true, usage: { outputTokens: 0 } });
    expect(open.size).toBe(0);
  });

  test('that was sent and never answered is counted by our estimate: the agent left, or the upstream cut it before its first byte', async () => {
    const at = await client().open(caller);
    const estimated = expect.objectContaining({
      inputTokens: Math.ceil(JSON.stringify(MESSAGE).length / 3),
    }) as unknown;
    const leaving = new AbortController();
    answer = () => leaving.abort();
    await expect(ask(at, undefined, { signal: leaving.signal })).rejects.toThrow(CUT);
    await until('it is settled', async () => settled.length === 1);
    expect(settled[0]!.result).toMatchObject({ end: 'aborted', status: null, estimated: true, usage: estimated });

    let asked = 0;
    answer = (response) =>
      ++asked === 1 ? response.destroy() : response.writeHead(200, { 'content-type': 'application/json' }).end(done(1));
    expect((await ask(at)).status).toBe(200);
    await until('it is settled', async () => settled.length === 2);
    expect(settled[1]!.result).toMatchObject({ end: 'done', status: 200, estimated: true, retries: 1 });
    expect(settled[1]!.result.usage).toMatchObject({
      inputTokens: 7 + Math.ceil(JSON.stringify(MESSAGE).length / 3),
      outputTokens: 1,
    });
  });

  test('that could not be sent is not counted', async () => {
    const at = await client().open(caller);
    upstream.close();
    const leaving = new AbortController();
    const asked = ask(at, undefined, { signal: leaving.signal });
    await until('it has a place', async () => open.size === 1);
    setTimeout(() => leaving.abort(), 100);
    await expect(asked).rejects.toThrow(CUT);
    await until('it is settled', async () => settled.length === 1);
    expect(settled[0]!.result).toMatchObject({ end: 'aborted', estimated: false, usage: { inputTokens: 0 } });
  });

  test('waits at a limit instead of failing, and goes on when there is room', async () => {
    const at = await client().open(caller);
    reserve = () => ({ ok: false, refusal: 'budget', why: 'spent', retryMs: 20 });
    const asked = ask(at);
    await until('it waits', async () => gateway.waiting().some(({ refusal }) => refusal === 'budget'));
    expect(seen).toEqual([]);
    reserve = () => ({ ok: true });
    expect((await asked).status).toBe(200);
  });
});

describe('refused', () => {
  test('other paths, absolute URLs, CONNECT, both length headers, upgrade', async () => {
    const at = await client().open(caller);
    expect((await ask(at, '{}', { path: '/v1/files' })).status).toBe(404);
    expect((await ask(at, '{}', { path: 'http://169.254.169.254/latest' })).status).toBe(403);
    expect(await raw(at, 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n')).toContain('405');
    const smuggled =
      'POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /secret HTTP/1.1\r\n\r\n';
    expect(await raw(at, smuggled)).toContain('400');
    expect(await raw(at, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n')).toContain('403');
    expect(await raw(at, `GET / HTTP/1.1\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`)).toContain('431');
    expect(seen).toEqual([]);
  });

  test('a body over the limit, said or unsaid, and one that is no model request', async () => {
    const at = await client().open(caller);
    const large = Buffer.alloc(9 * 1024 ** 2, 'x');
    expect((await ask(at, large)).status).toBe(413);
    expect((await ask(at, large, { headers: { 'transfer-encoding': 'chunked' } })).status).toBe(413);
    expect((await ask(at, 'not json')).status).toBe(400);
    expect((await ask(at, JSON.stringify({ ...MESSAGE, model: 'dearer' }))).text).toContain('given the model m');
    expect((await ask(at, '{"model":"m"}', { path: '/v1/responses' })).text).toContain('has no openai upstream');
    expect(seen).toEqual([]);
  });

  test('an attempt that has ended: its socket is gone, and what was under way is cut', async () => {
    const at = await client().open(caller);
    answer = (response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
    const asked = ask(at);
    asked.catch(() => undefined);
    await until('it is under way', async () => open.size === 1);
    await client().close(caller);
    await expect(asked).rejects.toThrow(CUT);
    await expect(ask(at)).rejects.toThrow(/ENOENT/);
    await until('it is settled', async () => open.size === 0);
    expect(await readdir(join(dir, 'gw', 'attempts'))).toEqual([]);
  });
});

test('sockets are the same again after the gateway was started anew, and each attempt has its own', async () => {
  const at = await client().open(caller);
  expect(await client().open(caller)).toBe(at);
  const other = await client().open({ ...caller, attempt: 2 });
  expect(other).not.toBe(at);
  await gateway.stop();
  await expect(ask(at)).rejects.toThrow(/ECONNREFUSED|ENOENT/);
  gateway = await start();
  expect((await ask(at)).status).toBe(200);
  await ask(other);
  await until('both are settled', async () => settled.length === 2);
  expect(settled.map(({ call }) => call.caller.attempt)).toEqual([1, 2]);
});

test('two reviewers of one attempt have a socket each, counted for itself; the end of one is not the other’s', async () => {
  const seated = ['review-1', 'review-2'].map((seat) => ({ ...caller, role: 'reviewer', seat }));
  const [first, second] = await Promise.all(seated.map((one) => client().open(one)));
  expect(first).not.toBe(second);
  expect(first).not.toBe(await client().open(caller));
  await ask(first!);
  await client().close(seated[0]!);
  await expect(ask(first!)).rejects.toThrow(/ENOENT/);
  expect((await ask(second!)).status).toBe(200);
  await until('both are settled', async () => settled.length === 2);
  expect(settled.map(({ call }) => call.caller.seat)).toEqual(['review-1', 'review-2']);
});

test('a worker that asks while the gateway is away waits for it', async () => {
  await gateway.stop();
  const asked = client().open(caller);
  gateway = await start();
  expect((await ask(await asked)).status).toBe(200);
});
