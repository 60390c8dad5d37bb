import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { existsSync, lstatSync, readFileSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { WorkspaceTooSmall, collectTree, sandboxUser } from '../../../sandbox/index.ts';
import { type Bench, LIMITS, openBench } from './fixture.ts';

jest.setTimeout(60_000);

describe('a workspace', () => {
  let bench: Bench;
  beforeAll(() => {
    bench = openBench();
  });
  afterAll(() => bench.close());

  for (const store of ['auto', 'directory'] as const) {
    test(`is a plain checkout without .git, owned by the sandbox's user, gone after close (${store})`, async () => {
      const repository = bench.repository({ 'a.txt': 'one\n', 'src/b.txt': 'two\n' });
      const workspace = await bench.workspace(repository, { store });
      expect(readdirSync(workspace.dir).sort()).toEqual(['a.txt', 'src']);
      const owners = ['', 'a.txt', 'src/b.txt'].map((path) => statSync(join(workspace.dir, path)).uid);
      expect(new Set(owners)).toEqual(new Set([sandboxUser().uid]));
      await workspace.close();
      expect(existsSync(workspace.dir)).toBe(false);
      expect(readFileSync('/proc/self/mounts', 'utf8')).not.toContain(workspace.dir.replace(/\/w$/, ''));
      await workspace.close();
      expect(readdirSync(join(bench.stateDir, 'sandbox/workspaces'))).toEqual([]);
    });
  }

  test('keeps modes and links, follows none, and takes a branch name as well as an id', async () => {
    const { gitDir, commit } = bench.repository({ 'run.sh': '#!/bin/sh\n', target: '/etc/passwd' });
    const env = { ...process.env, GIT_DIR: gitDir, GIT_INDEX_FILE: join(bench.stateDir, 'index-links') };
    const git = (...args: string[]): string => execFileSync('git', args, { env }).toString().trim();
    const [script, link] = [git('rev-parse', `${commit}:run.sh`), git('rev-parse', `${commit}:target`)];
    git('update-index', '--add', '--cacheinfo', `100755,${script},bin/run.sh`, '--cacheinfo', `120000,${link},link`);
    const tree = git('write-tree');
    git(
      'update-ref',
      'refs/heads/work',
      git('-c', 'user.name=t', '-c', 'user.email=t@t', 'commit-tree', tree, '-m', 'x'),
    );
    const workspace = await bench.workspace({ gitDir, commit: 'refs/heads/work' });
    expect(lstatSync(join(workspace.dir, 'bin/run.sh')).mode & 0o777).toBe(0o755);
    expect(readlinkSync(join(workspace.dir, 'link'))).toBe('/etc/passwd');
    expect(statSync('/etc/passwd').uid).toBe(0); // the change of owner did not follow the link
    const objectDir = join(bench.stateDir, 'objects');
    expect(await collectTree({ dir: workspace.dir, gitDir, objectDir, baseTree: tree, limits: LIMITS })).toEqual({
      tree,
    });
  });

  test('that does not fit names the limit', async () => {
    const repository = bench.repository({ big: Buffer.alloc(40 * 2 ** 20, 1) });
    const opening = bench.workspace(repository, { diskBytes: 8 * 2 ** 20 });
    await expect(opening).rejects.toThrow(WorkspaceTooSmall);
    await expect(bench.workspace(repository, { diskBytes: 8 * 2 ** 20, store: 'directory' })).rejects.toThrow(
      'sandbox.limits.disk',
    );
    expect(readdirSync(join(bench.stateDir, 'sandbox/workspaces')).filter((name) => name.includes('mnt'))).toEqual([]);
  });

  test('has what setup provides and a submodule left as they were', async () => {
    const { gitDir } = bench.repository({ 'a.txt': 'one\n' });
    const env = { ...process.env, GIT_DIR: gitDir, GIT_INDEX_FILE: join(bench.stateDir, 'index-sub') };
    const git = (...args: string[]): string => execFileSync('git', args, { env }).toString().trim();
    git('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},vendor/sub`);
    const tree = git('write-tree');
    const workspace = await bench.workspace({ gitDir, commit: tree });
    await bench.run('mkdir -p node_modules/.vite && echo x > node_modules/.vite/y', workspace);
    const collect = {
      dir: workspace.dir,
      gitDir,
      objectDir: join(bench.stateDir, 'objects-sub'),
      baseTree: tree,
      limits: LIMITS,
    };
    expect(await collectTree({ ...collect, leaveOut: ['node_modules'] })).toEqual({ tree });
    await bench.run('echo x > vendor/sub/y', workspace);
    expect(await collectTree({ ...collect, leaveOut: ['node_modules'] })).toMatchObject({ refused: 'submodule' });
  });

  test('of a few files opens quickly', async () => {
    const repository = bench.repository(
      Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`f${at}.txt`, `${at}\n`])),
    );
    await (await bench.workspace(repository)).close(); // the probe
    const times: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const before = performance.now();
      await bench.workspace(repository, { diskBytes: 2 * 2 ** 30 });
      times.push(performance.now() - before);
    }
    expect(Math.min(...times)).toBeLessThan(1000); // 300 ms on an idle machine; budgets are held by benchmarks
  });
});
