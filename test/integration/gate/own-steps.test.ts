/** Steps of ours: references to decisions and the field guide, with real trees and, where a configured step runs, a real container. */
import { afterEach, describe, expect, test } from '@jest/globals';
import type { Decision } from '../../../spec/plan/index.ts';
import { okResult, RUN, world, writes } from './fixture.ts';
import type { World } from './fixture.ts';

// In two parts, so that this file refers to nothing itself.
const ref = (id: string): string => `// swarm:${'decision'} ${id}\n`;
const decision = (id: string, supersededBy: string | null = null): Decision => ({
  id, subject: `about ${id}`, text: `Do ${id}.`, interfaces: [], owner: '', supersededBy,
}); // prettier-ignore
const FILES = { 'src/a.js': `${ref('cents')}export const a = 1;\n`, 'src/old.js': `${ref('never-was')}1;\n` };
const NO_STEPS = { gate: { lint: 'true' } };

describe('references to decisions', () => {
  let at: World;
  afterEach(() => at.close());

  test('to one that is missing or was superseded turn a task red before any container, and the next attempt is told what to follow', async () => {
    at = await world(FILES, {
      ...NO_STEPS,
      tasks: [
        writes('t1', { 'src/b.js': `${ref('cents')}${ref('cent')}2;\n` }),
        writes('t2', { 'src/b.js': ref('euros'), 'src/a.js': ref('euros') }),
      ],
    });
    at.store.decided.push(decision('cents', 'euros'), decision('euros'));
    const { commit } = okResult(await at.agent('t1'));
    const before = at.started.length;
    const red = await at.taskGate('t1', commit);
    expect(red).toMatchObject({
      outcome: 'red',
      cause: 'gate-red',
      step: 'decisions',
      steps: [{ step: 'decisions', ok: false, failures: ['src/b.js:1 cents', 'src/b.js:2 cent', 'src/a.js:1 cents'] }],
    });
    expect(at.started).toHaveLength(before);
    const failure = await at.store.lastFailure(RUN, 't1');
    expect(failure?.log).toContain('src/b.js:1: error: the decision "cents" was superseded: follow "euros"');
    expect(failure?.log).toContain('src/b.js:2: error: there is no decision "cent"');
    expect(failure?.why).toContain('The gate step "decisions" is red.');
    const { commit: good } = okResult(await at.agent('t2'));
    expect(await at.taskGate('t2', good)).toMatchObject({
      outcome: 'green',
      steps: [{ step: 'decisions', ok: true }, { step: 'lint' }],
    });
  });

  test('count in files that a task touched or may touch: not in somebody else’s, nor what nobody knew before', async () => {
    const files = { allow: ['src/b.js', 'src/old.js'], forbid: [], reference: [] };
    at = await world(FILES, {
      ...NO_STEPS,
      tasks: [
        writes('t1', { 'src/b.js': '1;\n', 'src/old.js': `${ref('never-was')}2;\n` }, { files }),
        writes('t2', { 'src/a.js': `${ref('cents')}export const a = 2;\n` }),
        writes('t3', { 'src/b.js': '1;\n' }),
      ],
    });
    at.store.decided.push(decision('cents', 'euros'), decision('euros'));
    expect(await at.taskGate('t1', okResult(await at.agent('t1')).commit)).toMatchObject({ outcome: 'green' });
    const red = { step: 'decisions', steps: [{ failures: ['src/a.js:1 cents'] }] };
    expect(await at.taskGate('t2', okResult(await at.agent('t2')).commit)).toMatchObject(red);
    const { commit } = okResult(await at.agent('t3'));
    expect(await at.taskGate('t3', commit)).toMatchObject(red);
    // On the mainline nobody is blamed for a file that the change did not touch.
    expect(await at.gate({ commit, base: at.base })).toMatchObject({ outcome: 'green' });
  });

  test('may be waived, are not judged where nothing is, and are judged anew when a decision changed', async () => {
    at = await world(FILES, { gate: {}, tasks: [writes('t1', { 'src/a.js': `${ref('cents')}3;\n` })] });
    at.store.decided.push(decision('cents'));
    const { commit } = okResult(await at.agent('t1'));
    expect(await at.taskGate('t1', commit)).toMatchObject({ outcome: 'green' });
    at.store.decided.splice(0, 1, decision('cents', 'euros'), decision('euros'));
    expect(await at.taskGate('t1', commit)).toMatchObject({ outcome: 'red' });
    expect(await at.taskGate('t1', commit, { waive: ['decisions'] })).toMatchObject({ outcome: 'green' });
    expect(await at.taskGate('t1', commit, { only: [] })).toMatchObject({ outcome: 'green', steps: [] });
    expect(await at.gate({ commit, base: at.base, only: ['decisions'] })).toMatchObject({ outcome: 'red' });
    expect(await at.gate({ commit: at.base, key: 'baseline', level: 'wave' })).toMatchObject({ steps: [] });
  });

  test('that a superseding left in files that landed turn nobody red, and are told to whoever plans', async () => {
    at = await world(FILES, { gate: {}, tasks: [writes('t1', { 'src/b.js': '1;\n' })] });
    at.store.decided.push(decision('cents', 'euros'), decision('euros'));
    const { commit } = okResult(await at.agent('t1'));
    const wave = { commit, base: at.base, level: 'wave', key: 'wave-1' } as const;
    expect(await at.gate(wave)).toMatchObject({ outcome: 'green' });
    expect(at.store.notes).toEqual([
      {
        kind: 'decision',
        task: null,
        message: expect.stringContaining('src/a.js:1: the decision "cents" was superseded: follow "euros"'),
      },
    ]);
  });
});

describe('the field guide', () => {
  let at: World;
  afterEach(() => at.close());

  test('is held to its index by whoever touches it, at every level, and nobody else', async () => {
    at = await world(
      { 'src/a.js': '1;\n', 'docs/field-guide/INDEX.md': '- money.md\n', 'docs/field-guide/money.md': 'Cents.\n' },
      {
        gate: {},
        tasks: [
          writes(
            't1',
            { 'docs/field-guide/db.md': 'x\n' },
            { files: { allow: ['docs/**'], forbid: [], reference: [] } },
          ),
          writes('t2', { 'src/a.js': '2;\n' }),
        ],
      },
    );
    const { commit } = okResult(await at.agent('t1'));
    const red = {
      outcome: 'red',
      step: 'guide',
      steps: [{ failures: [expect.stringContaining('does not name db.md')] }],
    };
    expect(await at.taskGate('t1', commit)).toMatchObject(red);
    expect(await at.gate({ commit, base: at.base })).toMatchObject(red);
    expect(await at.taskGate('t2', okResult(await at.agent('t2')).commit)).toMatchObject({
      outcome: 'green',
      steps: [],
    });
  });
});
