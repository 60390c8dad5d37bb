/** Faults on changed lines, with real tests in real containers. */
import { afterEach, describe, expect, test } from '@jest/globals';
import { okResult, RUN, world, writes } from './fixture.ts';
import type { World } from './fixture.ts';

const TEST = 'node --test test/*.test.js';
const testOf = (body: string): string =>
  `import test from 'node:test';\nimport assert from 'node:assert';\nimport { a, b } from '../src/a.js';\ntest('a', () => { ${body} });\n`;
const FILES = { 'src/a.js': 'export const a = (n) => n + 1;\n', 'package.json': '{"type":"module"}\n' };
const CODE =
  'export const a = (n) => n + 1;\nexport const b = (n) => {\n  if (n >= 18) return "adult";\n  return "child";\n};\n';
const SHARP = 'assert.equal(a(1), 2); assert.equal(b(18), "adult"); assert.equal(b(3), "child");';
const mutation = (check: 'warn' | 'require', timeMs = 60_000) => ({ check, timeMs, faults: 20 });

describe('the mutation check', () => {
  let at: World;
  afterEach(() => at.close());
  const judge = async (task: string) => at.taskGate(task, okResult(await at.agent(task)).commit);

  test('turns an attempt red whose tests do not notice faults on its lines, and names each; sharp tests pass', async () => {
    at = await world(FILES, {
      gate: { lint: 'true', test: TEST },
      mutation: mutation('require'),
      tasks: [
        writes('t1', { 'src/a.js': CODE, 'test/a.test.js': testOf('assert.ok(a(1)); b(1);') }),
        writes('t2', { 'src/a.js': CODE, 'test/a.test.js': testOf(SHARP) }),
        writes('t3', { 'test/b.test.js': testOf('assert.ok(a);').replace(', b', '') }),
      ],
    });
    expect(await judge('t1')).toMatchObject({
      outcome: 'red',
      cause: 'gate-red',
      step: 'mutation',
      steps: [
        { step: 'lint', ok: true },
        { step: 'test', ok: true },
        {
          step: 'mutation',
          ok: false,
          failures: [
            'src/a.js:3 `if (n >= 18) return "adult";` became `if (n < 18) return "adult";`',
            'src/a.js:4 `return "child";` became `return undefined;`',
          ],
        },
      ],
    });
    const failure = await at.store.lastFailure(RUN, 't1');
    expect(failure?.why).toContain('The gate step "mutation" is red. 2 failing:');
    expect(failure?.log).toContain('src/a.js:3: error: not noticed: `if (n >= 18)');
    expect(failure?.log).toContain('0 of 2 faults planted on changed lines were noticed by the step "test".');
    expect(await judge('t2')).toMatchObject({ outcome: 'green', steps: [{}, {}, { step: 'mutation', ok: true }] });
    // Only tests changed: there is nothing to plant in.
    expect(await judge('t3')).toMatchObject({ outcome: 'green', steps: [{ step: 'lint' }, { step: 'test' }] });
    const waived = await at.taskGate('t1', (await at.deps.hub.find({ run: RUN, task: 't1', attempt: 1 }))!, {
      waive: ['mutation'],
    });
    expect(waived).toMatchObject({ outcome: 'green', steps: [{ step: 'lint' }, { step: 'test' }] });
  });

  test('as a warning it is noted and kept, and nothing is red; off, nothing is planted', async () => {
    at = await world(FILES, {
      gate: { test: TEST },
      mutation: mutation('warn'),
      tasks: [writes('t1', { 'src/a.js': CODE, 'test/a.test.js': testOf('a(1); b(1);') })],
    });
    expect(await judge('t1')).toMatchObject({
      outcome: 'green',
      steps: [{}, { step: 'mutation', ok: true, failures: [] }],
    });
    expect(at.store.notes).toEqual([
      {
        kind: 'mutation',
        task: 't1',
        message: expect.stringContaining('Faults that the tests of t1/1 did not notice:\nsrc/a.js:3 '),
      },
    ]);
    expect(at.store.artifacts.get('t1/1/gate.mutation.log')).toContain('not noticed');
    const { commit } = okResult(await at.agent('t1'));
    Object.assign((await at.deps.store.spec(RUN)).policy, { mutation: { check: 'off', timeMs: 1, faults: 20 } });
    const before = at.started.length;
    expect(await at.taskGate('t1', commit)).toMatchObject({ outcome: 'green', steps: [{ step: 'test' }] });
    expect(at.started.length - before).toBe(1);
  });

  test('ends in time, and says what was not tried', async () => {
    at = await world(FILES, {
      gate: { test: 'sleep 2' },
      mutation: mutation('require', 3_000),
      tasks: [writes('t1', { 'src/a.js': CODE })],
    });
    await judge('t1');
    // How many depends on the machine: each takes two seconds and more.
    expect(at.store.artifacts.get('t1/1/gate.mutation.log')).toMatch(/[12] more were not tried: the time was over\./);
  });
});
