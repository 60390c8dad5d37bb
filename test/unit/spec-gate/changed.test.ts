import { describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { shellQuote, withChanged } from '../../../spec/gate/changed.ts';

describe('{changed}', () => {
  test('a command without it is left alone, whatever changed', () => {
    expect(withChanged('npm test', [])).toBe('npm test');
  });

  test('no changed file means nothing to run', () => {
    expect(withChanged('vitest related --run {changed}', [])).toBeNull();
  });

  test('every occurrence gets every file', () => {
    expect(withChanged('a {changed} && b {changed}', ['x.ts', 'y z.ts'])).toBe("a x.ts 'y z.ts' && b x.ts 'y z.ts'");
  });

  test('no file name is read as an option or as shell by a real shell', () => {
    const hostile = ['-rf', "it's", '$(touch x)', '`id`', 'a\nb', 'a;b', '"q"', '\\', '~', '*', '{a,b}', '$&', "$'"];
    const command = withChanged('for f in {changed}; do printf "%s\\0" "$f"; done', hostile) as string;
    const seen = execFileSync('sh', ['-c', command], { encoding: 'utf8' }).split('\0').slice(0, -1);
    expect(seen).toEqual(['./-rf', ...hostile.slice(1)]);
  });

  test('a plain path stays readable', () => {
    expect(shellQuote('src/v4/locales/zh-CN.ts')).toBe('src/v4/locales/zh-CN.ts');
  });
});
