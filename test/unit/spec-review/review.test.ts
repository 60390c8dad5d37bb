import { describe, expect, it } from '@jest/globals';
import { checkVerdict, decide, findingsLog, readVerdict, VERDICT_PAGE } from '../../../spec/review.ts';
import type { Review, ReviewDecision, Severity } from '../../../spec/review.ts';

const finding = (severity: Severity, text: string = severity) => ({ severity, file: 'src/a.ts', line: 3, text });
const approve = { verdict: 'approve' as const, findings: [], summary: '' };
const reject = (severity: Severity = 'blocking') => ({
  verdict: 'reject' as const,
  findings: [finding(severity)],
  summary: '',
});
const reviews = (...verdicts: Review['verdict'][]): Review[] =>
  verdicts.map((verdict, reviewer) => ({ reviewer, view: reviewer === 0 ? 'diff' : 'tree', verdict }));

describe('a verdict', () => {
  it('is read from what the reviewer said, as its prompt shows it', () => {
    const { verdict, problems } = readVerdict(VERDICT_PAGE);
    expect(problems).toEqual([]);
    expect(verdict).toMatchObject({ verdict: 'reject', findings: [{ severity: 'blocking', line: 12 }] });
  });

  it('that is wrong is told everything at once', () => {
    const bad = { verdict: 'maybe', findings: [{ severity: 'high', file: '', line: 0, text: ' ', more: 1 }], score: 3 };
    expect(checkVerdict(bad).problems.map(({ path }) => path)).toEqual([
      'verdict',
      'findings[0].severity',
      'findings[0].file',
      'findings[0].line',
      'findings[0].text',
      'findings[0].more',
      'score',
    ]);
    expect(readVerdict('Looks good to me!').problems[0]?.message).toMatch(/no JSON object/);
    for (const input of [null, 1, [], 'x', {}]) expect(checkVerdict(input).verdict).toBeNull();
  });

  it('does not contradict itself', () => {
    expect(checkVerdict({ verdict: 'reject' }).problems[0]?.path).toBe('findings');
    expect(checkVerdict({ verdict: 'approve', findings: [finding('blocking')] }).problems[0]?.path).toBe('verdict');
    expect(checkVerdict({ verdict: 'approve', findings: [finding('minor')] }).problems).toEqual([]);
  });
});

describe('reviews together', () => {
  const outcome = (policy: 'any-blocking' | 'majority', ...verdicts: Review['verdict'][]): ReviewDecision['decision'] =>
    decide(policy, reviews(...verdicts)).decision;

  it('any-blocking: one blocking finding rejects, whoever else approves or is missing', () => {
    expect(outcome('any-blocking', approve, approve)).toBe('approved');
    expect(outcome('any-blocking', approve, reject())).toBe('rejected');
    expect(outcome('any-blocking', null, reject())).toBe('rejected');
    expect(outcome('any-blocking', approve, reject('major'))).toBe('approved');
    expect(outcome('any-blocking', approve, null)).toBe('undecided');
  });

  it('majority: more rejections than approvals, when those that are missing could not change it', () => {
    expect(outcome('majority', approve, reject())).toBe('approved');
    expect(outcome('majority', approve, reject(), reject())).toBe('rejected');
    expect(outcome('majority', reject(), null)).toBe('undecided');
    expect(outcome('majority', reject(), reject(), null)).toBe('rejected');
    expect(outcome('majority', approve, null)).toBe('approved');
    expect(outcome('majority', null)).toBe('undecided');
    expect(outcome('majority')).toBe('approved');
  });

  it('do not depend on the order in which they come in', () => {
    const all = reviews(reject('major'), reject(), approve);
    for (const policy of ['any-blocking', 'majority'] as const)
      expect(decide(policy, all.toReversed())).toEqual(decide(policy, all));
  });

  it('are told by file, line and reviewer', () => {
    const at = (file: string | null, line: number | null, text: string) => ({
      severity: 'major' as const,
      file,
      line,
      text,
    });
    const findings = [at('b', 1, 'f'), at('a', 9, 'e'), at('a', 2, 'c'), at('a', null, 'b'), at(null, null, 'a')];
    const both = reviews({ ...approve, findings }, { ...approve, findings: [at('a', 2, 'd')] });
    const told = (all: Review[]) =>
      decide('majority', all)
        .findings.map(({ text }) => text)
        .join('');
    expect(told(both)).toBe('abcdef');
    expect(told(both.toReversed())).toBe('abcdef');
  });

  it('reach the worker as the log of a failed step would, the worst first', () => {
    const found = decide(
      'any-blocking',
      reviews(reject('minor'), { ...reject(), findings: [finding('blocking', 'One.\nTwo.')] }),
    ).findings;
    expect(findingsLog(found)).toBe(
      'src/a.ts:3: error (blocking, by the reviewer of the tree): One.\n    Two.\n' +
        'src/a.ts:3: note (minor, by the reviewer of the diff): minor',
    );
  });
});
