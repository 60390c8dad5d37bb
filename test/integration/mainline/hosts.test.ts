import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { readFile, readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { git, gitText, openQuarantine, readFileAt, writeCommit } from '../../../mainline/git.ts';
import { createHubClient } from '../../../mainline/hub-client.ts';
import type { HubClient } from '../../../mainline/hub-client.ts';
import { startHubServer } from '../../../mainline/hub-server.ts';
import type { HubServer } from '../../../mainline/hub-server.ts';
import { INTAKE_LIMITS } from '../../../mainline/intake-limits.ts';
import { treeWith, world } from './fixture.ts';
import type { Files, World } from './fixture.ts';

const TOKEN = 'a-token-of-some-length-1234';
let w: World;
let server: HubServer;
const failures: unknown[] = [];

beforeEach(async () => {
  w = await world({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
  failures.length = 0;
  const limits = { ...INTAKE_LIMITS, packBytes: 300_000 };
  server = await startHubServer({
    root: join(w.root, 'hubs'),
    token: TOKEN,
    port: 0,
    host: '127.0.0.1',
    limits,
    onError: (e) => failures.push(e),
  });
});
afterEach(async () => {
  await server.close();
  await w.close();
  if (failures.length > 0) throw new Error('The server met what it did not expect', { cause: failures[0] });
});

const host = (name: string, over: object = {}): HubClient =>
  createHubClient({ url: server.url, token: TOKEN, mirrorRoot: join(w.root, name), localRoot: null, ...over });

/** What an attempt on a host does: a base from the hub, objects in front of it, a commit handed in. */
async function work(client: HubClient, name: string, task: string, base: string, files: Files): Promise<string> {
  const gitDir = await client.ensure('run-1', [base]);
  const quarantine = await openQuarantine(gitDir, join(w.root, `${name}-objects`));
  try {
    const env = { ...quarantine.env };
    const tree = await treeWith(gitDir, base, files, env);
    const commit = await writeCommit(gitDir, { tree, parents: [base], message: task, atMs: 0 }, { env });
    await client.submit({ run: 'run-1', task, attempt: 1 }, { gitDir, objectDir: quarantine.dir, commit, base });
    return commit;
  } finally {
    await quarantine.close();
  }
}

describe('two sandbox hosts without a shared directory', () => {
  test('both get commits by id and hand theirs in; each can gate what the other made', async () => {
    const [one, two] = [host('host-1'), host('host-2')];
    expect(await one.find({ run: 'run-1', task: 'one', attempt: 1 })).toBeNull();
    expect(await one.heads('run-1')).toEqual({ base: w.base, main: w.base, verified: w.base, next: w.base });
    const first = await work(one, 'host-1', 'one', w.base, { 'a.txt': 'A\n' });
    expect(await two.find({ run: 'run-1', task: 'one', attempt: 1 })).toBe(first);
    const request = {
      id: 'one/1',
      task: 'one',
      attempt: 1,
      commit: first,
      base: w.base,
      engine: 'x',
      model: null,
      atMs: 0,
    };
    expect(await w.hub.merge([request])).toMatchObject([{ kind: 'merged' }]);
    const next = await two.resolve('run-1', 'next');
    const mirror = await two.ensure('run-1', [next, first]);
    expect((await readFileAt(mirror, next, 'a.txt'))?.toString()).toBe('A\n');
    const second = await work(two, 'host-2', 'two', next, { 'b.txt': 'B\n' });
    expect(await w.hub.findAttempt('two', 1)).toBe(second);
    expect((await readFileAt(await one.ensure('run-1', [second]), second, 'b.txt'))?.toString()).toBe('B\n');
    await git(mirror, ['fsck', '--full', '--strict']);
  });

  test('handing in twice is fine; handing in something else is refused by its rule', async () => {
    const client = host('host-1');
    const commit = await work(client, 'h', 'one', w.base, { 'a.txt': 'A\n' });
    expect(await work(client, 'h', 'one', w.base, { 'a.txt': 'A\n' })).toBe(commit);
    await expect(work(client, 'h', 'one', w.base, { 'a.txt': 'B\n' })).rejects.toMatchObject({
      name: 'IntakeRefused',
      rule: 'other-commit',
    });
    await expect(work(client, 'h', 'two', w.base, { link: { mode: '120000', content: '/etc' } })).rejects.toMatchObject(
      { rule: 'link-outside' },
    );
  });

  test('a pack over the limit is refused with an answer, not with a broken connection', async () => {
    const noise = Array.from({ length: 100_000 }, (_, i) => `${(i * 2654435761) % 4294967296}`).join('\n');
    await expect(work(host('host-1'), 'h', 'one', w.base, { 'big.txt': noise })).rejects.toMatchObject({
      name: 'IntakeRefused',
      rule: 'too-large',
    });
    const body = new ReadableStream({
      start: (c) => {
        for (let n = 0; n < 10; n++) c.enqueue(new Uint8Array(100_000).fill(7));
        c.close();
      },
    });
    const url = `${server.url}/run-1/tasks/one/1?commit=${'a'.repeat(40)}&base=${w.base}`;
    const answer = await fetch(url, {
      method: 'PUT',
      body,
      duplex: 'half',
      headers: { Authorization: `Bearer ${TOKEN}` },
    });
    expect([413, 422]).toContain(answer.status);
  });

  test('what the hub does not have, and a hub that is not there, are errors with names', async () => {
    await expect(host('host-1').ensure('run-1', ['c'.repeat(40)])).rejects.toMatchObject({ name: 'HubError' });
    await expect(host('host-1').heads('no-such-run')).rejects.toMatchObject({ name: 'HubError' });
    const gone = host('host-1', { url: 'http://127.0.0.1:9' });
    await expect(gone.ensure('run-1', [w.base])).rejects.toMatchObject({ name: 'HubUnreachable' });
    await expect(gone.find({ run: 'run-1', task: 'one', attempt: 1 })).rejects.toMatchObject({
      name: 'HubUnreachable',
    });
  });

  test('finished work waits for a hub that starts again; after that long it is given up', async () => {
    const client = host('host-1');
    await client.ensure('run-1', [w.base]);
    // Restarted in the moment in which the host has tried often enough to have given up a mere question.
    const port = Number(new URL(server.url).port);
    await server.close();
    let refused = 0;
    const deaf = createServer((socket) => {
      socket.destroy();
      refused += 1;
      if (refused === 6) deaf.close();
    });
    deaf.listen(port, '127.0.0.1');
    await once(deaf, 'listening');
    const submitted = work(client, 'host-1', 'one', w.base, { 'a.txt': 'A\n' });
    await once(deaf, 'close');
    server = await startHubServer({ root: join(w.root, 'hubs'), token: TOKEN, port, host: '127.0.0.1' });
    const commit = await submitted;
    expect(await client.find({ run: 'run-1', task: 'one', attempt: 1 })).toBe(commit);

    await server.close();
    const hasty = host('host-1', { submitPatienceMs: 300 });
    await expect(work(hasty, 'host-1', 'two', w.base, { 'b.txt': 'B\n' })).rejects.toMatchObject({
      name: 'HubUnreachable',
    });
  }, 60_000);

  test('many at once into one mirror: each gets what it asked for', async () => {
    const requests = [];
    for (let n = 0; n < 4; n++) requests.push(await w.attempt(`t${n}`, { [`n${n}.txt`]: 'x\n' }));
    const client = host('host-1');
    const dirs = await Promise.all(requests.map((r) => client.ensure('run-1', [r.commit])));
    expect(new Set(dirs).size).toBe(1);
    for (const r of requests) expect(await gitText(dirs[0]!, ['cat-file', '-t', r.commit])).toBe('commit');
  });

  test('the token is in no argument, configuration or mirror', async () => {
    const dir = await host('host-1').ensure('run-1', [w.base]);
    expect(await readFile(join(dir, 'config'), 'utf8')).not.toContain(TOKEN);
    expect(await readdir(dir)).not.toContain('FETCH_HEAD');
  });
});

describe('on the machine of the hub', () => {
  test('the hub is the mirror, and nothing is written to it but through the server', async () => {
    const client = host('unused', { localRoot: join(w.root, 'hubs') });
    expect(await client.ensure('run-1', [w.base])).toBe(join(w.root, 'hubs', 'run-1.git'));
    const commit = await work(client, 'local', 'one', w.base, { 'a.txt': 'A\n' });
    expect(await w.hub.findAttempt('one', 1)).toBe(commit);
    await expect(client.ensure('run-1', ['c'.repeat(40)])).rejects.toMatchObject({ name: 'HubError' });
    await client.forget('run-1');
    expect(await w.hub.heads()).toBeDefined();
  });
});

describe('the server', () => {
  const get = async (path: string, init: RequestInit = {}): Promise<number> => {
    const headers = { Authorization: `Bearer ${TOKEN}`, ...(init.headers as object) };
    const response = await fetch(`${server.url}${path}`, { ...init, headers });
    await response.arrayBuffer();
    return response.status;
  };

  test('answers health to all, the rest to the token only', async () => {
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    const bare = await fetch(`${server.url}/run-1/heads`);
    expect([bare.status, bare.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="swarmline hub"']);
    expect(await get('/run-1/heads', { headers: { Authorization: 'Bearer wrong' } })).toBe(403);
    expect(await get('/run-1/heads', { headers: { Authorization: `Basic ${TOKEN}` } })).toBe(403);
    expect(await get('/run-1/heads')).toBe(200);
  });

  test('knows no other path, method, run or service', async () => {
    for (const path of [
      '/',
      '/x',
      '/no-run/heads',
      '/..%2frun-1/heads',
      '/run-1.git/HEAD',
      '/run-1.git/config',
      '/run-1/tasks/one',
      '/run-1/tasks/../1',
    ]) {
      expect([path, await get(path)]).toEqual([path, 404]);
    }
    expect(await get('/run-1.git/info/refs?service=git-receive-pack')).toBe(403);
    expect(await get('/run-1.git/info/refs')).toBe(403);
    expect(await get('/run-1/heads', { method: 'DELETE' })).toBe(405);
    expect(await get('/run-1/tasks/one/1?commit=x&base=y', { method: 'PUT', body: 'x' })).toBe(400);
    expect(await get(`/run-1/tasks/one/1?commit=${'a'.repeat(40)}&base=${w.base}`, { method: 'PUT', body: 'x' })).toBe(
      422,
    );
  });

  test('a push is refused and moves nothing', async () => {
    const env = {
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'http.extraHeader',
      GIT_CONFIG_VALUE_0: `Authorization: Bearer ${TOKEN}`,
    };
    const commit = await writeCommit(w.origin, {
      tree: await gitText(w.origin, ['rev-parse', 'main^{tree}']),
      parents: [w.base],
      message: 'x',
      atMs: 0,
    });
    await expect(
      git(w.origin, ['push', `${server.url}/run-1.git`, `${commit}:refs/heads/main`], { env }),
    ).rejects.toThrow('failed');
    expect((await w.hub.heads()).main).toBe(w.base);
  });

  test('refs but main are not advertised, whatever their number: a host asks for commits, a person for main', async () => {
    const env = {
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'http.extraHeader',
      GIT_CONFIG_VALUE_0: `Authorization: Bearer ${TOKEN}`,
    };
    expect(await gitText(w.origin, ['ls-remote', `${server.url}/run-1.git`], { env })).toBe(
      `${w.base}\tHEAD\n${w.base}\trefs/heads/main`,
    );
  });

  test('a short token is refused at start', async () => {
    await expect(startHubServer({ root: w.root, token: 'short', port: 0, host: '127.0.0.1' })).rejects.toThrow(
      '16 characters',
    );
  });
});
