import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { chmod, mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { credentialEnv } from '../../../mainline/credential.ts';
import { deliver } from '../../../mainline/deliver.ts';
import { git, gitText, listFiles, readFileAt, writeCommit } from '../../../mainline/git.ts';
import { createHub, openHub } from '../../../mainline/hub.ts';
import { checkRepository } from '../../../mainline/remote.ts';
import { treeWith, world } from './fixture.ts';
import type { World } from './fixture.ts';

let w: World;
beforeEach(async () => {
  w = await world({ 'a.txt': 'a\n', 'dir/b c.txt': 'b\n', link: { mode: '120000', content: 'a.txt' } });
});
afterEach(() => w.close());

/** Lands one change on main. */
async function land(task: string, text: string): Promise<string> {
  await w.hub.merge([await w.attempt(task, { 'a.txt': text })]);
  const { next, verified } = await w.hub.line();
  await w.hub.advanceVerified(verified, next);
  await w.hub.advanceMain(next);
  return next;
}
const to = (branch: string): { run: string; deliver: { branch: string }; credential: null } => ({
  run: 'run-1',
  deliver: { branch },
  credential: null,
});
const commitOn = async (parent: string, text: string): Promise<string> =>
  writeCommit(w.origin, {
    tree: await treeWith(w.origin, parent, { 'o.txt': text }),
    parents: [parent],
    message: 'elsewhere',
    atMs: 0,
  });

describe('making a hub', () => {
  test('starts main, verified and next at the head of the branch, with files that can be listed and read', async () => {
    expect(await w.hub.line()).toMatchObject({
      main: w.base,
      verified: w.base,
      next: w.base,
      entries: [],
      greenPoints: 0,
    });
    expect(await listFiles(w.hub.dir, w.base)).toEqual(['a.txt', 'dir/b c.txt', 'link']);
    expect((await readFileAt(w.hub.dir, w.base, 'dir/b c.txt'))?.toString()).toBe('b\n');
    expect(await readFileAt(w.hub.dir, w.base, 'dir')).toBeNull();
    expect(await readFileAt(w.hub.dir, w.base, 'nothing')).toBeNull();
    expect((await readFileAt(w.hub.dir, w.base, 'link'))?.toString()).toBe('a.txt');
  });

  test('again, and by several at once, gives the same hub, wherever the origin is by then', async () => {
    const input = { dir: join(w.root, 'hubs', 'other.git'), url: w.url, branch: 'main', credential: null, union: [] };
    const hubs = await Promise.all([createHub(input), createHub(input), createHub(input)]);
    await git(w.origin, ['update-ref', 'refs/heads/main', await commitOn(w.base, 'x')]);
    for (const hub of [...hubs, await createHub(input)]) expect((await hub.heads()).base).toBe(w.base);
    expect((await readdir(join(w.root, 'hubs'))).toSorted()).toEqual(['other.git', 'run-1.git']);
  });

  test('from nothing: an empty commit to start from', async () => {
    const hub = await createHub({
      dir: join(w.root, 'hubs', 'empty.git'),
      url: null,
      branch: 'main',
      credential: null,
      union: [],
    });
    expect(await listFiles(hub.dir, (await hub.heads()).main)).toEqual([]);
    const left = await deliver(hub, { run: 'empty', deliver: { branch: 'x' }, credential: null });
    expect(left).toMatchObject({ left: `git fetch ${hub.dir} refs/heads/main:refs/heads/swarmline/empty` });
    // What a person is told to type works.
    await git(w.origin, ['fetch', '--quiet', hub.dir, 'refs/heads/main:refs/heads/swarmline/empty']);
    expect(await gitText(w.origin, ['rev-parse', 'swarmline/empty'])).toBe((await hub.heads()).main);
  });

  test('what is half made by a killed process is made anew', async () => {
    const dir = join(w.root, 'hubs', 'half.git');
    await mkdir(`${dir}.new-1234abcd/objects`, { recursive: true });
    await createHub({ dir, url: w.url, branch: 'main', credential: null, union: [] });
    expect(await readdir(join(w.root, 'hubs'))).not.toContain('half.git.new-1234abcd');
  });

  test('a run without a hub is an error with a name', async () => {
    await expect(openHub(join(w.root, 'hubs', 'none.git'))).rejects.toMatchObject({ name: 'HubError' });
    await expect(openHub(join(w.root, 'hubs', '..'))).rejects.toMatchObject({ name: 'HubError' });
  });
});

describe('checking the origin', () => {
  test('says where the branch stands', async () => {
    expect(await checkRepository(w.url, 'main')).toEqual({ commit: w.base });
  });

  test.each([
    ['no-branch', () => w.url, 'nope', 'git ls-remote --heads'],
    ['not-a-repository', () => `file://${w.root}/nothing`, 'main', 'Check repository.url'],
    ['not-a-repository', () => `file://${w.root}`, 'main', 'Check repository.url'],
    ['unreachable', () => 'http://127.0.0.1:9/x.git', 'main', 'Check the address'],
    ['refused', () => 'ext::sh -c touch% /tmp/pwned', 'main', 'not a URL'],
    ['refused', () => '--upload-pack=touch', 'main', 'not a URL'],
    ['refused', () => 'ssh://-oProxyCommand=x/y', 'main', 'not a URL'],
    ['refused', () => '/some/path', 'main', 'not a URL'],
  ])('%s, with what to do about it', async (kind, url, branch, advice) => {
    const error = await checkRepository(url(), branch).catch((e: unknown) => e);
    expect(error).toMatchObject({ name: 'RepositoryError', kind });
    expect((error as Error).message).toContain(advice);
  });

  test('an address that asks for a password is refused, and a secret in a URL is not repeated', async () => {
    const server = createServer((_, response) =>
      response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="x"' }).end(),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x.git`;
    await expect(checkRepository(url, 'main')).rejects.toMatchObject({ kind: 'refused' });
    server.close();
    const error = await checkRepository('https://me:hunter2@example.invalid/x.git', 'main').catch((e: unknown) => e);
    expect(error).toMatchObject({ kind: 'refused' });
    expect((error as Error).message).not.toContain('hunter2');
  });

  test('a credential goes to git through its environment: a token as a header, a key as a file', async () => {
    const file = join(w.root, "it's a key");
    await writeFile(file, 'token-1\n');
    let seen: string | undefined;
    const server = createServer((request, response) => {
      seen = request.headers.authorization;
      response.writeHead(403).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x.git`;
    await expect(checkRepository(url, 'main', await credentialEnv(url, file, '/dev/null'))).rejects.toMatchObject({
      kind: 'refused',
    });
    server.close();
    expect(seen).toBe(`Basic ${Buffer.from('x-access-token:token-1').toString('base64')}`);
    const ssh = await credentialEnv('ssh://git@example.invalid/x', file, '/var/known');
    expect(ssh['GIT_SSH_COMMAND']).toContain(`-i '${w.root}/it'\\''s a key' -o IdentitiesOnly=yes`);
  });
});

describe('delivering', () => {
  test('main becomes a branch of the origin; again nothing happens; later it moves forwards', async () => {
    const first = await land('one', 'one\n');
    expect(await deliver(w.hub, to('swarmline/run-1'))).toEqual({ pushed: 'swarmline/run-1', commit: first });
    expect(await deliver(w.hub, to('swarmline/run-1'))).toEqual({ pushed: 'swarmline/run-1', commit: first });
    await w.hub.merge([await w.attempt('two', { 'a.txt': 'two\n' }, { base: first })]);
    const { next } = await w.hub.line();
    expect((await deliver(w.hub, to('swarmline/run-1'))).commit).toBe(first);
    await w.hub.advanceVerified(first, next);
    await w.hub.advanceMain(next);
    await deliver(w.hub, to('swarmline/run-1'));
    expect(await gitText(w.origin, ['rev-parse', 'swarmline/run-1'])).toBe(next);
    expect(await gitText(w.origin, ['rev-parse', 'main'])).toBe(w.base);
    expect(await gitText(w.origin, ['for-each-ref', '--format=%(refname)'])).toBe(
      'refs/heads/main\nrefs/heads/swarmline/run-1',
    );
  });

  test('a branch with commits of others is never overwritten', async () => {
    await land('one', 'one\n');
    const other = await commitOn(w.base, 'theirs');
    await git(w.origin, ['update-ref', 'refs/heads/swarmline/run-1', other]);
    const error = await deliver(w.hub, to('swarmline/run-1')).catch((e: unknown) => e);
    expect(error).toMatchObject({ name: 'DeliveryError', kind: 'moved' });
    expect((error as Error).message).toContain('Nothing was pushed');
    expect(await gitText(w.origin, ['rev-parse', 'swarmline/run-1'])).toBe(other);
  });

  test('the target branch is fast-forwarded; if it moved meanwhile, the error says so and how to go on', async () => {
    const first = await land('one', 'one\n');
    const input = { run: 'run-1', deliver: { fastForward: 'main' }, credential: null };
    expect(await deliver(w.hub, input)).toEqual({ pushed: 'main', commit: first });
    expect(await gitText(w.origin, ['rev-parse', 'main'])).toBe(first);
    await git(w.origin, ['update-ref', 'refs/heads/main', await commitOn(w.base, 'theirs')]);
    await expect(deliver(w.hub, input)).rejects.toThrow('Deliver to a branch instead');
  });

  test('hooks of an origin on this machine do not run', async () => {
    await mkdir(join(w.origin, 'hooks'), { recursive: true });
    for (const name of ['pre-receive', 'update', 'post-receive', 'reference-transaction']) {
      await writeFile(join(w.origin, 'hooks', name), `#!/bin/sh\ntouch '${w.root}/pwned'\n`);
      await chmod(join(w.origin, 'hooks', name), 0o755);
    }
    await land('one', 'one\n');
    await deliver(w.hub, to('swarmline/run-1'));
    await expect(stat(join(w.root, 'pwned'))).rejects.toThrow('ENOENT');
  });

  test('an origin that says no leaves the commits in the hub, and says why', async () => {
    await land('one', 'one\n');
    await git(w.origin, ['config', 'core.bare', 'false']);
    await git(w.origin, ['symbolic-ref', 'HEAD', 'refs/heads/taken']);
    await git(w.origin, ['update-ref', 'refs/heads/taken', w.base]);
    const error = await deliver(w.hub, to('taken')).catch((e: unknown) => e);
    expect(error).toMatchObject({ name: 'DeliveryError', kind: 'rejected' });
    expect((error as Error).message).toContain('git fetch ');
    expect(await readFile(join(w.origin, 'HEAD'), 'utf8')).toContain('taken');
  });
});
