import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { layersOf } from '../../../spec/schedule.ts';
import { readSpec } from '../../../spec/read.ts';
import { validateSpec } from '../../../spec/validate.ts';

const CODES =
  'ar az be bg bn ca ckb cs da de el en eo es fa fi fr-CA fr gu he hi hr hu hy id is it ja ka kh km kn ko lt mk ms ne nl nn no ota pl ps pt-BR pt ro ru sk sl sv ta tg th tk tr ua uk ur uz vi yo zh-CN zh-TW';
const locales = CODES.split(' ').map((code) => `src/v4/locales/${code}.ts`);
const files = [
  'package.json',
  'package-lock.json',
  'src/index.ts',
  'src/v4/core/checks.ts',
  'src/v4/locales/index.ts',
  'vitest.config.mjs',
  'tsconfig.json',
  'tsconfig.build.json',
  '.oxlintrc.json',
  '.gitignore',
  'tools/use-locale-kit.mjs',
  ...locales,
];

function check(name: string) {
  const text = readFileSync(new URL(`../../../examples/zod/${name}.yaml`, import.meta.url), 'utf8');
  return validateSpec(readSpec(text, 'yaml').raw, { files });
}

describe.each([
  ['small', 12, 3],
  ['full', 70, 4],
])('the spec of the %s demonstration', (name, tasks, waves) => {
  const { spec, problems, warnings } = check(name);

  it('has no problem and no warning', () => {
    expect(problems).toEqual([]);
    expect(warnings).toEqual([]);
  });

  it(`has ${tasks} tasks in ${waves} waves`, () => {
    const all = spec!.tasks;
    expect(all.length).toBe(tasks);
    const plan = all.map(({ id, kind, dependsOn, priority }, index) => ({ id, kind, dependsOn, priority, index }));
    expect(layersOf(plan).length).toBe(waves);
  });

  it('runs programs that the repository of the demonstration has', () => {
    for (const task of spec!.tasks) {
      const tool = task.run![1]!;
      expect(readFileSync(new URL(`../../../examples/zod/template/${tool}`, import.meta.url), 'utf8')).not.toBe('');
    }
  });
});

it('the full demonstration migrates every locale file by a task of its own', () => {
  const written = check('full')
    .spec!.tasks.filter((task) => task.id.startsWith('locale-') && task.run![1] === 'tools/use-locale-kit.mjs')
    .map((task) => task.files.allow);
  expect(new Set(written.flat())).toEqual(new Set(locales));
  expect(written.every((allow) => allow.length === 1)).toBe(true);
});

it('no tool of the demonstration knows which attempt it is', () => {
  for (const tool of new Set(check('full').spec!.tasks.map((task) => task.run![1]!))) {
    const text = readFileSync(new URL(`../../../examples/zod/template/${tool}`, import.meta.url), 'utf8');
    expect(text).not.toMatch(/\battempt(?:Index|Number)?\b\s*[=!<>.]/);
  }
});
