import { describe, expect, it } from '@jest/globals';
import { conflictRecords, nextMerging } from '../../../spec/merging.ts';
import type { MergerAttempt } from '../../../spec/merging.ts';

describe('a merger', () => {
  it('is called for work that conflicts, once more after a red attempt, and then no more', () => {
    const first = nextMerging(null, 'a/1');
    expect(first).toEqual({ work: 'a/1', red: 0 });
    const second = nextMerging(first, null);
    expect(second).toEqual({ work: 'a/1', red: 1 });
    expect(nextMerging(second, null)).toBeNull();
    expect(nextMerging(null, null)).toBeNull();
  });
  it('begins anew when its own result conflicts with what landed meanwhile', () => {
    expect(nextMerging({ work: 'a/1', red: 1 }, 'a/3')).toEqual({ work: 'a/3', red: 0 });
  });
});

const attempt = (over: Partial<MergerAttempt>): MergerAttempt => ({
  task: 'a', attempt: 2, ofAttempt: 1, paths: ['x'], merges: ['b/1'], outcome: 'passed', startedAtMs: 0, endedAtMs: 9, workMs: 5, microusd: 7, tokens: 3, ...over,
}); // prettier-ignore

describe('what a conflict cost', () => {
  it('is the sum over the merger’s attempts at it, with what became of it', () => {
    const tries = [attempt({ outcome: 'gate-red', paths: ['x', 'y'] }), attempt({ attempt: 3, merges: ['c/1'] })];
    expect(conflictRecords(tries)).toEqual([
      { request: 'a/1', merges: ['b/1', 'c/1'], paths: ['x', 'y'], attempts: 2, outcome: 'merged', workMs: 10, microusd: 14, tokens: 6 },
    ]); // prettier-ignore
  });
  it('tells what was given up from what is under way, each conflict for itself', () => {
    const tries = [attempt({ outcome: 'gate-red' }), attempt({ attempt: 6, ofAttempt: 5, outcome: null })];
    expect(conflictRecords(tries).map(({ request, outcome }) => [request, outcome])).toEqual([
      ['a/1', 'given up'],
      ['a/5', 'under way'],
    ]);
  });
});
