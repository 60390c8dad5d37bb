/**
 * What the gateway adds to a model call, against the same call made directly: the real process with its socket and its ledger in Postgres,
 * an upstream in this process that streams. Then many streams held open at once, and the memory of the gateway meanwhile.
 */
import { createServer, request } from 'node:http';
import type { Server } from 'node:http';
import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Progress } from '../cli/progress.ts';
import { readRunning } from '../cli/setup/process.ts';
import { isolatedEnvironment, startStack } from '../cli/setup/stack.ts';
import { workerPidFile } from '../cli/setup/worker-processes.ts';
import { controlPath, createGatewayClient, SOCKET } from '../gateway/index.ts';
import { removeTree } from '../sandbox/owned-directory.ts';
import type { CompiledSpec } from '../spec/model.ts';
import { connect, saveRun } from '../store/index.ts';
import { usageOf } from './processes.ts';
import { row } from './row.ts';
import type { Row } from './row.ts';

/** The issue that asked for it: at least 200 open streams in under 300 MB. */
const STREAMS = 200;
const MEMORY_BUDGET_MIB = 300;
const MIB = 2 ** 20;
/** Connections of one attempt are limited; agents have one or two. */
const STREAMS_OF_AN_ATTEMPT = 20;

const BODY = JSON.stringify({
  model: 'm',
  stream: true,
  max_tokens: 100,
  messages: [{ role: 'user', content: 'x'.repeat(20_000) }],
});
const EVENT =
  'event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"type":"text_delta","text":"some words"}}\n\n';
const END = 'event: message_delta\ndata: {"type":"message_delta","usage":{"input_tokens":5000,"output_tokens":20}}\n\n';

export async function gateway({
  pairs,
  progress,
}: {
  readonly pairs: number;
  readonly progress: Progress;
}): Promise<Row[]> {
  const stateDir = await mkdtemp(join(tmpdir(), 'swarmline-bench-gateway-'));
  const upstream = await startUpstream();
  const port = (upstream.server.address() as AddressInfo).port;
  await writeFile(join(stateDir, 'upstreams.json'), JSON.stringify({ anthropic: { url: `http://127.0.0.1:${port}` } }));
  const given = { ...(await isolatedEnvironment(stateDir)), SWARMLINE_UPSTREAMS: join(stateDir, 'upstreams.json') };
  const stack = await startStack(given, { workers: ['gateway'], progress });
  try {
    const db = connect(stack.env['DATABASE_URL'] ?? '', { max: 1 });
    const budget = { usd: null, tokens: null, modelCalls: 10_000, roles: {}, task: { usd: null, tokens: null } };
    await saveRun(db, { id: 'bench', spec: { name: 'bench', budget } as unknown as CompiledSpec });
    await db.end();
    const client = createGatewayClient(controlPath(join(stateDir, 'gateway')));
    const attempt = (n: number): Promise<string> =>
      client.open({ run: 'bench', task: `t${n}`, attempt: 1, role: 'worker', model: 'm' });
    const pid = (await readRunning(workerPidFile(stack.settings, 'gateway')))?.pid ?? 0;
    const memory = async (): Promise<number> => ((await usageOf(pid))?.rssBytes ?? 0) / MIB;

    const socketPath = join(await attempt(0), SOCKET);
    const direct: Timed[] = [];
    const through: Timed[] = [];
    await progress.step(`${pairs} pairs of calls`, async () => {
      for (let n = -5; n < pairs; n++) {
        // The first ones warm both ways up.
        const one = [await call({ port }), await call({ socketPath })] as const;
        if (n < 0) continue;
        direct.push(one[0]);
        through.push(one[1]);
      }
    });
    const idle = await memory();
    const held = await progress.step(`${STREAMS} streams at once`, async () => {
      const sockets = await Promise.all(
        Array.from({ length: STREAMS / STREAMS_OF_AN_ATTEMPT }, async (_, n) => join(await attempt(n + 1), SOCKET)),
      );
      upstream.hold();
      const calls = Array.from({ length: STREAMS }, (_, n) => call({ socketPath: sockets[n % sockets.length]! }));
      while (upstream.held() < STREAMS) await new Promise((resolve) => setTimeout(resolve, 20));
      const mib = await memory();
      upstream.release();
      const ended = await Promise.allSettled(calls);
      return { mib, whole: ended.filter(({ status }) => status === 'fulfilled').length };
    });
    const at = (calls: readonly Timed[], what: keyof Timed, share: number): number =>
      quantile(
        calls.map((one) => one[what]),
        share,
      );
    const compared = (name: string, what: keyof Timed, share: number): Row =>
      row({
        name: `gateway: ${name}`,
        value: at(through, what, share),
        unit: 'ms',
        peer: { name: 'the same call, made directly', value: at(direct, what, share) },
      });
    const added = (share: number): number => at(through, 'firstMs', share) - at(direct, 'firstMs', share);
    return [
      compared('first byte, p50', 'firstMs', 0.5),
      compared('first byte, p99', 'firstMs', 0.99),
      compared('whole call, p50', 'wholeMs', 0.5),
      compared('whole call, p99', 'wholeMs', 0.99),
      row({ name: 'gateway: added until the first byte, p50', value: added(0.5), unit: 'ms' }),
      row({ name: 'gateway: added until the first byte, p99', value: added(0.99), unit: 'ms' }),
      row({ name: `gateway: streams of ${STREAMS} that came whole`, value: held.whole, unit: 'streams' }),
      row({ name: 'gateway: memory, idle', value: idle, unit: 'MiB' }),
      row({
        name: `gateway: memory with ${STREAMS} streams open`,
        value: held.mib,
        unit: 'MiB',
        budget: MEMORY_BUDGET_MIB,
      }),
    ];
  } finally {
    await stack.stop();
    upstream.server.close();
    upstream.server.closeAllConnections();
    await removeTree(stateDir);
  }
}

interface Timed {
  readonly firstMs: number;
  readonly wholeMs: number;
}

function call(to: { port: number } | { socketPath: string }): Promise<Timed> {
  const from = performance.now();
  return new Promise((resolve, reject) => {
    const asked = request({ ...to, method: 'POST', path: '/v1/messages', agent: false }, (response) => {
      let firstMs: number | null = null;
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        firstMs ??= performance.now() - from;
        text += chunk;
      });
      response.on('aborted', () => reject(new Error('cut')));
      response.on('end', () => {
        if (!text.endsWith(END)) reject(new Error(`answered ${response.statusCode}: ${text.slice(0, 200)}`));
        else resolve({ firstMs: firstMs ?? 0, wholeMs: performance.now() - from });
      });
    });
    asked.on('error', reject);
    asked.end(BODY);
  });
}

/** Streams 20 events at once; while it holds, only the first, and the rest when it is released. */
async function startUpstream(): Promise<{ server: Server; hold(): void; held(): number; release(): void }> {
  const waiting: (() => void)[] = [];
  let holding = false;
  const server = createServer((incoming, response) => {
    incoming.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(EVENT);
      const rest = (): void => {
        for (let n = 1; n < 20; n++) response.write(EVENT);
        response.end(END);
      };
      if (holding) waiting.push(rest);
      else rest();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    server,
    hold: () => void (holding = true),
    held: () => waiting.length,
    release: () => {
      holding = false;
      for (const rest of waiting.splice(0)) rest();
    },
  };
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}
