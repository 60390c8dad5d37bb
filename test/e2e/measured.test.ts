/**
 * How good a result is, measured twice: by a suite that no agent sees (policy.evaluate), read from a folder beside the spec; and by faults
 * on the lines that a task changed (policy.mutation), which send weak tests back with what they did not notice.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { gitText } from '../../mainline/git.ts';
import { makeOrigin, scripted, specOf } from '../support/stack-repository.ts';
import { openTestStack } from '../support/stack.ts';
import type { TestStack } from '../support/stack.ts';

jest.setTimeout(300_000);

const RUN = 'measured-1';
const HIDDEN = `import { add } from '../src/add.mjs';
import { twice } from '../src/twice.mjs';
// hidden-suite
console.log([add(1, 2) === 3, twice(4) === 8].filter(Boolean).length + ' of 2 passed');
`;
const testOf = (body: string): string =>
  `import assert from 'node:assert';\nimport { add } from '../src/add.mjs';\n${body}\n`;
const ADD = 'export const add = (a, b) => a + b;\n';

let stack: TestStack;
beforeAll(async () => {
  stack = await openTestStack({ env: { SWARMLINE_SLOTS: '4' } });
});
afterAll(() => stack?.stop());

test('scores rise from green point to green point, weak tests come back sharper, and no agent saw the suite', async () => {
  const { url } = await makeOrigin(join(stack.dir, 'origin'), {
    'src/add.mjs': 'export const add = () => 0;\n',
    'src/twice.mjs': 'export const twice = (n) => n;\n',
    'test/none.mjs': '\n',
  });
  await mkdir(join(stack.dir, 'suite'));
  await writeFile(join(stack.dir, 'suite', 'check.mjs'), HIDDEN);
  const spec = specOf('measured', url, {
    gate: { lint: 'skip', typecheck: 'skip', test: 'for t in test/*.mjs; do node "$t" || exit 1; done', build: 'skip' },
    policy: {
      mutation: { check: 'require' },
      evaluate: { run: 'node hidden/check.mjs', files: { hidden: 'suite' }, score: '(\\d+) of \\d+ passed' },
    },
    tasks: [
      scripted('add', [
        { 'src/add.mjs': ADD, 'test/add.mjs': testOf('assert.ok(add(0, 0) === 0);') },
        { 'src/add.mjs': ADD, 'test/add.mjs': testOf('assert.equal(add(1, 2), 3);') },
      ]),
      scripted(
        'twice',
        [{ 'src/twice.mjs': "import { add } from './add.mjs';\nexport const twice = (n) => add(n, n);\n" }],
        {
          dependsOn: ['add'],
        },
      ),
    ],
  });
  const started = await stack.swarmline('run', await stack.file('spec.json', spec), '--id', RUN);
  expect(started).toMatchObject({ code: 0 });
  const { run } = await stack.awaitRun(RUN, 'its end', (now) => now.run.outcome !== null, 240_000);
  expect(run.outcome).toBe('completed');

  const { out } = await stack.swarmline('status', RUN, '--json');
  const shown = JSON.parse(out) as {
    evaluations: { n: number; ok: boolean; score: number }[];
    run: { report: object };
  };
  expect(shown.evaluations.map(({ n, ok, score }) => [n, ok, score])).toEqual([
    [0, true, 0],
    [1, true, 1],
    [2, true, 2],
  ]);
  expect(shown.run.report).toMatchObject({ scores: [{ score: 0 }, { score: 1 }, { score: 2 }] });
  expect((await stack.swarmline('status', RUN)).out).toContain('score by green point: 0 → 1 → 2 (+1)');

  const { rows } = await stack.db.query(
    'select attempt, outcome from attempts where run = $1 and task = $2 order by 1',
    [RUN, 'add'],
  );
  expect(rows).toEqual([
    { attempt: 1, outcome: 'gate-red' },
    { attempt: 2, outcome: 'passed' },
  ]);
  const log = await stack.swarmline('logs', RUN, 'add', '--attempt', '1');
  expect(log.out).toContain('src/add.mjs:1: error: not noticed: `export const add = (a, b) => a + b;` became');

  const kept = await stack.db.query(
    "select count(*)::int as n from artifacts where run = $1 and content like '%hidden-suite%'",
    [RUN],
  );
  expect(kept.rows).toEqual([{ n: 0 }]);
  const objects = await gitText(stack.hubDir(RUN), ['cat-file', '--batch-all-objects', '--batch']);
  expect(objects).toContain('export const add');
  expect(objects).not.toContain('hidden-suite');
});
