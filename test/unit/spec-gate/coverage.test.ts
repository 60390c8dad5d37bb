import { describe, expect, test } from '@jest/globals';
import { addedRanges, describeCoverage, judgeCoverage } from '../../../spec/gate/coverage.ts';
import { parseLcov } from '../../../spec/gate/lcov.ts';

const rule = { report: 'coverage/lcov.info', changedLines: 80 };
const lcov = `TN:\nSF:/workspace/src/a.ts\nDA:1,1\nDA:2,0\nDA:3,0\nDA:5,4\nend_of_record\nSF:./src/b.ts\nDA:1,0\nend_of_record\n`;

describe('coverage of changed lines', () => {
  test('only changed lines that the report knows count', () => {
    const verdict = judgeCoverage(
      rule,
      parseLcov(lcov),
      new Map([
        [
          'src/a.ts',
          [
            { from: 1, to: 2 },
            { from: 4, to: 5 },
          ],
        ],
      ]),
    );
    expect(verdict).toMatchObject({ ok: false, executable: 3, covered: 2 });
    expect(verdict.uncovered).toEqual([{ path: 'src/a.ts', lines: [{ from: 2, to: 2 }] }]);
  });

  test('the verdict names every uncovered range and the threshold', () => {
    const verdict = judgeCoverage(
      rule,
      parseLcov(lcov),
      new Map([
        ['src/a.ts', [{ from: 1, to: 9 }]],
        ['src/b.ts', [{ from: 1, to: 1 }]],
      ]),
    );
    expect(describeCoverage(rule, verdict)).toBe(
      '2 of 5 changed lines ran (40 %), 80 % are required. Not covered: src/a.ts:2-3, src/b.ts:1',
    );
  });

  test('a change without executable lines is green and says so', () => {
    const verdict = judgeCoverage(rule, parseLcov(lcov), new Map([['README.md', [{ from: 1, to: 3 }]]]));
    expect(verdict.ok).toBe(true);
    expect(describeCoverage(rule, verdict)).toContain('No changed line is executable');
  });

  test('exactly the threshold is enough', () => {
    const hits = new Map([
      [
        'a',
        new Map([
          [1, 1],
          [2, 1],
          [3, 1],
          [4, 1],
          [5, 0],
        ]),
      ],
    ]);
    expect(judgeCoverage(rule, hits, new Map([['a', [{ from: 1, to: 5 }]]])).ok).toBe(true);
  });

  test('added ranges come from the hunks of a diff without context; deletions add none', () => {
    expect(
      addedRanges('--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n@@ -3,2 +2,0 @@\n-z\n-z\n@@ -9,0 +8,3 @@ f()\n+1\n+2\n+3\n'),
    ).toEqual([
      { from: 1, to: 1 },
      { from: 8, to: 10 },
    ]);
  });
});
