import { expect, it } from '@jest/globals';
import { reviewLines } from '../../../cli/render/reviews.ts';

it('reviews show each finding with its name and what it proved to be, and nothing that drives a terminal', () => {
  const known = { said: null, outcome: 'rejected', landedLater: true } as const;
  const review = { reviewer: 1, view: 'diff', engine: 'codex', model: 'gpt', calls: 1, ms: 5 } as const;
  const lines = reviewLines([
    {
      task: 'a',
      attempt: 1,
      outcome: 'rejected',
      reviews: [
        {
          ...review,
          verdict: 'reject',
          why: 'Not \u001B[31myet.',
          findings: [
            { ...known, severity: 'blocking', file: 'src/a.ts', line: 3, text: 'Wrong\ntotal.', followed: true },
            { ...known, severity: 'minor', file: null, line: null, text: 'Names.', followed: false },
          ],
        },
      ],
    },
    { task: 'a', attempt: 2, outcome: null, reviews: [{ ...review, model: null, verdict: null, why: 'It timed out.', findings: [] }] },
  ]); // prettier-ignore
  expect(lines.join('\n')).not.toContain('\u001B');
  expect(lines).toEqual([
    'a/1  rejected',
    expect.stringMatching(/^ {2}review-2 \(codex gpt, sees the diff\): reject\. Not .*yet\.$/),
    '    2.1  blocking src/a.ts:3: Wrong total.  [right]',
    '    2.2  minor: Names.  [open]',
    'a/2  under way',
    '  review-2 (codex, sees the diff): no verdict. It timed out.',
  ]);
});
