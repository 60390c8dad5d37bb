/** A spec without a problem, and ways to spoil it. */
import type { Problem } from '../../../spec/model.ts';
import { validateSpec, type SpecContext, type Validated } from '../../../spec/validate.ts';

export const FILES = [
  'README.md',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tools/lint.mjs',
  'src/index.ts',
  'src/types/order.ts',
  'src/orders/service.ts',
  'src/orders/repository.ts',
  'src/locales/en.ts',
  'src/locales/fr.ts',
  'src/locales/zh-CN.ts',
  'src/locales/index.ts',
  'tests/orders.test.ts',
  'acceptance/cancel.test.ts',
];

type Json = Record<string, unknown>;

export const task = (id: string, more: Json = {}): Json => ({
  id,
  goal: `Do what ${id} says.`,
  files: { allow: [`src/${id}.ts`] },
  acceptance: ['`npm test` passes.'],
  run: ['node', 'tools/codemod.mjs'],
  ...more,
});

export const spec = (more: Json = {}): Json => ({
  name: 'shop',
  goal: 'Orders can be cancelled.',
  repository: { url: 'https://example.org/shop.git', contracts: ['src/types/**'] },
  gate: { lint: 'node tools/lint.mjs', typecheck: 'npx tsc --noEmit', test: 'npx vitest run', build: 'skip' },
  sandbox: { image: 'swarmline/node:22' },
  roles: { worker: { engine: 'command' } },
  tasks: [task('a')],
  ...more,
});

export const context: SpecContext = {
  files: FILES,
  fileContent: (path) => (FILES.includes(path) ? `content of ${path}` : null),
};

export const check = (input: unknown, where: SpecContext = context): Validated => validateSpec(input, where);

/** `path: message`, one line for each problem. */
export const lines = (problems: readonly Problem[]): string[] =>
  problems.map((problem) => `${problem.path}: ${problem.message}`);

export const problems = (input: unknown, where: SpecContext = context): string[] => lines(check(input, where).problems);
