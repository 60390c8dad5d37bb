import { rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { MergeRequest } from '../../../spec/model.ts';
import { git, gitText } from '../../../mainline/git.ts';
import { listDirectories } from '../../../mainline/tree.ts';
import { RefMoved } from '../../../mainline/errors.ts';
import { world } from './fixture.ts';
import type { World } from './fixture.ts';

const lines = (n: number): string => Array.from({ length: n }, (_, i) => `line ${i + 1}\n`).join('');

let w: World;
beforeEach(async () => {
  w = await world({ 'a.txt': lines(20), 'b.txt': 'b\n', 'src/x.ts': 'x\n', 'CHANGELOG.md': '# Changes\n' }, [
    'CHANGELOG.md',
  ]);
});
afterEach(() => w.close());

const merged = (outcome: { kind: string; commit?: string } | undefined): string => {
  expect(outcome).toMatchObject({ kind: 'merged' });
  return outcome!.commit!;
};

describe('merging', () => {
  test('two changes to one file at different lines both land, in order, with provenance', async () => {
    const one = await w.attempt(
      'one',
      { 'a.txt': lines(20).replace('line 2\n', 'line two\n') },
      { goal: 'Say two in words\n\nmore' },
    );
    const two = await w.attempt('two', { 'a.txt': lines(20).replace('line 18\n', 'line eighteen\n') });
    const outcomes = await w.hub.merge([one, two]);
    expect(outcomes.map((o) => o.kind)).toEqual(['merged', 'merged']);
    const line = await w.hub.line();
    expect(line.entries.map((e) => e.request)).toEqual(['one/1', 'two/1']);
    expect(line.main).toBe(w.base);
    const text = await w.file(line.next, 'a.txt');
    expect(text).toContain('line two\n');
    expect(text).toContain('line eighteen\n');
    const message = await gitText(w.hub.dir, ['log', '-1', '--format=%B', line.entries[0]!.commit]);
    expect(message.split('\n')[0]).toBe('Say two in words');
    expect(message).toContain(
      `Swarmline-Request: one/1\nSwarmline-Task: one\nSwarmline-Attempt: 1\nSwarmline-Engine: scripted\nSwarmline-Base: ${w.base}`,
    );
    expect(message).toContain('Swarmline-Run: run-1');
    await git(w.hub.dir, ['fsck', '--full', '--strict']);
  });

  test('a file added in directories below each other merges: every directory on the way is found in its parent', async () => {
    const one = await w.attempt('one', { 'src/deep/er/one.ts': '1\n' });
    merged((await w.hub.merge([one]))[0]);
    const two = await w.attempt('two', { 'src/deep/er/two.ts': '2\n', 'src/deep/two.ts': '2\n', 'src/y.ts': 'y\n' });
    const commit = merged((await w.hub.merge([two]))[0]);
    const names = await listDirectories(w.hub.dir, commit, ['', 'src', 'src/deep', 'src/deep/er']);
    expect(Object.fromEntries(names)).toEqual({
      '': ['CHANGELOG.md', 'a.txt', 'b.txt', 'src'],
      src: ['deep', 'x.ts', 'y.ts'],
      'src/deep': ['er', 'two.ts'],
      'src/deep/er': ['one.ts', 'two.ts'],
    });
  });

  test('the line has one parent per commit, never the commit of a task', async () => {
    const one = await w.attempt('one', { 'b.txt': 'B\n' });
    const commit = merged((await w.hub.merge([one]))[0]);
    expect(await gitText(w.hub.dir, ['log', '-1', '--format=%P', commit])).toBe(w.base);
  });

  test('a request that has landed is answered with its commit, not merged again', async () => {
    const one = await w.attempt('one', { 'b.txt': 'B\n' });
    const commit = merged((await w.hub.merge([one]))[0]);
    expect(await w.hub.merge([one, one])).toEqual([
      { id: 'one/1', kind: 'already', commit },
      { id: 'one/1', kind: 'already', commit },
    ]);
    expect((await w.hub.line()).entries).toHaveLength(1);
  });

  test('a conflict names its files and holds up nobody behind it', async () => {
    const one = await w.attempt('one', { 'b.txt': 'one\n' });
    const two = await w.attempt('two', { 'b.txt': 'two\n' });
    const three = await w.attempt('three', { 'src/x.ts': 'three\n' });
    const outcomes = await w.hub.merge([one, two, three]);
    expect(outcomes[1]).toEqual({ id: 'two/1', kind: 'conflict', paths: ['b.txt'] });
    expect(outcomes.map((o) => o.kind)).toEqual(['merged', 'conflict', 'merged']);
    expect(await w.file((await w.hub.line()).next, 'b.txt')).toBe('one\n');
  });

  test('killed before the swap: next stands still, and the retry makes the same commit', async () => {
    const one = await w.attempt('one', { 'b.txt': 'B\n' });
    const seen: string[] = [];
    const dying = await w.reopen((instant) => {
      seen.push(instant);
      throw new Error('killed');
    });
    await expect(dying.merge([one])).rejects.toThrow('killed');
    expect(seen).toEqual(['before-swap']);
    expect((await w.hub.line()).next).toBe(w.base);
    const first = merged((await w.hub.merge([one]))[0]);
    const other = await world({ 'a.txt': lines(20), 'b.txt': 'b\n', 'src/x.ts': 'x\n', 'CHANGELOG.md': '# Changes\n' });
    try {
      await other.attempt('one', { 'b.txt': 'B\n' });
      expect(merged((await other.hub.merge([one]))[0])).toBe(first);
    } finally {
      await other.close();
    }
  });

  test('a swap lost to another writer is tried again on what the other made', async () => {
    const one = await w.attempt('one', { 'b.txt': 'B\n' });
    const two = await w.attempt('two', { 'src/x.ts': 'two\n' });
    let times = 0;
    const racing = await w.reopen(async () => {
      // Another process: not behind this one's mutex.
      if (times++ > 0) return;
      const rival = (await import('../../../mainline/merge.ts')).mergeRequests;
      await rival({ dir: w.hub.dir, run: 'run-1' }, [two]);
    });
    merged((await racing.merge([one]))[0]);
    expect(times).toBe(2);
    expect((await w.hub.line()).entries.map((e) => e.request)).toEqual(['two/1', 'one/1']);
  });

  test('three writers at once lose nothing and land nothing twice', async () => {
    const requests: MergeRequest[] = [];
    for (let n = 0; n < 9; n++) requests.push(await w.attempt(`t${n}`, { [`new/${n}.txt`]: `${n}\n` }));
    const { mergeRequests } = await import('../../../mainline/merge.ts');
    const place = { dir: w.hub.dir, run: 'run-1' };
    const write = async (from: number): Promise<void> => {
      for (const request of [...requests.slice(from), ...requests.slice(0, from)]) {
        for (;;) {
          try {
            await mergeRequests(place, [request]);
            break;
          } catch (error) {
            if (!(error instanceof RefMoved)) throw error;
          }
        }
      }
    };
    await Promise.all([write(0), write(3), write(6)]);
    const ids = (await w.hub.line()).entries.map((e) => e.request).toSorted();
    expect(ids).toEqual(requests.map((r) => r.id).toSorted());
  });

  test('a base that is not what the commit grew from is refused: it would undo what lies between', async () => {
    const one = await w.attempt('one', { 'b.txt': 'B\n' });
    const first = merged((await w.hub.merge([one]))[0]);
    const two = await w.attempt('two', { 'src/x.ts': 'two\n' });
    expect(await w.hub.merge([{ ...two, base: first }])).toMatchObject([{ kind: 'refused', rule: 'wrong-base' }]);
  });

  test('a commit that the hub does not have is refused, the others go on', async () => {
    const one = await w.attempt('one', { 'b.txt': 'B\n' });
    const outcomes = await w.hub.merge([{ ...one, id: 'two/1', task: 'two', commit: 'a'.repeat(40) }, one]);
    expect(outcomes).toMatchObject([{ kind: 'refused', rule: 'unknown-commit' }, { kind: 'merged' }]);
  });

  test('the rules of a task see what it changed and can refuse it', async () => {
    const one = await w.attempt('one', { 'b.txt': 'B\n', 'src/x.ts': null });
    const seen: string[] = [];
    const outcomes = await w.hub.merge([one], (request) => (changes) => {
      seen.push(request.id, ...changes.map((c) => `${c.path} ${c.oldMode} ${c.newMode} ${c.size}`));
      return [{ rule: 'scope', path: 'b.txt', message: 'not allowed' }];
    });
    expect(seen).toEqual(['one/1', 'b.txt 100644 100644 2', 'src/x.ts 100644 null null']);
    expect(outcomes).toEqual([{ id: 'one/1', kind: 'refused', rule: 'scope', paths: ['b.txt'] }]);
  });

  test('an attempt that changes nothing lands as a commit with its own trailer', async () => {
    const one = await w.attempt('one', {});
    merged((await w.hub.merge([one]))[0]);
    expect((await w.hub.line()).entries).toHaveLength(1);
  });

  test('nothing is left behind: no quarantine, no pin', async () => {
    const one = await w.attempt('one', { 'b.txt': 'B\n' });
    const two = await w.attempt('two', { 'b.txt': 'two\n' });
    await w.hub.merge([one, two]);
    expect(await gitText(w.hub.dir, ['for-each-ref', 'refs/swarmline/inflight'])).toBe('');
    const { readdir } = await import('node:fs/promises');
    expect(await readdir(`${w.hub.dir}/quarantine`)).toEqual([]);
    expect(await gitText(w.hub.dir, ['fsck', '--unreachable', '--no-reflogs'])).toBe('');
  });
});

describe('pins', () => {
  test('hold a commit that no attempt names while it is merged, also over a crash; the retry takes them away', async () => {
    const one = await w.attempt('one', { 'b.txt': 'B\n' });
    await git(w.hub.dir, ['update-ref', '-d', 'refs/swarmline/tasks/one/1']);
    let held = '';
    const dying = await w.reopen(async () => {
      held = await gitText(w.hub.dir, ['for-each-ref', '--format=%(refname) %(objectname)', 'refs/swarmline/inflight']);
      await git(w.hub.dir, ['gc', '--prune=now', '--quiet']);
      throw new Error('killed');
    });
    await expect(dying.merge([one, one])).rejects.toThrow('killed');
    expect(held).toBe(`refs/swarmline/inflight/one/1 ${one.commit}`);
    // A process that is really killed takes nothing away.
    await git(w.hub.dir, ['update-ref', 'refs/swarmline/inflight/one/1', one.commit]);
    expect((await w.hub.merge([one]))[0]).toMatchObject({ kind: 'merged' });
    expect(await gitText(w.hub.dir, ['for-each-ref', 'refs/swarmline/inflight'])).toBe('');
  });
});

describe('what killed processes leave', () => {
  test('an old lock of a ref is cleared, and the merge goes through', async () => {
    const one = await w.attempt('one', { 'b.txt': 'B\n' });
    const lock = join(w.hub.dir, 'refs/swarmline/next.lock');
    await writeFile(lock, '');
    const minuteAgo = Date.now() / 1000 - 60;
    await utimes(lock, minuteAgo, minuteAgo);
    expect(await w.hub.merge([one])).toMatchObject([{ kind: 'merged' }]);
  });

  test('a lock that is held is waited for', async () => {
    const one = await w.attempt('one', { 'b.txt': 'B\n' });
    const lock = join(w.hub.dir, 'refs/swarmline/next.lock');
    await writeFile(lock, '');
    const merging = w.hub.merge([one]);
    setTimeout(() => void rm(lock), 1_500);
    expect(await merging).toMatchObject([{ kind: 'merged' }]);
  });
});

describe('the refs', () => {
  test('verified and main move forwards along the line; each main is a green point', async () => {
    const one = merged((await w.hub.merge([await w.attempt('one', { 'b.txt': 'B\n' })]))[0]);
    const two = merged((await w.hub.merge([await w.attempt('two', { 'src/x.ts': 'X\n' })]))[0]);
    await expect(w.hub.advanceMain(one)).rejects.toThrow('only moves to what is verified');
    await w.hub.advanceVerified(w.base, one);
    await w.hub.advanceVerified(w.base, one);
    expect(await w.hub.advanceMain(one)).toEqual({ n: 1 });
    expect(await w.hub.advanceMain(one)).toEqual({ n: 1 });
    await expect(w.hub.advanceVerified(w.base, two)).rejects.toThrow(RefMoved);
    await w.hub.advanceVerified(one, two);
    await expect(w.hub.advanceVerified(two, one)).rejects.toThrow('only moves forwards');
    expect(await w.hub.advanceMain(two)).toEqual({ n: 2 });
    await expect(w.hub.advanceMain(one)).rejects.toThrow('only moves forwards');
    expect(await w.hub.line()).toMatchObject({ main: two, verified: two, next: two, greenPoints: 2, entries: [] });
    expect(await gitText(w.hub.dir, ['rev-parse', 'refs/swarmline/green/1'])).toBe(one);
  });

  test('a wave that changed nothing still gives a green point', async () => {
    expect(await w.hub.advanceMain(w.base)).toEqual({ n: 1 });
    expect(await w.hub.advanceMain(w.base)).toEqual({ n: 1 });
  });
});
