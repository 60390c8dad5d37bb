import { afterEach, describe, expect, test } from '@jest/globals';
import { taskOf, world } from './fixture.ts';
import type { World } from './fixture.ts';

const TAP = (failing: string): string =>
  `1..2\n${failing === 'old' ? 'not ok' : 'ok'} 1 - old\n${failing === 'new' ? 'not ok' : 'ok'} 2 - new\n`;
const REPORTED = { command: 'cp src/tap report.tap; ! grep -q "^not" src/tap', report: 'report.tap' };

describe('a baseline that is red', () => {
  let at: World;
  afterEach(() => at.close());

  test('is refused with every red step, not only the first', async () => {
    at = await world({ 'src/tap': TAP('old') }, { gate: { lint: 'false', test: REPORTED, build: 'true' }, tasks: [] });
    const result = await at.gate({ key: 'baseline', level: 'wave', commit: at.base });
    expect(result).toMatchObject({
      outcome: 'red',
      step: 'lint',
      steps: [{ ok: false }, { ok: false, failures: ['old'] }, { ok: true }],
    });
  });

  test('is recorded where the policy says so, and then only new failures count', async () => {
    at = await world(
      { 'src/tap': TAP('old') },
      { gate: { test: REPORTED }, baseline: 'record', tasks: [taskOf('t1')] },
    );
    expect(await at.gate({ key: 'baseline', level: 'wave', commit: at.base })).toMatchObject({
      outcome: 'green',
      steps: [{ ok: false, failures: ['old'] }],
    });
    const harmless = await at.commit(at.base, { 'src/x': '1\n' });
    expect(await at.taskGate('t1', harmless)).toMatchObject({ outcome: 'green' });
    const harm = await at.commit(at.base, { 'src/tap': TAP('new') });
    expect(await at.taskGate('t1', harm)).toMatchObject({ outcome: 'red', steps: [{ failures: ['new'] }] });
  });

  test('cannot be recorded when a red step has no report', async () => {
    at = await world(
      { 'src/tap': TAP('old') },
      { gate: { lint: 'false', test: REPORTED }, baseline: 'record', tasks: [] },
    );
    expect(await at.gate({ key: 'baseline', level: 'wave', commit: at.base })).toMatchObject({
      outcome: 'red',
      step: 'lint',
    });
  });
});

describe('the proof that the gate can fail', () => {
  let at: World;
  afterEach(() => at.close());

  test('names a file whose fault no step notices, and the step that noticed the others', async () => {
    at = await world(
      {
        'src/used.js': 'export const same = (a, b) => a === b;\n',
        'src/unused.js': 'export const same = (a, b) => a === b;\n',
        'check.mjs': "import { same } from './src/used.js';\nif (!same(1, 1)) process.exit(1);\n",
      },
      { gate: { lint: 'true', test: 'node check.mjs' }, tasks: [taskOf('t1')], protected: ['check.mjs'] },
    );
    expect(await at.proof(at.base, 3)).toEqual({
      planted: [
        { path: 'src/unused.js', redStep: null },
        { path: 'src/used.js', redStep: 'test' },
      ],
    });
  });

  test('whole steps are tried where the narrow ones notice nothing', async () => {
    at = await world(
      {
        'src/used.js': 'export const t = () => {\n  return true;\n};\n',
        'check.mjs': "import { t } from './src/used.js';\nprocess.exit(t() ? 0 : 1);\n",
      },
      { gate: { test: { command: 'true', wave: 'node check.mjs' } }, tasks: [taskOf('t1')] },
    );
    expect(await at.proof(at.base, 1)).toEqual({ planted: [{ path: 'src/used.js', redStep: 'test' }] });
  });
});
