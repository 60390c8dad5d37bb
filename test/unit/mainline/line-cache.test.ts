import { describe, expect, test } from '@jest/globals';
import { knownCommits, walkBack } from '../../../mainline/line-cache.ts';
import type { Known } from '../../../mainline/line-cache.ts';

describe('the way between two commits', () => {
  const line = new Map<string, Known<string>>([
    ['b', { value: 'B', parent: 'a' }],
    ['c', { value: 'C', parent: 'b' }],
    ['root', { value: 'R', parent: null }],
  ]);

  test('is told oldest first, without its start', () => {
    expect(walkBack(line, 'a', 'c')).toEqual({ values: ['B', 'C'] });
    expect(walkBack(line, 'b', 'c')).toEqual({ values: ['C'] });
    expect(walkBack(line, 'c', 'c')).toEqual({ values: [] });
  });

  test('is not told where a commit is unknown, or where it misses its start', () => {
    expect(walkBack(line, 'z', 'c')).toEqual({ gap: 'a' });
    expect(walkBack(line, 'a', 'd')).toEqual({ gap: 'd' });
    expect(walkBack(line, 'a', 'root')).toEqual({ gap: null });
  });

  test('is one hub’s own, and forgotten when it grows too long', () => {
    const { commits } = knownCommits<number>('one');
    commits.set('x', { value: 1, parent: null });
    expect(knownCommits('one').commits.size).toBe(1);
    expect(knownCommits('two').commits.size).toBe(0);
    for (let n = 0; n <= 20_000; n++) commits.set(String(n), { value: n, parent: null });
    expect(knownCommits('one').commits.size).toBe(0);
  });
});
