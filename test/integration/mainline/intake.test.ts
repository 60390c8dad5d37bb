import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { git, gitText, openQuarantine, writeCommit } from '../../../mainline/git.ts';
import { IntakeRefused } from '../../../mainline/errors.ts';
import { INTAKE_LIMITS } from '../../../mainline/intake-limits.ts';
import { treeWith, world } from './fixture.ts';
import type { Files, World } from './fixture.ts';

let w: World;
beforeEach(async () => {
  w = await world({ 'a.txt': 'a\n', 'dir/b.txt': 'b\n' });
});
afterEach(() => w.close());

async function packed(files: Files, parents = [w.base]): Promise<{ commit: string; pack: Buffer }> {
  const quarantine = await openQuarantine(w.hub.dir, w.root);
  try {
    const env = { ...quarantine.env };
    const tree = await treeWith(w.hub.dir, w.base, files, env);
    const commit = await writeCommit(w.hub.dir, { tree, parents, message: 'x', atMs: 0 }, { env });
    const pack = await git(w.hub.dir, ['pack-objects', '--revs', '--thin', '--stdout', '-q'], {
      env,
      input: `${commit}\n^${w.base}\n`,
    });
    return { commit, pack };
  } finally {
    await quarantine.close();
  }
}
const take = (commit: string, pack: Buffer, over: object = {}, limits = INTAKE_LIMITS): Promise<void> =>
  w.hub.takePack({ task: 'one', attempt: 1, commit, base: w.base, ...over }, Readable.from([pack]), limits);
interface Over {
  parents?: 'none';
  commit?: string;
  base?: string;
  task?: string;
  attempt?: number;
}
const refused = (rule: string): object => ({ name: 'IntakeRefused', rule });
const objects = async (): Promise<string> => gitText(w.hub.dir, ['cat-file', '--batch-check', '--batch-all-objects']);

describe('taking packs in', () => {
  test('a pack becomes the ref of its attempt; sent again, or by two at once, it is taken once', async () => {
    const { commit, pack } = await packed({ 'a.txt': 'A\n' });
    await Promise.all([take(commit, pack), take(commit, pack)]);
    await take(commit, pack);
    expect(await w.hub.findAttempt('one', 1)).toBe(commit);
    expect(await gitText(w.hub.dir, ['for-each-ref', '--format=%(refname)', 'refs/swarmline/tasks'])).toBe(
      'refs/swarmline/tasks/one/1',
    );
    await git(w.hub.dir, ['fsck', '--full', '--strict']);
  });

  test('an attempt has one result: another commit under its name is refused', async () => {
    const first = await packed({ 'a.txt': 'A\n' });
    const second = await packed({ 'a.txt': 'B\n' });
    await take(first.commit, first.pack);
    await expect(take(second.commit, second.pack)).rejects.toMatchObject(refused('other-commit'));
    expect(await w.hub.findAttempt('one', 1)).toBe(first.commit);
  });

  test('an attempt that changed nothing is taken', async () => {
    const { commit, pack } = await packed({});
    await take(commit, pack);
    expect(await w.hub.findAttempt('one', 1)).toBe(commit);
  });

  test('a commit whose objects are all here already is taken from an empty pack', async () => {
    const { commit, pack } = await packed({ 'a.txt': 'A\n' });
    await take(commit, pack);
    const empty = await git(w.hub.dir, ['pack-objects', '--stdout', '-q'], { input: '' });
    await take(commit, empty, { attempt: 2 });
    expect(await w.hub.findAttempt('one', 2)).toBe(commit);
  });

  test.each<[string, Over, string]>([
    ['parent is not the base', { parents: 'none' }, 'wrong-parent'],
    ['pack brings another commit', { commit: 'a'.repeat(40) }, 'wrong-commit'],
    ['base is unknown', { base: 'b'.repeat(40) }, 'unknown-base'],
    ['task has a path in its name', { task: '../x' }, 'bad-key'],
    ['attempt is not a number from 1', { attempt: 0 }, 'bad-key'],
  ])('refused, and nothing of it stays: %s', async (_why, over, rule) => {
    const { commit, pack } = await packed({ 'a.txt': 'A\n' }, over.parents === undefined ? [w.base] : []);
    const before = await objects();
    await expect(take(commit, pack, { ...over, parents: undefined })).rejects.toMatchObject(refused(rule));
    expect(await objects()).toBe(before);
    expect(await readdir(join(w.hub.dir, 'quarantine')).catch(() => [])).toEqual([]);
  });

  test('a broken or truncated pack, or no pack at all, is refused', async () => {
    const { commit, pack } = await packed({ 'a.txt': 'A\n' });
    const broken = Buffer.from(pack);
    broken[30] = broken[30]! ^ 0xff;
    for (const bad of [broken, pack.subarray(0, pack.length - 30), Buffer.from('no pack'), Buffer.alloc(0)]) {
      await expect(take(commit, bad)).rejects.toMatchObject(refused('bad-pack'));
    }
  });

  test('a pack that lacks an object of its commit is refused', async () => {
    const { commit } = await packed({ 'a.txt': 'A\n' });
    const other = await packed({ 'a.txt': 'B\n' });
    await expect(take(commit, other.pack)).rejects.toBeInstanceOf(IntakeRefused);
  });

  test('limits: bytes of the pack, bytes of a file, entries, depth', async () => {
    const noise = Array.from({ length: 4000 }, (_, i) => `${(i * 2654435761) % 4294967296}`).join('\n');
    const big = await packed({ 'big.txt': noise });
    await expect(take(big.commit, big.pack, {}, { ...INTAKE_LIMITS, packBytes: 2000 })).rejects.toMatchObject(
      refused('too-large'),
    );
    await expect(take(big.commit, big.pack, {}, { ...INTAKE_LIMITS, fileBytes: 2000 })).rejects.toMatchObject({
      ...refused('too-large'),
      path: 'big.txt',
    });
    await expect(take(big.commit, big.pack, {}, { ...INTAKE_LIMITS, entries: 2 })).rejects.toMatchObject(
      refused('too-many-files'),
    );
    const deep = await packed({ [`${'d/'.repeat(80)}x`]: 'x' });
    await expect(take(deep.commit, deep.pack)).rejects.toMatchObject(refused('too-deep'));
    await take(big.commit, big.pack);
  });

  test('a file that the base has may move, however large; the same file brought anew is refused', async () => {
    const noise = 'n'.repeat(5000);
    const first = await packed({ 'big.txt': noise });
    await take(first.commit, first.pack);
    const limits = { ...INTAKE_LIMITS, fileBytes: 2000 };
    // In the hub, but not in this base.
    await expect(take(first.commit, first.pack, { attempt: 2 }, limits)).rejects.toMatchObject(refused('too-large'));
    const moved = await w.attempt('move', { 'big.txt': null, 'to.txt': noise }, { base: first.commit, take: false });
    await expect(take(moved.commit, first.pack, { attempt: 3, base: first.commit }, limits)).rejects.toMatchObject(
      refused('wrong-commit'),
    );
  });

  test('a base that only the pack brings is unknown', async () => {
    const quarantine = await openQuarantine(w.hub.dir, w.root);
    try {
      const env = { ...quarantine.env };
      const tree = await treeWith(w.hub.dir, w.base, { 'a.txt': 'A\n' }, env);
      const base = await writeCommit(w.hub.dir, { tree, parents: [w.base], message: 'x', atMs: 0 }, { env });
      const commit = await writeCommit(w.hub.dir, { tree, parents: [base], message: 'y', atMs: 0 }, { env });
      const input = `${commit}\n^${w.base}\n`;
      const pack = await git(w.hub.dir, ['pack-objects', '--revs', '--stdout', '-q'], { env, input });
      await expect(take(commit, pack, { base })).rejects.toMatchObject(refused('unknown-base'));
    } finally {
      await quarantine.close();
    }
  });

  test.each<[string, (base: string) => string[]]>([
    ['the base twice', (base) => [base, base]],
    ['the base and the commit before it', (base) => [base, w.base]],
  ])('a commit with two parents is refused: %s', async (_why, parents) => {
    const base = await w.attempt('base', { 'b.txt': 'B\n' });
    const { commit, pack } = await packed({ 'a.txt': 'A\n' }, parents(base.commit));
    await expect(take(commit, pack, { base: base.commit })).rejects.toBeInstanceOf(IntakeRefused);
  });

  test('a tree, a tag, or the base itself is not the commit of an attempt', async () => {
    const { pack } = await packed({ 'a.txt': 'A\n' });
    const tree = await gitText(w.hub.dir, ['rev-parse', `${w.base}^{tree}`]);
    for (const oid of [tree, w.base]) await expect(take(oid, pack)).rejects.toMatchObject(refused('wrong-parent'));
    expect(await gitText(w.hub.dir, ['for-each-ref', 'refs/swarmline/tasks'])).toBe('');
  });

  test('a host that breaks off leaves nothing behind', async () => {
    const { commit, pack } = await packed({ 'a.txt': 'A\n' });
    const before = await objects();
    const stream = new Readable({ read: () => undefined });
    stream.push(pack.subarray(0, 20));
    const taking = w.hub.takePack({ task: 'one', attempt: 1, commit, base: w.base }, stream);
    setImmediate(() => stream.destroy(new Error('gone')));
    await expect(taking).rejects.toThrow('gone');
    expect(await objects()).toBe(before);
    await take(commit, pack);
  });
});

describe('many packs', () => {
  test('are rolled together, and no object is lost, not even one that no ref names', async () => {
    const { repackWhenMany } = await import('../../../mainline/publish.ts');
    for (let n = 1; n <= 6; n++) {
      const { commit, pack } = await packed({ [`f${n}.txt`]: `${n}\n` });
      await take(commit, pack, { attempt: n });
    }
    await git(w.hub.dir, ['update-ref', '-d', 'refs/swarmline/tasks/one/3']);
    const before = await objects();
    expect(await repackWhenMany(w.hub.dir, 3)).toBe(true);
    expect(await objects()).toBe(before);
    expect((await readdir(join(w.hub.dir, 'objects', 'pack'))).filter((n) => n.endsWith('.idx')).length).toBeLessThan(
      4,
    );
  });
});

describe('forgetting attempts', () => {
  test('only of final tasks, only old ones, never what is on the line above main', async () => {
    for (const task of ['done', 'running', 'young', 'merged']) {
      const { commit, pack } = await packed({ [`${task}.txt`]: 'x\n' });
      await take(commit, pack, { task });
    }
    const merged = await w.attempt('line', { 'l.txt': 'x\n' });
    await w.hub.merge([merged]);
    const gone = await w.hub.prune({ keepBefore: new Date(1000), finalTasks: ['done', 'line'] });
    expect(gone).toEqual(['refs/swarmline/tasks/done/1']);
    const late = { keepBefore: new Date(Date.UTC(2030, 0)), finalTasks: ['line'] };
    expect(await w.hub.prune(late)).toEqual([]);
    const { next } = await w.hub.line();
    await w.hub.advanceVerified(w.base, next);
    await w.hub.advanceMain(next);
    expect(await w.hub.prune(late)).toEqual(['refs/swarmline/tasks/line/1']);
    expect(await w.hub.findAttempt('running', 1)).not.toBeNull();
  });
});
