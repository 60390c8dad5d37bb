import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Known, WALK_LIMITS, type WalkLimits, walkTree } from '../../../sandbox/walk.ts';

describe('walking what a command left', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'swarmline-walk-'));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  const nothing: Known = { sizes: new Map(), directories: new Set(), submodules: new Set() };
  const walk = (
    limits: Partial<WalkLimits> = {},
    known: Known = nothing,
    ignore: (path: string) => boolean = () => false,
  ) =>
    walkTree({
      root,
      limits: { ...WALK_LIMITS, ...limits },
      known,
      ignored: (paths) => Promise.resolve(new Set(paths.map((path) => path.toString('latin1')).filter(ignore))),
    });

  test('lists files with modes, links with targets, and no directory', async () => {
    mkdirSync(join(root, 'd'));
    mkdirSync(join(root, 'empty'));
    writeFileSync(join(root, 'd/x'), 'x', { mode: 0o755 });
    writeFileSync(join(root, 'y'), 'yy');
    symlinkSync('/nowhere', join(root, 'l'));
    const files = [...(await walk()).files].sort((a, b) => Buffer.compare(a.path, b.path));
    expect(files.map(({ path, mode, size }) => [String(path), mode, size])).toEqual([
      ['d/x', '100755', 1],
      ['l', '120000', 8],
      ['y', '100644', 2],
    ]);
  });

  test('a sparse file of 1 TB is refused at once by its size, unless the base has it so', async () => {
    writeFileSync(join(root, 'huge'), '');
    truncateSync(join(root, 'huge'), 2 ** 40);
    await expect(walk()).rejects.toMatchObject({ rule: 'file-too-large' });
    truncateSync(join(root, 'huge'), 100 * 2 ** 20);
    await expect(walk()).rejects.toMatchObject({ rule: 'file-too-large' });
    const known = { ...nothing, sizes: new Map([['huge', 100 * 2 ** 20]]) };
    expect((await walk({}, known)).files).toHaveLength(1);
  });

  test('each limit refuses by its name', async () => {
    mkdirSync(join(root, 'a/b/c'), { recursive: true });
    for (const name of ['1', '2', '3']) writeFileSync(join(root, 'a', name), 'x'.repeat(10));
    await expect(walk({ maxDepth: 2 })).rejects.toMatchObject({ rule: 'too-deep' });
    await expect(walk({ maxEntries: 4 })).rejects.toMatchObject({ rule: 'too-many-files' });
    await expect(walk({ maxTotalBytes: 29 })).rejects.toMatchObject({ rule: 'too-large' });
    await expect(walk({ maxPathBytes: 3 })).rejects.toMatchObject({ rule: 'path-too-long' });
    expect((await walk({ maxDepth: 3, maxEntries: 6, maxTotalBytes: 30, maxPathBytes: 5 })).files).toHaveLength(3);
  });

  test('what is ignored is neither descended into nor judged', async () => {
    mkdirSync(join(root, 'build/.git'), { recursive: true });
    execFileSync('mkfifo', [join(root, 'build/pipe'), join(root, 'pipe.log')]);
    await expect(walk()).rejects.toMatchObject({ rule: 'special-file' });
    expect(await walk({}, nothing, (path) => path === 'build' || path.endsWith('.log'))).toEqual({
      files: [],
      submodules: [],
    });
  });

  test('a directory with tracked files is walked though its name is ignored', async () => {
    mkdirSync(join(root, 'build'));
    writeFileSync(join(root, 'build/kept'), 'x');
    writeFileSync(join(root, 'build/new'), 'x');
    const known = { ...nothing, sizes: new Map([['build/kept', 1]]), directories: new Set(['build']) };
    expect((await walk({}, known, (path) => path.startsWith('build'))).files.map(({ path }) => String(path))).toEqual([
      'build/kept',
    ]);
  });
});
