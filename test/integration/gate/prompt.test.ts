/** What a worker's prompt takes from the tree that it starts from, and from the run's work log. */
import { afterEach, expect, test } from '@jest/globals';
import { promptFor } from '../../../activities/agent-prompt.ts';
import { engineFor } from '../../../engines/index.ts';
import { openScratch } from '../../../sandbox/scratch.ts';
import { RUN, taskOf, world } from './fixture.ts';
import type { World } from './fixture.ts';

let at: World;
afterEach(() => at.close());

test('an agent is told of the field guide, of decisions that its files no longer follow, of the newest notes, and of files that it is not shown', async () => {
  const many = Object.fromEntries(Array.from({ length: 205 }, (_, n) => [`many/${n}.js`, '1;\n']));
  at = await world(
    {
      ...many,
      'src/a.js': `// swarm:${'decision'} v1\nexport const a = 1;\n`,
      'src/large.js': 'x'.repeat(300_000),
      'src/picture.bin': 'a\0b',
      'docs/field-guide/INDEX.md': '- money.md: amounts are cents\n',
      'docs/field-guide/money.md': 'Cents.\n',
    },
    { gate: {}, tasks: [taskOf('t1', { files: { allow: ['src/**'], forbid: [], reference: ['many/**'] } })] },
  );
  at.store.decided.push(
    { id: 'v1', subject: 'money', text: 'Cents.', interfaces: [], owner: '', supersededBy: 'v2' },
    { id: 'v2', subject: 'money', text: 'Euros.', interfaces: [], owner: '', supersededBy: null },
  );
  for (let n = 1; n <= 25; n++) at.store.notes.push({ kind: 'discovery', task: 't0', message: `note ${n}.` });
  at.store.notes.push({ kind: 'gate-proof', task: null, message: 'for people' });
  const spec = await at.deps.store.spec(RUN);
  const task = await at.deps.store.task(RUN, 't1');
  const scratch = await openScratch({ stateDir: at.deps.stateDir, source: at.hub.dir, union: [] });
  const key = { run: RUN, task: 't1', attempt: 1 };
  const attempt = { key, spec, task, role: spec.roles.worker, engine: engineFor('scripted'), base: at.base, scratch };
  const prompt = await promptFor(attempt, at.base, null, at.deps);
  await scratch.close();
  expect(prompt).toContain('- money.md: amounts are cents');
  expect(prompt).toContain('discovery (t0): note 25.');
  expect(prompt).toContain('discovery (t0): note 6.');
  expect(prompt).not.toMatch(/note 5\.|for people/);
  expect(prompt).toContain('src/a.js:1: the decision "v1" was superseded: follow "v2" (money)');
  expect(prompt).toContain('src/large.js: 300000 bytes, too large to be shown here');
  expect(prompt).toContain('src/picture.bin: 3 bytes that are no text');
  expect(prompt).toContain('many/**: 5 more files to refer to, beyond 200');
});
