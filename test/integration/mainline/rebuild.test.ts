import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { LineEntry } from '../../../spec/model.ts';
import { git, gitText, mergeTrees } from '../../../mainline/git.ts';
import { createHub } from '../../../mainline/hub.ts';
import { world } from './fixture.ts';
import type { World } from './fixture.ts';

let w: World;
beforeEach(async () => {
  w = await world({ 'a.txt': '1\n2\n3\n4\n5\n6\n7\n8\n9\n', 'b.txt': 'b\n', 'c.txt': 'c\n' });
});
afterEach(() => w.close());

const entries = async (): Promise<readonly LineEntry[]> => (await w.hub.line()).entries;
const ancestors = async (): Promise<string[]> =>
  (await gitText(w.hub.dir, ['rev-list', 'refs/swarmline/next'])).split('\n');

/** Commits of the line as git walks them now. */
const asGit = async (): Promise<string[]> => {
  const range = [w.base, 'refs/swarmline/next'].join('..');
  const out = await gitText(w.hub.dir, ['rev-list', '--first-parent', '--reverse', range]);
  return out.split('\n').filter((oid) => oid !== '');
};

describe('the line that is remembered', () => {
  test('is the line that git walks: after merges, a rebuild, moves of others, and with another hub in its place', async () => {
    const commits = async (): Promise<string[]> => (await entries()).map(({ commit }) => commit);
    await w.hub.merge([await w.attempt('one', { 'b.txt': '1\n' })]);
    expect(await commits()).toEqual(await asGit());
    await w.hub.merge([await w.attempt('two', { 'c.txt': '2\n' }), await w.attempt('three', { 'd.txt': '3\n' })]);
    expect(await commits()).toEqual(await asGit());
    const before = (await w.hub.line()).next;
    await w.hub.rebuild({ onto: 'main', drop: ['one/1'] });
    expect(await commits()).toEqual(await asGit());
    expect(await commits()).toHaveLength(2);
    await git(w.hub.dir, ['update-ref', 'refs/swarmline/next', before]);
    expect(await commits()).toEqual(await asGit());
    expect((await w.hub.landed('refs/swarmline/next')).map(({ commit }) => commit)).toEqual(await asGit());
    await expect(w.hub.advanceVerified(w.base, 'a'.repeat(40))).rejects.toMatchObject({ name: 'GitError' });
    const { rename } = await import('node:fs/promises');
    await rename(w.hub.dir, `${w.hub.dir}.old`);
    const hub = await createHub({ dir: w.hub.dir, url: w.url, branch: 'main', credential: null, union: [] });
    await hub.merge([await w.attempt('four', { 'b.txt': '4\n' })]);
    expect(await commits()).toEqual(await asGit());
    expect(await commits()).toHaveLength(1);
  });
});

describe('rebuilding the line', () => {
  test('a culprit does not come back with a task that was based on it', async () => {
    await w.hub.merge([await w.attempt('culprit', { 'b.txt': 'broken\n', 'bad.txt': 'bad\n' })]);
    const withCulprit = (await w.hub.line()).next;
    // Its next attempt started from `next`, as after a conflict: the culprit is in its base and in its commit's history.
    const late = await w.attempt('late', { 'c.txt': 'late\n' }, { base: withCulprit });
    const result = await w.hub.rebuild({ onto: 'main', drop: ['culprit/1'] });
    expect(result).toMatchObject({
      next: w.base,
      kept: [],
      conflicts: [],
      ejected: [{ request: 'culprit/1', commit: withCulprit }],
    });
    expect((await w.hub.merge([late]))[0]).toMatchObject({ kind: 'merged' });
    const { next } = await w.hub.line();
    expect(await w.file(next, 'c.txt')).toBe('late\n');
    expect(await w.file(next, 'b.txt')).toBe('b\n');
    expect(await w.file(next, 'bad.txt')).toBeNull();
    expect(await ancestors()).not.toContain(withCulprit);
    expect(await ancestors()).not.toContain(late.commit);
    // What git computes by itself is the trap: the same merge with its own base brings the culprit back.
    const own = await gitText(w.hub.dir, ['merge-tree', '--write-tree', w.base, late.commit]);
    expect(await w.file(own, 'bad.txt')).toBe('bad\n');
  });

  test('what was landed on top of a culprit keeps its own change only', async () => {
    await w.hub.merge([await w.attempt('one', { 'a.txt': 'one\n2\n3\n4\n5\n6\n7\n8\n9\n' })]);
    await w.hub.merge([await w.attempt('culprit', { 'b.txt': 'broken\n' })]);
    const head = (await w.hub.line()).next;
    await w.hub.merge([await w.attempt('three', { 'a.txt': 'one\n2\n3\n4\n5\n6\n7\n8\nnine\n' }, { base: head })]);
    const before = await entries();
    const result = await w.hub.rebuild({ onto: 'main', drop: ['culprit/1'] });
    expect(result.kept.map((e) => e.request)).toEqual(['one/1', 'three/1']);
    // The part before the culprit is untouched, to the commit id.
    expect(result.kept[0]!.commit).toBe(before[0]!.commit);
    expect(result.kept[1]!.commit).not.toBe(before[2]!.commit);
    const { next } = await w.hub.line();
    expect(await w.file(next, 'b.txt')).toBe('b\n');
    expect(await w.file(next, 'a.txt')).toBe('one\n2\n3\n4\n5\n6\n7\n8\nnine\n');
    expect(await gitText(w.hub.dir, ['rev-parse', 'refs/swarmline/ejected/culprit/1'])).toBe(before[1]!.commit);
    expect(await ancestors()).not.toContain(before[1]!.commit);
    await git(w.hub.dir, ['fsck', '--full', '--strict']);
  });

  test('what no longer applies without the culprit is reported and kept, and holds up nobody', async () => {
    await w.hub.merge([await w.attempt('culprit', { 'b.txt': 'B\n' })]);
    const head = (await w.hub.line()).next;
    await w.hub.merge([
      await w.attempt('on-top', { 'b.txt': 'B\nmore\n' }, { base: head }),
      await w.attempt('aside', { 'c.txt': 'C\n' }),
    ]);
    const [, onTop] = await entries();
    const result = await w.hub.rebuild({ onto: 'main', drop: ['culprit/1'] });
    expect(result.conflicts).toEqual([{ entry: onTop, paths: ['b.txt'] }]);
    expect(result.kept.map((e) => e.request)).toEqual(['aside/1']);
    expect(await gitText(w.hub.dir, ['rev-parse', 'refs/swarmline/ejected/on-top/1'])).toBe(onTop!.commit);
  });

  test('onto main takes verified back as well; main stands still', async () => {
    await w.hub.merge([await w.attempt('one', { 'b.txt': 'B\n' })]);
    const { next } = await w.hub.line();
    await w.hub.advanceVerified(w.base, next);
    const result = await w.hub.rebuild({ onto: 'main', drop: [] });
    expect(result.kept).toHaveLength(1);
    expect(await w.hub.line()).toMatchObject({ main: w.base, verified: w.base, next });
    await w.hub.rebuild({ onto: 'main', drop: ['one/1'] });
    expect(await w.hub.line()).toMatchObject({ main: w.base, verified: w.base, next: w.base });
  });

  test('onto verified leaves what is verified alone, and refuses to drop something under it', async () => {
    await w.hub.merge([await w.attempt('one', { 'b.txt': 'B\n' })]);
    const one = (await w.hub.line()).next;
    await w.hub.advanceVerified(w.base, one);
    await w.hub.merge([await w.attempt('two', { 'c.txt': 'C\n' })]);
    const result = await w.hub.rebuild({ onto: 'verified', drop: ['two/1'] });
    expect(result).toMatchObject({ next: one, ejected: [{ request: 'two/1' }] });
    await expect(w.hub.rebuild({ onto: 'verified', drop: ['one/1'] })).rejects.toThrow('rebuild onto main');
  });

  test('killed after the swap, the retry answers what the first one did', async () => {
    await w.hub.merge([await w.attempt('culprit', { 'b.txt': 'B\n' })]);
    const head = (await w.hub.line()).next;
    await w.hub.merge([
      await w.attempt('on-top', { 'b.txt': 'B\nmore\n' }, { base: head }),
      await w.attempt('aside', { 'c.txt': 'C\n' }),
    ]);
    const dying = await w.reopen((instant) => {
      if (instant === 'after-swap') throw new Error('killed');
    });
    await expect(dying.rebuild({ onto: 'main', drop: ['culprit/1'] })).rejects.toThrow('killed');
    const again = await w.hub.rebuild({ onto: 'main', drop: ['culprit/1'] });
    expect(again.ejected.map((e) => e.request)).toEqual(['culprit/1']);
    expect(again.conflicts.map((c) => [c.entry.request, c.paths])).toEqual([['on-top/1', ['b.txt']]]);
    expect(again.kept.map((e) => e.request)).toEqual(['aside/1']);
    expect((await w.hub.line()).next).toBe(again.next);
    expect(await gitText(w.hub.dir, ['for-each-ref', '--format=%(refname)', 'refs/swarmline/ejected'])).toBe(
      'refs/swarmline/ejected/culprit/1\nrefs/swarmline/ejected/on-top/1',
    );
  });

  test('killed before the swap, nothing has changed', async () => {
    await w.hub.merge([await w.attempt('culprit', { 'b.txt': 'B\n' })]);
    const before = await w.hub.line();
    const dying = await w.reopen(() => {
      throw new Error('killed');
    });
    await expect(dying.rebuild({ onto: 'main', drop: ['culprit/1'] })).rejects.toThrow('killed');
    expect(await w.hub.line()).toEqual(before);
  });

  test('an innocent that was rolled back is merged again from its kept commit, and may be ejected again', async () => {
    const one = await w.attempt('one', { 'b.txt': 'B\n' });
    await w.hub.merge([one]);
    await w.hub.rebuild({ onto: 'main', drop: ['one/1'] });
    expect(await w.hub.findAttempt('one', 1)).toBe(one.commit);
    expect((await w.hub.merge([{ ...one, atMs: one.atMs + 60_000 }]))[0]).toMatchObject({ kind: 'merged' });
    await w.hub.rebuild({ onto: 'main', drop: ['one/1'] });
    expect((await entries()).length).toBe(0);
    expect(await gitText(w.hub.dir, ['for-each-ref', '--format=%(refname)', 'refs/swarmline/ejected/one'])).toBe(
      'refs/swarmline/ejected/one/1\nrefs/swarmline/ejected/one/2',
    );
  });
});

describe('the merge base', () => {
  test('is the one given, for any tree-ish, related or not', async () => {
    const one = await w.attempt('one', { 'b.txt': 'B\n' });
    const two = await w.attempt('two', { 'b.txt': 'B\n', 'c.txt': 'C\n' }, { base: one.commit });
    // Given `one` as base, only what `two` added on top of it counts.
    const merged = await mergeTrees(w.hub.dir, { base: one.commit, ours: w.base, theirs: two.commit });
    expect(merged.clean).toBe(true);
    if (!merged.clean) return;
    expect(await w.file(merged.tree, 'b.txt')).toBe('b\n');
    expect(await w.file(merged.tree, 'c.txt')).toBe('C\n');
  });
});
