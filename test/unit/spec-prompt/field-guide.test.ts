import { describe, expect, it } from '@jest/globals';
import { guideIndex, guideProblems, guideRules, newGuideProblems } from '../../../spec/prompt/index.ts';

const rules = { folder: 'guide', index: 'INDEX.md', maxLines: 3 };
const paths = ['src/a.ts', 'guide/INDEX.md', 'guide/money.md', 'guide/db/pool.md'];
const check = (index: string | null, where = paths) => guideProblems(where, index, rules);

describe('the field guide', () => {
  it('is in order when its index names every page, by link or at the beginning of a line', () => {
    expect(check('- money.md: amounts are cents\n- [pool](./db/pool.md#size)\n')).toEqual([]);
    expect(
      check('`money.md`\n* db/pool.md – how many\nSee https://example.org/x.md and [up](../README.md).\n'),
    ).toEqual([]);
    expect(check(null, ['src/a.ts'])).toEqual([]);
    expect(check('', ['guide/INDEX.md'])).toEqual([]);
  });

  it('is told what is missing, too much, too long', () => {
    expect(check('- money.md\n- dates.md: gone\n\n\n\nlast\n')).toEqual([
      'guide/INDEX.md: error: has 6 lines; 3 are allowed, since every agent reads them: move details to pages, one line each',
      'guide/INDEX.md: error: does not name db/pool.md',
      'guide/INDEX.md:2: error: names dates.md, which is not there',
    ]);
    expect(check(null)).toEqual(['guide/INDEX.md: error: is missing, so that nobody is told of money.md, db/pool.md']);
    expect(guideIndex(rules)).toBe('guide/INDEX.md');
  });

  it('is judged by what a change made wrong: what was so before does not count, wherever its line is now', () => {
    const before = { paths, index: '- dates.md: gone\n- money.md\n' };
    const now = (index: string, where = paths) => newGuideProblems(before, { paths: where, index }, rules);
    expect(now('# Guide\n- dates.md: gone\n- money.md\n')).toEqual([]);
    expect(now('- dates.md: gone\n')).toEqual(['guide/INDEX.md: error: does not name money.md']);
    expect(now('- dates.md: gone\n- money.md\n', [...paths, 'guide/new.md'])).toEqual([
      'guide/INDEX.md: error: does not name new.md',
    ]);
  });

  it('that was too long before may stay so, and not grow', () => {
    const long = (lines: number) => ({ paths: [], index: 'x\n'.repeat(lines) });
    expect(newGuideProblems(long(5), long(5), rules)).toEqual([]);
    expect(newGuideProblems(long(5), long(6), rules)).toHaveLength(1);
    expect(newGuideProblems({ paths: [], index: null }, long(4), rules)).toHaveLength(1);
  });

  it('is where the spec says', () => {
    expect(guideIndex(guideRules('doc/guide'))).toBe('doc/guide/INDEX.md');
    expect(guideIndex(guideRules(undefined))).toBe('docs/field-guide/INDEX.md');
  });
});
