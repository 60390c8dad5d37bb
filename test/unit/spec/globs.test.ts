import { describe, expect, it } from '@jest/globals';
import { anyGlob, escapeGlob, expandBraces, globMatcher, globProblem } from '../../../spec/globs.ts';
import { globsIntersect, literalPrefix, literalSuffix } from '../../../spec/globs-meet.ts';

/** A small deterministic generator: the same fuzz on every machine. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

describe('globs', () => {
  it.each([
    ['src/**', 'src/a/b.ts', true],
    ['src/**', 'src', false],
    ['**/package.json', 'package.json', true],
    ['**/package.json', 'a/b/package.json', true],
    ['**/package.json', 'a/xpackage.json', false],
    ['src/{a,b}.ts', 'src/b.ts', true],
    ['src/{a,{b,c}/d}.ts', 'src/c/d.ts', true],
    ['src/*.ts', 'src/a/b.ts', false],
    ['*', '.env', true],
    ['app/[id]/page.tsx', 'app/[id]/page.tsx', true],
    ['app/[...slug]/*.tsx', 'app/[...slug]/page.tsx', true],
    ['app/(group)/*.tsx', 'app/(group)/page.tsx', true],
    ['lib/c++/*.h', 'lib/c++/a.h', true],
    ['[a-c].ts', 'b.ts', true],
    ['[^a-c].ts', 'b.ts', false],
    ['a?.ts', 'ab.ts', true],
    ['a?.ts', 'a/.ts', false],
  ])('%s against %s is %s', (glob, path, expected) => {
    expect(globMatcher(glob)(path)).toBe(expected);
  });

  it('hides no path with a newline from a glob', () => {
    expect(globMatcher('secret/**')('secret/\n/a')).toBe(true);
    expect(globMatcher('secret/*')('secret/a\nb')).toBe(true);
  });

  it('matches an escaped name and nothing else', () => {
    for (const name of ['app/[id]/{a,b}.ts', 'a*b', 'a?b', 'x\\y', 'plain.ts', 'app/(g)/c+d@!.ts']) {
      expect(globMatcher(escapeGlob(name))(name)).toBe(true);
      expect(anyGlob([escapeGlob(name)])(name)).toBe(true);
      expect(globMatcher(escapeGlob(name))('app/i/a.ts')).toBe(false);
    }
  });

  it('never calls two globs disjoint that share a path (fuzz)', () => {
    const next = random(7);
    const pick = <T>(from: readonly T[]): T => from[next(from.length)] as T;
    const parts = ['a', 'b', '*', '**', '?', 'a*', '*b', '{a,b}', '[ab]', 'ab', '[^a]', 'b?', '{a,b*}c', '[...a]'];
    const names = ['a', 'b', 'ab', 'ba', 'c', 'ac', 'bbc', '[ab]', '[...a]'];
    const join = (from: readonly string[]): string => Array.from({ length: 1 + next(4) }, () => pick(from)).join('/');
    let met = 0;
    for (let i = 0; i < 4000; i++) {
      const [x, y] = [join(parts), join(parts)];
      for (let k = 0; k < 20; k++) {
        const path = join(names);
        if (!globMatcher(x)(path)) continue;
        expect(path.startsWith(literalPrefix(x)) && path.endsWith(literalSuffix(x))).toBe(true);
        if (!globMatcher(y)(path)) continue;
        met++;
        if (!globsIntersect(x, y)) throw new Error(`${x} and ${y} share ${path}`);
      }
    }
    expect(met).toBeGreaterThan(100);
  });

  it.each([
    ['src/*.ts', 'src/a/**', false],
    ['src/**', 'src/orders/*.ts', true],
    ['src/**', 'tests/**', false],
    ['**/*.test.ts', 'src/**', true],
    ['src/en*.ts', 'src/*fr.ts', true],
    ['src/a*.ts', 'src/b*.ts', false],
    ['src/{a,b}.ts', 'src/{b,c}.ts', true],
    ['src/{a,b}.ts', 'src/{c,d}.ts', false],
    ['a.ts', 'a.ts', true],
    ['**/a', 'b/**/a', true],
  ])('%s and %s can share a path: %s', (a, b, expected) => {
    expect(globsIntersect(a, b)).toBe(expected);
    expect(globsIntersect(b, a)).toBe(expected);
  });

  it.each([
    ['../x', '".."'],
    ['a/{b,..}/c', '".."'],
    ['/etc/passwd', 'absolute'],
    ['C:/x', 'absolute'],
    ['src\\a.ts', 'backslash'],
    ['a\0b', 'NUL'],
    ['', 'empty'],
    ['src/', 'src/**'],
    ['./src/a', '"."'],
    ['!src/a', 'negation'],
    ['.git/config', '.git'],
    ['a//b', 'empty component'],
    ['src/**.ts', 'whole component'],
    ['f{1..9}.ts', 'range'],
    ['**/a/**/b/**/c/**/d/**', 'more than 4'],
    ['*a*b*c*d*e', 'more than 4'],
    ['x'.repeat(1001), 'characters long'],
  ])('refuses the glob %j', (glob, word) => {
    expect(globProblem(glob)).toContain(word);
  });

  it('expands nested braces and stops at the limit', () => {
    expect(expandBraces('a{b,c{d,e}}')).toEqual(['ab', 'acd', 'ace']);
    expect(expandBraces('{a}')).toEqual(['{a}']);
    expect(globProblem('{a,b}'.repeat(20))).toContain('alternatives');
  });
});
