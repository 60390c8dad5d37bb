import { afterEach, describe, expect, test } from '@jest/globals';
import { CancelledFailure } from '@temporalio/common';
import { okResult, RUN, taskOf, world, writes } from './fixture.ts';
import type { World } from './fixture.ts';

const FILES = {
  'src/a.js': 'export const a = (n) => n + 1;\n',
  'test/a.test.js':
    "import test from 'node:test';\nimport assert from 'node:assert';\nimport { a } from '../src/a.js';\ntest('a adds', () => assert.equal(a(1), 2));\n",
  'package.json': '{"type":"module"}\n',
  'check.sh': 'exit 0\n',
};
const SETUP = { files: ['package.json'], provides: 'node_modules', network: false, installScripts: false };
const TEST = 'node --test test/*.test.js';

describe('a gate', () => {
  let at: World;
  afterEach(() => at.close());

  test('green steps run in order, each in a container of its own, and what one leaves the next does not see', async () => {
    at = await world(FILES, {
      gate: { lint: 'echo x > left-behind', test: `test ! -e left-behind && ${TEST}`, build: 'true' },
      tasks: [],
    });
    const result = await at.gate({ commit: at.base });
    expect(result).toMatchObject({ outcome: 'green', commit: at.base });
    expect(at.started).toEqual([
      'verify mainline:gate.lint',
      'verify mainline:gate.test',
      'verify mainline:gate.build',
    ]);
  });

  test('the first red step ends it, names itself, keeps its log and tells the next attempt', async () => {
    at = await world(FILES, {
      gate: { lint: 'true', test: TEST, build: 'true' },
      tasks: [writes('t1', { 'src/a.js': 'export const a = (n) => n + 2;\n' })],
    });
    const { commit } = okResult(await at.agent('t1'));
    const result = await at.taskGate('t1', commit);
    expect(result).toMatchObject({ outcome: 'red', cause: 'gate-red', step: 'test' });
    expect(result.outcome === 'red' && result.steps.map((step) => [step.step, step.ok])).toEqual([
      ['lint', true],
      ['test', false],
    ]);
    const failure = await at.store.lastFailure(RUN, 't1');
    expect(failure).toMatchObject({ cause: 'gate-red', why: 'The gate step "test" is red (exit code 1).' });
    expect(failure?.log).toContain('a adds');
  });

  test('a report names the failing tests', async () => {
    at = await world(FILES, {
      gate: { test: { command: 'node --test --test-reporter=tap test/*.test.js > report.tap', report: 'report.tap' } },
      tasks: [writes('t1', { 'src/a.js': 'export const a = () => 9;\n' })],
    });
    const { commit } = okResult(await at.agent('t1'));
    const result = await at.taskGate('t1', commit);
    expect(result.outcome === 'red' && result.steps[0]?.failures).toEqual([expect.stringContaining('a adds')]);
    expect(at.store.ended.get('t1/1')?.why).toContain('a adds');
  });

  test('a red that is green when run again is flaky, not red; without a second run it is red', async () => {
    at = await world(FILES, { gate: { lint: 'echo run' }, tasks: [] });
    const runStep = at.deps.sandbox.runStep.bind(at.deps.sandbox);
    let runs = 0;
    Object.assign(at.deps.sandbox, {
      runStep: async (...args: Parameters<typeof runStep>) => ({
        ...(await runStep(...args)),
        exitCode: runs++ % 2 === 0 ? 1 : 0,
      }),
    });
    expect(await at.gate({ commit: at.base, rerunRed: true })).toMatchObject({
      outcome: 'green',
      steps: [{ step: 'lint', ok: true, flaky: true, failures: [expect.stringMatching(/^signature:/)] }],
    });
    expect([...at.store.artifacts.keys()].map((name) => name.replace(/[0-9a-f]{12}/, 'C'))).toEqual([
      '/0/mainline.C.gate.lint.log',
      '/0/mainline.C.gate.lint.again.log',
    ]);
    expect(await at.gate({ commit: at.base, key: 'once' })).toMatchObject({ outcome: 'red' });
  });

  test('out of memory, a deadline and a missing command are told apart', async () => {
    at = await world(FILES, {
      gate: {
        lint: 'node -e "const a=[]; for(;;) a.push(Buffer.alloc(8e6, 1))"',
        typecheck: 'sleep 60',
        build: 'no-such-tool',
      },
      limits: { memoryBytes: 64 * 2 ** 20, stepMs: 2000 },
      tasks: [],
    });
    expect(await at.gate({ commit: at.base, only: ['lint'] })).toMatchObject({
      outcome: 'red',
      cause: 'gate-oom',
      step: 'lint',
    });
    expect(await at.gate({ commit: at.base, only: ['typecheck'] })).toMatchObject({
      outcome: 'red',
      cause: 'gate-timeout',
    });
    expect(await at.gate({ commit: at.base, only: ['build'] })).toMatchObject({
      outcome: 'red',
      cause: 'gate-red',
      steps: [{ exitCode: 127 }],
    });
  });

  test('what a task says about its own judgement has no effect: protected files are those of the line, preset tests those of the spec', async () => {
    const preset = {
      'test/b.test.js': "import fs from 'node:fs';\nif (!fs.existsSync('src/b.js')) process.exit(1);\n",
    };
    at = await world(
      { ...FILES, 'check.sh': 'exit 7\n' },
      {
        gate: { lint: 'sh check.sh', test: TEST },
        protected: ['check.sh', 'config/**'],
        tasks: [taskOf('t1', { tests: preset })],
      },
    );
    const evil = await at.commit(at.base, {
      'src/c.js': '1\n',
      'check.sh': 'exit 0\n',
      'config/new.json': '{}\n',
      'test/b.test.js': 'process.exit(0)\n',
    });
    const result = await at.taskGate('t1', evil);
    expect(result).toMatchObject({ outcome: 'red', step: 'lint', steps: [{ exitCode: 7 }] });
    expect(await at.taskGate('t1', evil, { only: ['test'] })).toMatchObject({ outcome: 'red', step: 'test' });
    expect(await at.gate({ commit: evil, base: at.base })).toMatchObject({ outcome: 'red', step: 'lint' });
  });

  test('a commit is judged merged with what landed meanwhile, and a conflict is one', async () => {
    at = await world(FILES, {
      gate: { test: 'grep -q theirs src/other.js && grep -q mine src/mine.js' },
      tasks: [taskOf('t1')],
    });
    const mine = await at.commit(at.base, { 'src/mine.js': 'mine\n', 'src/a.js': 'mine\n' });
    const theirs = await at.commit(at.base, { 'src/other.js': 'theirs\n' });
    const against = await at.commit(at.base, { 'src/a.js': 'theirs\n' });
    let verified = theirs;
    Object.assign(at.deps.hub, { resolve: async () => verified });
    expect(await at.taskGate('t1', mine)).toMatchObject({ outcome: 'green' });
    verified = against;
    expect(await at.taskGate('t1', mine)).toEqual({ outcome: 'conflict', paths: ['src/a.js'] });
  });

  test('the same tree is judged once; another verified, other steps or another key are judged again', async () => {
    at = await world(FILES, { gate: { lint: 'true', build: 'true' }, tasks: [taskOf('t1')] });
    const mine = await at.commit(at.base, { 'src/mine.js': 'mine\n' });
    const first = await at.taskGate('t1', mine);
    expect(await at.taskGate('t1', mine)).toEqual(first);
    expect(at.started).toHaveLength(2);
    const moved = await at.commit(at.base, { 'src/other.js': 'theirs\n' });
    Object.assign(at.deps.hub, { resolve: async () => moved });
    await at.taskGate('t1', mine);
    expect(at.started).toHaveLength(4);
    await at.taskGate('t1', mine, { only: ['build'] });
    expect(at.started).toHaveLength(5);
  });

  test('{changed} is what the task changed and still exists, quoted; with none there is nothing to run', async () => {
    at = await world(FILES, {
      gate: { lint: 'for f in {changed}; do echo "<$f>"; done', test: 'false {changed}' },
      tasks: [taskOf('t1')],
    });
    const mine = await at.commit(at.base, { "src/it's $(x).js": '1\n', 'src/a.js': null });
    await at.taskGate('t1', mine, { only: ['lint'] });
    expect(at.store.artifacts.get('t1/1/gate.lint.log')).toBe("<src/it's $(x).js>\n");
    const onlyGone = await at.commit(at.base, { 'src/a.js': null });
    expect(await at.taskGate('t1', onlyGone, { only: ['test'] })).toMatchObject({
      outcome: 'green',
      steps: [{ tail: expect.stringContaining('No file') }],
    });
  });

  test('uncovered changed lines turn the coverage step red and are named', async () => {
    const lcov =
      "node -e \"require('fs').writeFileSync('lcov.info', 'SF:src/a.js\\nDA:1,1\\nDA:2,0\\nDA:3,0\\nend_of_record\\n')\"";
    at = await world(
      { ...FILES, 'package.json': '{}\n' },
      { gate: { test: lcov }, coverage: { report: 'lcov.info', changedLines: 80 }, tasks: [taskOf('t1')] },
    );
    const mine = await at.commit(at.base, { 'src/a.js': `${FILES['src/a.js']}two();\nthree();\n` });
    const result = await at.taskGate('t1', mine);
    expect(result).toMatchObject({ outcome: 'red', step: 'coverage' });
    expect(at.store.artifacts.get('t1/1/gate.coverage.log')).toBe(
      '0 of 2 changed lines ran (0 %), 80 % are required. Not covered: src/a.js:2-3\n',
    );
    const untouched = await at.commit(at.base, { 'src/z.js': '1\n' });
    expect(await at.taskGate('t1', untouched)).toMatchObject({ outcome: 'green' });
  });

  test('a waived step is not run and says so; nothing to judge is green', async () => {
    at = await world(FILES, { gate: { lint: 'false', build: 'true' }, tasks: [taskOf('t1')] });
    expect(await at.taskGate('t1', at.base, { waive: ['lint'] })).toMatchObject({
      outcome: 'green',
      steps: [{ step: 'lint', ok: true, tail: expect.stringContaining('Waived') }, { step: 'build' }],
    });
    expect(at.started).toEqual(['gate t1/1:gate.build']);
    expect(await at.taskGate('t1', at.base, { only: [] })).toMatchObject({ outcome: 'green', steps: [] });
  });

  test('a report that is a link to a file of the host, or a pipe, is no report', async () => {
    at = await world(FILES, {
      gate: {
        test: { command: 'ln -s /etc/passwd report.xml; exit 1', report: 'report.xml' },
        build: { command: 'mkfifo pipe; exit 1', report: 'pipe' },
      },
      tasks: [],
    });
    const result = await at.gate({ commit: at.base });
    expect(result.outcome === 'red' && result.steps[0]?.failures).toEqual([expect.stringMatching(/^signature:/)]);
    expect(await at.gate({ commit: at.base, only: ['build'] })).toMatchObject({ outcome: 'red', step: 'build' });
  });

  test('a setup that a task has broken is red with its log; before the first task it is thrown', async () => {
    at = await world(FILES, {
      gate: { lint: 'true' },
      setup: { ...SETUP, run: 'echo no such package; exit 1' },
      tasks: [taskOf('t1')],
    });
    expect(await at.taskGate('t1', at.base)).toMatchObject({
      outcome: 'red',
      cause: 'gate-red',
      steps: [{ failures: ['setup'] }],
    });
    expect((await at.store.lastFailure(RUN, 't1'))?.log).toContain('no such package');
    await expect(at.gate({ commit: at.base, key: 'baseline' })).rejects.toMatchObject({
      type: 'SandboxSetup',
      nonRetryable: true,
    });
  });

  test('what setup provides is there for agents and steps, and never becomes part of a commit', async () => {
    const setup = {
      ...SETUP,
      run: "mkdir -p node_modules/dep && echo 'module.exports = 7' > node_modules/dep/index.js",
    };
    const use = 'node -e "process.exit(require(\'dep\') === 7 ? 0 : 1)"';
    const run = ['sh', '-c', `${use} && mkdir -p node_modules && echo x > node_modules/x && echo 1 > src/b.js`];
    at = await world(FILES, { gate: { test: use }, setup, engine: 'command', tasks: [taskOf('t1', { run })] });
    const { commit, changed } = okResult(await at.agent('t1'));
    expect(changed).toBe(1);
    expect(await at.taskGate('t1', commit)).toMatchObject({ outcome: 'green' });
  });

  test('a lost container is thrown, never red; cancelled, it stays a cancellation and the container is gone', async () => {
    at = await world(FILES, { gate: { lint: 'sleep 600' }, tasks: [] });
    const running = at.start(() =>
      at.activities.runGate({
        run: RUN,
        key: 'mainline',
        level: 'mainline',
        commit: at.base,
        base: null,
        task: null,
        attempt: null,
        onto: null,
        rerunRed: true,
      }),
    );
    await running.inContainer();
    const asked = performance.now();
    running.cancel();
    await expect(running.result).rejects.toThrow(CancelledFailure);
    expect(performance.now() - asked).toBeLessThan(5000);
    expect(at.store.gates.size).toBe(0);
    Object.assign(at.deps.sandbox, {
      runStep: async () => ({
        end: 'engine-lost',
        exitCode: null,
        durationMs: 1,
        outputBytes: 0,
        truncated: false,
        childOom: false,
        detail: null,
      }),
    });
    await expect(at.gate({ commit: at.base })).rejects.toMatchObject({ type: 'Infrastructure', nonRetryable: false });
  });
});
