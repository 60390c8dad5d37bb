/** A planner's answer without a problem, and where it is judged. */
import type { Problem } from '../../../spec/model.ts';
import { checkAnswer, DEFAULT_BOUNDS } from '../../../spec/plan/index.ts';
import type { Decision, PlanContext, PlannedTask } from '../../../spec/plan/index.ts';

type Json = Record<string, unknown>;

export const task = (id: string, more: Json = {}): Json => ({
  id,
  goal: `Write src/${id}.ts, which exports \`${id}()\`.`,
  files: { allow: [`src/${id}.ts`, `test/${id}.test.ts`] },
  acceptance: ['`npm test` passes.'],
  ...more,
});

/** `parse` is depended on by `print`; a decision; a sub-scope. */
export const answer = (more: Json = {}): Json => ({
  decisions: [{ id: 'money-cents', subject: 'format of money', text: 'Whole cents.', interfaces: ['Money'] }],
  scopes: [{ id: 'docs', goal: 'The manual says what the program does.', files: ['docs/**'] }],
  tasks: [
    task('parse', { interface: '`parse(text: string): Entry[]`' }),
    task('print', { dependsOn: ['parse'], goal: 'Write src/print.ts. Amounts: swarm:decision money-cents' }),
  ],
  integration: [{ of: 'parse', by: 'print', test: 'test/print.test.ts' }],
  ...more,
});

export const planned = (id: string, more: Partial<PlannedTask> = {}): PlannedTask => ({
  id,
  kind: 'work',
  files: { allow: [`src/${id}.ts`], forbid: [] },
  interface: `\`${id}()\``,
  dependsOn: [],
  tests: [],
  started: false,
  closed: false,
  dead: false,
  ...more,
});

export const decision = (id: string, more: Partial<Decision> = {}): Decision => ({
  id,
  subject: id,
  text: 'So.',
  interfaces: [],
  owner: '',
  supersededBy: null,
  ...more,
});

export const context = (more: Partial<PlanContext> = {}): PlanContext => ({
  spec: {
    roles: { worker: { engine: 'claude-code', model: null } },
    repository: {
      url: null,
      branch: 'main',
      credentials: null,
      contracts: ['src/types/**'],
      manifests: ['package.json', 'package-lock.json'],
      protected: ['vitest.config.ts'],
      union: ['CHANGELOG.md'],
      maxFileBytes: 1e6,
      fieldGuide: 'docs/field-guide',
    },
    policy: {
      schedule: 'waves',
      attempts: 4,
      fixAttempts: 2,
      inFlight: 200,
      overlap: 'refuse',
      approve: [],
      baseline: 'refuse',
      scaffold: [],
      breaks: [],
      gateProof: 'warn',
      verify: 'batch',
      scope: 'ask',
      reviews: 'any-blocking',
      mutation: { check: 'off', timeMs: 300_000, faults: 20 },
      keepDays: 14,
    },
  },
  node: { id: 'core', depth: 1, files: ['**'] },
  otherScopes: [],
  scopeIds: ['', 'core'],
  tasks: [],
  integrated: [],
  decisions: [],
  overrules: [],
  files: ['README.md', 'package.json', 'vitest.config.ts'],
  bounds: DEFAULT_BOUNDS,
  mayScaffold: false,
  ...more,
});

export const lines = (problems: readonly Problem[]): string[] =>
  problems.map(({ path, message }) => `${path}: ${message}`);
export const problems = (input: unknown, where: Partial<PlanContext> = {}): string[] =>
  lines(checkAnswer(input, context(where)));
