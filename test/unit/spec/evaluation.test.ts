import { describe, expect, it } from '@jest/globals';
import { scoreOf, scoreProblem, trend } from '../../../spec/evaluation.ts';
import { problems, spec } from './fixture.ts';

describe('the score of a green point', () => {
  it.each([
    ['12 passed, 3 failed\nscore: 0.75\n', null, 0.75],
    ['nothing', null, null],
    ['Tests  3 failed | 12 passed (15)\nDuration 3s', 'Tests.*?(\\d+) passed', 12],
    ['1 passed\n2 passed\n', '^(\\d+) passed$', 2],
    ['one passed', '(\\w+) passed', null],
    ['at -3', null, -3],
    ['x', '(y)?x', null],
  ])('in %j by %j is %j', (output, pattern, score) => expect(scoreOf(output, pattern)).toBe(score));

  it('is found by an expression that has a group', () => {
    expect(scoreProblem('(\\d+) passed')).toBeNull();
    expect(scoreProblem('\\d+ passed')).toContain('has no group');
    expect(scoreProblem('(')).toContain('is no regular expression');
  });

  it('is told over time, with what the last one changed', () => {
    const of = (...scores: (number | null)[]): string => trend(scores.map((score) => ({ score })));
    expect(of()).toBe('');
    expect(of(3)).toBe('3');
    expect(of(3, 5.5)).toBe('3 → 5.5 (+2.5)');
    expect(of(3, null, 2)).toBe('3 → ? → 2 (-1)');
    expect(of(3, 3)).toBe('3 → 3 (as before)');
    expect(of(3, null)).toBe('3 → ?');
    expect(of(1, 2, 3, 4, 5, 6, 7)).toBe('… → 2 → 3 → 4 → 5 → 6 → 7 (+1)');
  });
});

describe('policy.evaluate', () => {
  const evaluate = (more: object): string[] => problems(spec({ policy: { evaluate: { run: 'sh x.sh', ...more } } }));

  it('has a command, files by content, and an expression with a group', () => {
    expect(evaluate({ files: { 'hidden/x.sh': { content: 'echo 1' } }, score: '(\\d+)' })).toEqual([]);
    expect(
      evaluate({ run: ' ', files: { 'a*': { content: '' }, '../b': { content: '' }, c: 'suite/c' }, score: '(' }),
    ).toEqual([
      expect.stringContaining('policy.evaluate.run: is empty'),
      expect.stringContaining('policy.evaluate.score: is no regular expression'),
      expect.stringContaining('is a glob; name one file'),
      expect.stringContaining('policy.evaluate.files["../b"]'),
      expect.stringContaining('"suite/c" was not read in'),
    ]);
  });
});
