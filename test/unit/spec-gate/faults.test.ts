import { describe, expect, test } from '@jest/globals';
import { plantFault, sampleFiles } from '../../../spec/gate/faults.ts';

describe('planted faults', () => {
  test('code keeps its syntax and changes its meaning', () => {
    expect(plantFault('a.js', 'export const f = (a, b) => {\n  return a === b;\n};\n').text).toBe(
      'export const f = (a, b) => {\n  return a !== b;\n};\n',
    );
    expect(plantFault('a.py', 'def f():\n    return 4\n').text).toBe('def f():\n    return 14\n');
    expect(plantFault('a.ts', 'export const sum = (a: number, b: number) => a + b;\n').text).toContain('a - b');
  });

  test('imports and comments are left alone', () => {
    const text = "import { a } from './a.js';\n// return true\n/*\n x === y\n*/\nexport const b = 'hello';\n";
    expect(plantFault('a.ts', text).text).toBe(text.replace("'hello'", "'planted fault hello'"));
  });

  test('a file that has nothing to turn round, or is no code, gets a line that no parser accepts', () => {
    expect(plantFault('a.ts', 'export {};\n').text).toMatch(/^export \{\};\n\n\)\]\} planted fault/);
    expect(plantFault('data.json', '{}').text).toMatch(/^\{\}\n\)\]\}/);
  });

  test('every fault changes the file', () => {
    for (const path of ['a.ts', 'a.go', 'README.md', 'Makefile', 'x'])
      expect(plantFault(path, 'x\n').text).not.toBe('x\n');
  });
});

describe('the sample', () => {
  test('is the same each time, spread over the list, code first', () => {
    const files = ['z.md', ...Array.from({ length: 9 }, (_, at) => `src/${at}.ts`)];
    expect(sampleFiles(files, 3)).toEqual(['src/1.ts', 'src/4.ts', 'src/7.ts']);
    expect(sampleFiles(['b.md', 'a.md'], 3)).toEqual(['a.md', 'b.md']);
  });
});
