/** A hostile agent in a real container, behind the real gateway, beside a real Temporal, Postgres and Docker engine. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { EGRESS_DIR, ENGINE_DIR } from '../../../engines/index.ts';
import { FORWARDER, FORWARDER_PORT } from '../../../engines/forwarder.ts';
import { controlPath, createGatewayClient, createMcp, SOCKET, startGateway } from '../../../gateway/index.ts';
import type { Caller, GatewayClient, ToolPort, WantedCall } from '../../../gateway/index.ts';
import { openTestStack } from '../../support/stack.ts';
import type { TestStack } from '../../support/stack.ts';
import { openBench } from '../sandbox/fixture.ts';
import type { Bench } from '../sandbox/fixture.ts';

export const KEY = 'sk-the-real-key-0a1b';
const MIB = 2 ** 20;

/** What an agent told, by name. */
export type Said = ReadonlyMap<string, string>;

export interface Egress {
  readonly bench: Bench;
  readonly stack: TestStack;
  readonly client: GatewayClient;
  readonly controlSocket: string;
  readonly upstreamPort: number;
  /** What came to the upstream. */
  readonly asked: readonly { headers: IncomingHttpHeaders; url: string; body: string }[];
  /** Bytes of a long answer that the upstream could get rid of. */
  sentBytes(): number;
  /** Calls that the gateway let through. */
  readonly reserved: readonly WantedCall[];
  /** Runs a program in a sandbox that has this attempt's socket. It has to exit with 0. */
  agent(program: string, caller: Caller): Promise<Said>;
  close(): Promise<void>;
}

/** What runs beside the forwarder, as an agent program does, can say with these. */
const LIBRARY = `
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
const SOCKET = '${EGRESS_DIR}/${SOCKET}';
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const ask = (path, body = '{"model":"m","messages":[]}', more = {}) =>
  fetch('http://127.0.0.1:${FORWARDER_PORT}' + path, { method: 'POST', body, ...more }).then(async (r) => r.status + ' ' + (await r.text()), (e) => 'failed ' + (e.cause?.code ?? e));
/** Bytes as they are, one part after the other; gives the first line of each answer. */
const raw = async (...parts) => {
  const socket = net.connect(SOCKET);
  let back = '', ended = false;
  socket.setEncoding('latin1').on('data', (d) => (back += d)).on('error', (e) => (back += ' ' + e.code)).on('close', () => (ended = true));
  for (const part of parts) {
    if (typeof part === 'number') await sleep(part);
    else if (typeof part === 'function') { for (let i = 0; !ended && part(i) !== null; i++) { if (!socket.write(part(i))) await Promise.race([new Promise((r) => socket.once('drain', r)), new Promise((r) => socket.once('close', r))]); await sleep(part.pause ?? 0); } }
    else socket.write(part);
  }
  for (let i = 0; !ended && i < 100 && !(parts.length < 9 && /\\r\\n\\r\\n/.test(back) && i > 4); i++) await sleep(50);
  socket.destroy();
  return (back.match(/HTTP\\/1\\.1 \\d+/g) ?? []).map((line) => line.slice(9)).join(' ') || 'no answer' + back;
};
/** Can something be connected to, and what does it say? */
const reach = (target) => new Promise((done) => {
  const socket = net.connect(target);
  socket.setTimeout(3000);
  socket.on('connect', () => done('REACHED')).on('error', (e) => done(e.code)).on('timeout', () => done('TIMEOUT')).on('close', () => done('closed'));
});
const tell = (name, value) => console.log(JSON.stringify([name, value]));
const attack = (name, act) => Promise.resolve().then(act).then((value) => tell(name, value ?? 'DONE'), (error) => tell(name, error.code ?? String(error)));
`;

export async function openEgress(): Promise<Egress> {
  const bench = openBench();
  const stack = await openTestStack({ workers: [] });
  const asked: { headers: IncomingHttpHeaders; url: string; body: string }[] = [];
  const reserved: WantedCall[] = [];
  const { server, sentBytes } = await startUpstream(asked);
  const upstreamPort = (server.address() as AddressInfo).port;
  const dir = join(bench.stateDir, 'gw');
  const log = { info: () => undefined, warn: () => undefined };
  const url = `http://127.0.0.1:${upstreamPort}`;
  const gateway = await startGateway({
    dir,
    upstreams: {
      anthropic: { url, key: () => Promise.resolve(KEY), requestsPerMinute: null, tokensPerMinute: null },
    },
    ledger: {
      reserve: (call) => Promise.resolve(void reserved.push(call)).then(() => ({ ok: true }) as const),
      settle: () => Promise.resolve(),
    },
    mcp: createMcp({ readLog: () => Promise.resolve([]) } as unknown as ToolPort, log),
    log,
    onBudget: () => undefined,
  });
  const client = createGatewayClient(controlPath(dir));
  return {
    bench,
    stack,
    client,
    controlSocket: controlPath(dir),
    upstreamPort,
    asked,
    reserved,
    sentBytes,
    async agent(program, caller) {
      const files = join(bench.stateDir, `in-${Math.random().toString(36).slice(2)}`);
      mkdirSync(files);
      writeFileSync(join(files, 'forward.mjs'), FORWARDER);
      writeFileSync(join(files, 'program.mjs'), LIBRARY + program);
      const request = bench.request(['node', `${ENGINE_DIR}/forward.mjs`, 'node', `${ENGINE_DIR}/program.mjs`], {
        mounts: [
          { source: files, target: ENGINE_DIR, readOnly: true },
          { source: await client.open(caller), target: EGRESS_DIR, readOnly: true },
        ],
      });
      const { end, exitCode } = await bench.sandbox.runStep(request, {});
      const output = readFileSync(request.outputFile, 'utf8');
      if (end !== 'exited' || exitCode !== 0) throw new Error(`The agent ended "${end}" (${exitCode}): ${output}`);
      const lines = output.split('\n').filter((line) => line.startsWith('['));
      return new Map(lines.map((line) => JSON.parse(line) as [string, string]));
    },
    async close() {
      await gateway.stop();
      server.closeAllConnections();
      server.close();
      await stack.stop();
      await bench.close();
    },
  };
}

/** Says in every answer, in headers that are not to pass, what it was sent as the key; a long answer goes on for as long as somebody reads. */
async function startUpstream(
  asked: { headers: IncomingHttpHeaders; url: string; body: string }[],
): Promise<{ server: Server; sentBytes: () => number }> {
  let sent = 0;
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      asked.push({ headers: request.headers, url: `${request.method} ${request.url}`, body });
      response.writeHead(200, { 'content-type': 'application/json', 'x-key': KEY, 'set-cookie': KEY });
      if (!body.includes('a long answer')) return response.end('{"fine":true}');
      const more = (): void => {
        while (!response.destroyed && sent < 512 * MIB) {
          sent += MIB;
          if (!response.write(Buffer.alloc(MIB, 'x'))) return void response.once('drain', more);
        }
      };
      return more();
    });
  });
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  return { server, sentBytes: () => sent };
}
