import { expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { readFileSync } from 'node:fs';
import { presetTestPaths } from '../../../spec/preset-tests.ts';
import { readSpec } from '../../../spec/read.ts';
import { validateSpec } from '../../../spec/validate.ts';
import { context, FILES } from './fixture.ts';

const EXAMPLE = readFileSync(new URL('../../../examples/annotated.yaml', import.meta.url), 'utf8');

function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const ODD: unknown[] = [
  null,
  undefined,
  0,
  -1,
  1e99,
  NaN,
  true,
  '',
  'x',
  '../x',
  '{file}',
  '{',
  '[',
  '**',
  'a\0b',
  [],
  [[]],
  {},
  { x: 1 },
  [null],
  ['', 3],
  { __proto__: null, constructor: 'x' },
  'constructor',
  '__proto__',
  '{a,b',
  '\\',
  '\ud800',
];

/** Replaces, removes or adds something at a random place. */
function spoil(value: unknown, next: (below: number) => number): unknown {
  if (typeof value !== 'object' || value === null || next(6) === 0) return ODD[next(ODD.length)];
  if (Array.isArray(value)) {
    const at = next(value.length + 1);
    return next(5) === 0 ? [...value, ...value] : value.map((entry, i) => (i === at ? spoil(entry, next) : entry));
  }
  const keys = Object.keys(value);
  const key = next(12) === 0 ? 'constructor' : (keys[next(keys.length)] ?? 'x');
  const copy: Record<string, unknown> = { ...value };
  if (next(8) === 0) delete copy[key];
  else copy[key] = spoil(copy[key], next);
  return copy;
}

it('whatever is submitted gives a compiled spec or problems with a message, never an exception (fuzz)', () => {
  const next = random(11);
  const wrong: string[] = [];
  for (let round = 0; round < 60; round++) {
    let input: unknown = parse(EXAMPLE);
    for (let i = next(4); i >= 0; i--) input = spoil(input, next);
    try {
      for (const where of [context, { files: null }]) {
        const checked = validateSpec(input, where);
        if ((checked.spec === null) !== checked.problems.length > 0) wrong.push(`${round}: spec and problems disagree`);
        if (checked.problems.some(({ message }) => message === '' || /undefined|\[object|NaN/.test(message)))
          wrong.push(`${round}: ${JSON.stringify(checked.problems)}`);
      }
      presetTestPaths(input, FILES);
    } catch (error) {
      wrong.push(`${round}: ${error instanceof Error ? error.stack : String(error)}\n${JSON.stringify(input)}`);
    }
  }
  expect(wrong.slice(0, 3)).toEqual([]);
});

it('whatever is in a file gives data or problems, never an exception (fuzz)', () => {
  const next = random(13);
  const wrong: string[] = [];
  for (let round = 0; round < 20; round++) {
    const at = next(EXAMPLE.length);
    const text =
      EXAMPLE.slice(0, at) +
      ['{', '[', ':', '\t', '- ', '"', '---\n', '&a ', '*a', '#', '\n\n## Task: x\n### Files\n', '`', '|'][next(13)] +
      EXAMPLE.slice(at + next(40));
    for (const format of ['json', 'yaml', 'markdown'] as const) {
      try {
        const read = readSpec(format === 'markdown' ? `---\n${text.slice(0, at)}---\n${text.slice(at)}` : text, format);
        read.lineOf('tasks[0].files.allow[2]');
        validateSpec(read.raw, context);
      } catch (error) {
        wrong.push(`${format} ${at}: ${error instanceof Error ? error.stack : String(error)}`);
      }
    }
  }
  expect(wrong.slice(0, 3)).toEqual([]);
});
