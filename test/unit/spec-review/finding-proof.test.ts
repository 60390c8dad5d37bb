import { describe, expect, it } from '@jest/globals';
import { isFollowed, proofOf, readFindingName, reviewerRecords, touchedLines } from '../../../spec/finding-proof.ts';
import type { FindingFacts } from '../../../spec/finding-proof.ts';

const found = (over: Partial<FindingFacts> = {}): FindingFacts => ({
  severity: 'blocking',
  file: 'a.ts',
  said: null,
  followed: false,
  outcome: 'rejected',
  landedLater: false,
  ...over,
});

describe('a finding', () => {
  it('is open as long as nothing is known', () => {
    expect(proofOf(found())).toBe('open');
    expect(proofOf(found({ outcome: 'passed' }))).toBe('open');
  });
  it('was right when a later attempt changed what it names, wrong when the task landed with it as it was', () => {
    expect(proofOf(found({ followed: true, landedLater: true }))).toBe('right');
    expect(proofOf(found({ landedLater: true }))).toBe('wrong');
  });
  it('of an approved attempt is not wrong because the task landed', () => {
    expect(proofOf(found({ severity: 'minor', outcome: 'passed', landedLater: true }))).toBe('open');
  });
  it('of no file in particular is open until somebody says something', () => {
    expect(proofOf(found({ file: null, landedLater: true }))).toBe('open');
    expect(proofOf(found({ file: null, said: 'wrong' }))).toBe('wrong');
  });
  it('was right when the work was the culprit of a red mainline, unless it was a trifle', () => {
    expect(proofOf(found({ severity: 'major', outcome: 'ejected' }))).toBe('right');
    expect(proofOf(found({ severity: 'minor', outcome: 'ejected' }))).toBe('open');
  });
  it('is what a person says it is, whatever else is known', () => {
    expect(proofOf(found({ outcome: 'ejected', said: 'wrong' }))).toBe('wrong');
    expect(proofOf(found({ landedLater: true, said: 'right' }))).toBe('right');
  });
});

describe('lines that were touched', () => {
  it('are those of the older side, with a place for what was only put in', () => {
    const diff = '@@ -3 +3 @@\n-a\n+b\n@@ -10,0 +11,2 @@\n+c\n+d\n@@ -20,4 +23 @@\n-e\n';
    expect(touchedLines(diff)).toEqual([
      { from: 3, count: 1 },
      { from: 10, count: 0 },
      { from: 20, count: 4 },
    ]);
  });
  it('follow a finding when they are at most five lines away', () => {
    const at = [{ from: 20, count: 4 }];
    expect([14, 15, 28, 29].map((line) => isFollowed(line, at))).toEqual([false, true, true, false]);
    expect(isFollowed(10, [{ from: 10, count: 0 }])).toBe(true);
  });
  it('anywhere follow a finding without a line', () => {
    expect(isFollowed(null, [{ from: 900, count: 1 }])).toBe(true);
    expect(isFollowed(null, [])).toBe(false);
  });
});

it('a reviewer is shown with how many of its findings proved right', () => {
  const review = { reviewer: 1, view: 'diff' as const, engine: 'codex', model: 'm' };
  const records = reviewerRecords([
    { ...review, verdict: 'reject', findings: [found({ followed: true }), found({ landedLater: true }), found()] },
    { ...review, verdict: null, findings: [] },
    { ...review, reviewer: 0, verdict: 'approve', findings: [] },
  ]);
  expect(records).toEqual([
    { ...review, reviewer: 0, reviews: 1, rejected: 0, missing: 0, findings: 0, right: 0, wrong: 0 },
    { ...review, reviews: 2, rejected: 1, missing: 1, findings: 3, right: 1, wrong: 1 },
  ]);
});

it.each([
  ['1.1', { reviewer: 0, n: 0 }],
  ['2.13', { reviewer: 1, n: 12 }],
  ['0.1', null],
  ['1', null],
  ['1.0', null],
  ['1.1.1', null],
])('%s names a finding: %j', (name, expected) => {
  expect(readFindingName(name)).toEqual(expected);
});
