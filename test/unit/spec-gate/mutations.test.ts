import { describe, expect, test } from '@jest/globals';
import { isPlantable, lineFaults } from '../../../spec/gate/mutations.ts';

const ALL = [{ from: 1, to: Number.MAX_SAFE_INTEGER }];
/** What becomes of each line, without the rest. */
const faults = (path: string, text: string, lines = ALL): string[] =>
  lineFaults([{ path, text, lines }], 100).map(({ line, what }) => `${line} ${what}`);
/** What one line becomes; '' when nothing is planted in it. */
const became = (path: string, line: string): string =>
  faults(path, line)[0]?.replace(/^1 `.*?`(?: became `(.*)`| (left out))$/s, '$1$2') ?? '';

describe('faults on changed lines of JavaScript and TypeScript', () => {
  test.each([
    ['if (a >= 5) f();', 'if (a < 5) f();'],
    ["const b = kind !== 'x';", "const b = kind === 'x';"],
    ['const ok = a && b;', 'const ok = a || b;'],
    ['if (!ready) return;', 'if (ready) return;'],
    ['if (ready) go = 1;', 'if (!(ready)) go = 1;'],
    ['const x = has(y) ? 1 : 2;', 'const x = !(has(y)) ? 1 : 2;'],
    ['const on: boolean = true;', 'const on: boolean = false;'],
    [
      'export const sum = (a: number, b: number): number => a + b;',
      'export const sum = (a: number, b: number): number => a - b;',
    ],
    ['total += price * count;', 'total -= price * count;'],
    ['list.push(item);', 'left out'],
    ['await save(item);', 'left out'],
    ["throw new Error('no ' + a);", 'left out'],
    ['function f() { return 7; }', 'function f() { return 8; }'],
    ['function f() { return g(x); }', 'function f() { return undefined; }'],
  ])('%s', (line, expected) => expect(became('src/a.ts', line)).toBe(expected));

  test.each([
    "import { a } from './a.js';", 'type A = 1 | 2 | true;', 'interface A { on: true; n: 3 }', '// return a === b', "console.log('x' + y);", 'logger.info(x);',
    "const text = 'a === b';", '/* a && b */', 'return undefined;', 'let a: true | null = null;', 'export type { A };',
  ])('nothing is planted in: %s', (line) => expect(faults('src/a.ts', line)).toEqual([])); // prettier-ignore

  test('JSX keeps its tags', () => {
    expect(became('src/a.tsx', 'const a = <p>{n > 3 ? <b>x</b> : null}</p>;')).toBe(
      'const a = <p>{n <= 3 ? <b>x</b> : null}</p>;',
    );
  });
});

describe('faults on changed lines of Python', () => {
  test.each([
    ['if a >= 5: pass', 'if a < 5: pass'],
    ['ok = a is None', 'ok = a is not None'],
    ['ok = a in b', 'ok = a not in b'],
    ['ok = a and b', 'ok = a or b'],
    ['ok = not a', 'ok = a'],
    ['if ready: go = 1', 'if (not ready): go = 1'],
    ['x = 1 if ready(y) else 2', 'x = 1 if (not ready(y)) else 2'],
    ['flag = True', 'flag = False'],
    ['n = a // b', 'n = a * b'],
    ['items.append(a)', 'left out'],
    ['raise ValueError("no")', 'left out'],
    ['def f(): return a, b', 'def f(): return None'],
    ['def f(n: int = 3) -> int: return 4', 'def f(n: int = 3) -> int: return 5'],
  ])('%s', (line, expected) => expect(became('src/a.py', line)).toBe(expected));

  test.each([
    'import os',
    'from a import b',
    '"""a == b"""',
    '# a == b',
    'print(x)',
    'logging.info(x)',
    'return None',
    '@cache(True)\ndef f(): pass',
  ])('nothing is planted in: %s', (line) => expect(faults('src/a.py', line)).toEqual([]));
});

describe('the choice of faults', () => {
  const text = 'const a = b === c;\nconst d = e === f;\nconst g = h === i;\n';

  test('is one a line, on lines that changed, with the rest of the file as it was', () => {
    const [fault, ...more] = lineFaults([{ path: 'src/a.js', text, lines: [{ from: 2, to: 2 }] }], 20);
    expect(more).toEqual([]);
    expect(fault).toEqual({
      path: 'src/a.js',
      line: 2,
      what: '`const d = e === f;` became `const d = e !== f;`',
      text: 'const a = b === c;\nconst d = e !== f;\nconst g = h === i;\n',
    });
  });

  test('is spread over all files when there are too many, and the same each time', () => {
    const files = ['b', 'a'].map((name) => ({ path: `src/${name}.js`, text, lines: ALL }));
    expect(lineFaults(files, 2).map(({ path, line }) => `${path}:${line}`)).toEqual(['src/a.js:2', 'src/b.js:2']);
    expect(lineFaults(files, 2)).toEqual(lineFaults(files.toReversed(), 2));
  });

  test('leaves tests, types, data and what is generated alone', () => {
    for (const path of ['test/a.js', 'src/a.test.ts', 'tests/test_a.py', 'src/a.d.ts', 'a.json', 'README.md'])
      expect(isPlantable(path)).toBe(false);
    expect(lineFaults([{ path: 'src/a.js', text: 'x = a === b;\n'.repeat(100_000), lines: ALL }], 20)).toEqual([]);
  });

  test('goes line by line in other languages', () => {
    expect(faults('main.go', 'func f() bool {\n\t// return true\n\treturn true\n}\n')).toEqual([
      '3 `return true` became `return false`',
    ]);
  });

  test('never throws, whatever the text', () => {
    for (const odd of ['if (', 'return', '`${', '"""', '}}}', '\0', 'x ? : y', 'not', 'if :'])
      for (const path of ['a.ts', 'a.tsx', 'a.py', 'a.go']) expect(() => faults(path, odd)).not.toThrow();
  });
});
