/** The guards of the house are tested too: a lint rule that cannot fail looks exactly like one that is kept. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

let house: string;
beforeEach(() => {
  house = mkdtempSync(join(tmpdir(), 'swarmline-lint-'));
  for (const file of ['.oxlintrc.json', 'tsconfig.json']) copyFileSync(file, join(house, file));
  symlinkSync(resolve('node_modules'), join(house, 'node_modules'));
});
afterEach(() => rmSync(house, { recursive: true, force: true }));

function lint(files: Record<string, string>): string {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(house, path)), { recursive: true });
    writeFileSync(join(house, path), content);
  }
  try {
    return execFileSync('node_modules/.bin/oxlint', ['--type-aware', '--format', 'unix', '.'], {
      cwd: house,
      encoding: 'utf8',
    });
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}
const exported = 'export const there = 1;\n';

describe('lint refuses', () => {
  test.each([
    [
      'an arrow upwards, from a room to its workflows',
      {
        'workflows/a.ts': exported,
        'mainline/b.ts': "import { there } from '../workflows/a.ts';\nexport const b = there;\n",
      },
    ],
    [
      'an arrow upwards from spec/',
      { 'store/a.ts': exported, 'spec/b.ts': "import { there } from '../store/a.ts';\nexport const b = there;\n" },
    ],
    [
      'an arrow upwards from a folder below',
      {
        'store/a.ts': exported,
        'spec/gate/b.ts': "import { there } from '../../store/a.ts';\nexport const b = there;\n",
      },
    ],
    [
      'an arrow between sandbox and store',
      { 'store/a.ts': exported, 'sandbox/b.ts': "import { there } from '../store/a.ts';\nexport const b = there;\n" },
    ],
    [
      'an activity as a value in workflow code',
      {
        'activities/a.ts': exported,
        'workflows/b.ts': "import { there } from '../activities/a.ts';\nexport const b = there;\n",
      },
    ],
    [
      'a Node built-in in workflow code',
      { 'workflows/b.ts': "import { readFileSync } from 'node:fs';\nexport const b = readFileSync;\n" },
    ],
    [
      'a Node built-in in spec/ without its prefix',
      { 'spec/b.ts': "import { join } from 'path';\nexport const b = join;\n" },
    ],
  ])('%s', (_, files) => {
    expect(lint(files)).toMatch(/no-restricted-imports/);
  });

  test('a floating promise', () => {
    expect(
      lint({ 'store/b.ts': 'async function act(): Promise<void> {}\nexport function b(): void {\n  act();\n}\n' }),
    ).toMatch(/no-floating-promises/);
  });
});

test('lint lets arrows downwards and types of activities through', () => {
  const files = {
    'spec/a.ts': exported,
    'activities/t.ts': 'export interface T {\n  readonly n: number;\n}\n',
    'workflows/b.ts':
      "import type { T } from '../activities/t.ts';\nimport { there } from '../spec/a.ts';\nexport const b: T = { n: there };\n",
  };
  expect(lint(files)).not.toMatch(/restricted|floating/);
});
