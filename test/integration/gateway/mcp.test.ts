/** The tools through an attempt's socket, asked with the protocol's own client. */
import { mkdtemp } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { controlPath, createGatewayClient, createMcp, SOCKET, startGateway } from '../../../gateway/index.ts';
import type { Gateway } from '../../../gateway/index.ts';
import { WRITES } from '../../../gateway/mcp.ts';
import { removeTree } from '../../../sandbox/owned-directory.ts';
import {
  addNotice,
  listDecisions,
  listFlags,
  listLogEntries,
  listScopeRequests,
  saveRun,
  answerScopeRequest,
} from '../../../store/index.ts';
import type { Pool } from '../../../store/index.ts';
import { storeTools } from '../../../workers/tools.ts';
import { startCluster } from '../store/cluster.ts';
import type { Cluster } from '../store/cluster.ts';
import { compiledSpec } from '../store/fixtures.ts';

let cluster: Cluster;
let db: Pool;
let dir: string;
let gateway: Gateway;
const closers: (() => void)[] = [];
beforeAll(async () => {
  cluster = await startCluster();
  db = await cluster.database();
  for (const id of ['r1', 'r2']) await saveRun(db, { id, spec: compiledSpec() });
  dir = await mkdtemp(join(tmpdir(), 'swarmline-mcp-'));
  const log = { info: () => undefined, warn: () => undefined };
  gateway = await startGateway({
    dir,
    upstreams: {},
    ledger: { reserve: async () => ({ ok: true }), settle: async () => undefined },
    mcp: createMcp(
      storeTools(
        db,
        async (_caller, path) => (path === 'a.ts' ? 'export const a: number' : null),
        async ({ run }, { request }) => {
          if (run === 'r1') await answerScopeRequest(db, run, request, { state: 'granted', text: 'Granted: go on' });
          else await answerScopeRequest(db, run, request, { state: 'open', text: 'A person is asked' });
        },
      ),
      log,
    ),
    log,
    onBudget: () => undefined,
  });
});
afterAll(async () => {
  for (const close of closers) close();
  await gateway.stop();
  await removeTree(dir);
  await cluster.stop();
});

/** As in a container: a loopback port that leads to the attempt's socket. */
async function agentOf(run: string, task: string, role = 'worker'): Promise<Client> {
  const at = await createGatewayClient(controlPath(dir)).open({ run, task, attempt: 1, role, model: null });
  const forwarder: Server = createServer((socket) => {
    const out = connect(join(at, SOCKET));
    socket.pipe(out).pipe(socket);
    for (const end of [socket, out]) end.on('error', () => undefined);
  });
  forwarder.listen(0, '127.0.0.1');
  await once(forwarder, 'listening');
  const client = new Client({ name: 'agent', version: '1' });
  const url = new URL(`http://127.0.0.1:${(forwarder.address() as AddressInfo).port}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url) as Parameters<Client['connect']>[0]);
  closers.push(() => {
    void client.close();
    forwarder.close();
  });
  return client;
}
async function use(agent: Client, name: string, input: Record<string, unknown> = {}): Promise<string> {
  const { content, isError } = await agent.callTool({ name, arguments: input });
  const text = (content as { text: string }[]).map((part) => part.text).join('\n');
  return isError === true ? `error: ${text}` : text;
}

test('an agent finds the tools, and what it says is kept under its own task and run', async () => {
  const [a, b, other] = [await agentOf('r1', 'a'), await agentOf('r1', 'b'), await agentOf('r2', 'a')];
  expect((await a.listTools()).tools.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'worklog_read',
      'worklog_add',
      'read_interface',
      'flag_file',
      'request_scope',
      'record_decision',
      'read_notices',
    ]),
  );
  expect(await use(a, 'worklog_add', { kind: 'discovery', text: 'the tests need TZ=UTC' })).toBe('Noted.');
  expect(await use(b, 'worklog_read')).toMatch(/discovery \(a\): the tests need TZ=UTC/);
  expect(await use(other, 'worklog_read')).toBe('The work log is empty.');
  expect(await listLogEntries(db, 'r1')).toMatchObject([{ kind: 'discovery', task: 'a' }]);

  await use(b, 'flag_file', { path: 'src/all.ts', why: 'everybody changes it' });
  expect(await listFlags(db, 'r1')).toMatchObject([{ path: 'src/all.ts', count: 1 }]);
  expect(await use(b, 'request_scope', { paths: ['src/x.ts'], note: 'the type is wrong there' })).toBe(
    'Granted: go on',
  );
  expect(await listScopeRequests(db, 'r1')).toMatchObject([{ task: 'b', paths: ['src/x.ts'], state: 'granted' }]);
  expect(await use(other, 'request_scope', { paths: ['y'], note: 'it is needed' })).toContain('Asked. Go on without');
  expect(await use(a, 'read_interface', { path: 'a.ts' })).toBe('export const a: number');
  expect(await use(a, 'read_interface', { path: 'b.ts' })).toContain('no file b.ts');
});

test('a decision has one owner: who decides the same later is told the first', async () => {
  const [a, b] = [await agentOf('r1', 'c'), await agentOf('r1', 'd')];
  const decision = { id: 'dates', subject: 'dates', text: 'ISO 8601 everywhere' };
  expect(await use(a, 'record_decision', decision)).toBe('Recorded as dates.');
  expect(await use(a, 'record_decision', decision)).toBe('Recorded as dates.');
  expect(await use(b, 'record_decision', { ...decision, text: 'seconds since the epoch' })).toMatch(
    /decided before, by c\/1.*ISO 8601/s,
  );
  expect(await listDecisions(db, 'r1')).toMatchObject([{ id: 'dates', owner: 'c/1' }]);
});

test('notices are read once', async () => {
  const agent = await agentOf('r1', 'e');
  await addNotice(db, 'r1', 'e', { commit: 'c0ffee', byTask: 'f', files: ['a.ts'] });
  await addNotice(db, 'r1', 'e', { commit: 'c0ffee', byTask: 'f', files: ['a.ts'] });
  expect(await use(agent, 'read_notices')).toBe('a.ts changed in c0ffee by task f');
  expect(await use(agent, 'read_notices')).toBe('No notices.');
});

test('what is too long, out of the repository, or too often is refused in words', async () => {
  const agent = await agentOf('r1', 'g');
  expect(await use(agent, 'flag_file', { path: '../etc/passwd', why: 'x' })).toMatch(
    /error: .*a path inside the repository/s,
  );
  expect(await use(agent, 'worklog_add', { kind: 'discovery', text: 'x'.repeat(2_001) })).toMatch(/^error: /);
  expect(await use(agent, 'worklog_add', { kind: 'discovery', text: 'mine', task: 'a', run: 'r2' })).toBe('Noted.');
  expect((await listLogEntries(db, 'r1', { task: 'g' })).map(({ message }) => message)).toEqual(['mine']);
  for (let n = 1; n < WRITES; n++) await use(agent, 'worklog_add', { kind: 'discovery', text: `${n}` });
  expect(await use(agent, 'worklog_add', { kind: 'discovery', text: 'one more' })).toMatch(
    /error: An attempt may write 200 times/,
  );
});

test('a reviewer hears nothing of others and tells them nothing; a merger neither widens its files nor takes the worker’s notices', async () => {
  const names = async (role: string): Promise<string[]> => {
    const { tools } = await (await agentOf('r1', `of-a-${role}`, role)).listTools();
    return tools.map(({ name }) => name);
  };
  expect(await names('reviewer')).toEqual(['read_interface']);
  expect(await names('planner')).not.toContain('record_decision'); // it decides in its answer, where that is judged
  const all = await names('worker');
  expect(await names('merger')).toEqual(all.filter((name) => !['request_scope', 'read_notices'].includes(name)));
  expect(all).toHaveLength(7);
  const reviewer = await agentOf('r1', 'a', 'reviewer');
  expect(await reviewer.callTool({ name: 'worklog_add', arguments: { kind: 'discovery', text: 'I approve' } })).toMatchObject({ isError: true }); // prettier-ignore
  expect((await listLogEntries(db, 'r1')).map(({ message }) => message)).not.toContain('I approve');
});
