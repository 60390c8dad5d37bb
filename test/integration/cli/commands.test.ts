import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { main } from '../../../cli/program.ts';
import type { Pool } from '../../../store/index.ts';
import * as store from '../../../store/index.ts';
import { startCluster } from '../store/cluster.ts';
import type { Cluster } from '../store/cluster.ts';
import { compiledSpec, taskSpec } from '../store/fixtures.ts';

let cluster: Cluster;
let db: Pool;
let temporal: TestWorkflowEnvironment;
let worker: Worker;
let working: Promise<void>;
let dir: string;
const before = { ...process.env };

const temporalBinary = (): string => {
  const given = process.env['SWARMLINE_TEMPORAL_BIN'];
  const cached = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'swarmline/bin/temporal');
  return given ?? (existsSync(cached) ? cached : 'temporal');
};

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'swarmline-test-cli-'));
  cluster = await startCluster();
  db = await cluster.database();
  temporal = await TestWorkflowEnvironment.createLocal({
    server: {
      executable: { type: 'existing-path', path: temporalBinary() },
      log: { level: 'error', format: 'pretty' },
    },
  });
  worker = await Worker.create({
    connection: temporal.nativeConnection,
    taskQueue: 'swarmline',
    workflowsPath: fileURLToPath(new URL('./toy-workflow.ts', import.meta.url)),
  });
  working = worker.run();
  process.env['DATABASE_URL'] = db.options.connectionString ?? '';
  process.env['TEMPORAL_ADDRESS'] = temporal.address;
}, 120_000);

afterAll(async () => {
  process.env = before;
  worker.shutdown();
  await working;
  await temporal.teardown();
  await cluster.stop();
  await rm(dir, { recursive: true, force: true });
}, 60_000);

let out = '';
let err = '';
beforeEach(() => {
  out = err = '';
  jest.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    out += String(chunk);
    return true;
  });
  jest.spyOn(process.stderr, 'write').mockImplementation((chunk) => {
    err += String(chunk);
    return true;
  });
});
afterEach(() => {
  jest.restoreAllMocks();
});

const type = (...words: string[]): Promise<number> => main(['node', 'swarmline', ...words]);

const SPEC = (name: string): string => `
name: ${name}
goal: Every order can be cancelled.
repository: {url: "file:///nowhere", branch: main}
gate: {lint: skip, typecheck: skip, test: make test, build: skip}
sandbox: {image: "swarmline/base:bookworm"}
roles: {worker: {engine: scripted}}
tasks:
  - id: a
    goal: Add cancel.ts that exports cancel.
    files: {allow: ["cancel.ts"]}
    acceptance: ["cancel.ts exports cancel"]
    script: [{edits: [{path: cancel.ts, content: "export {}"}]}]
`;
async function specFile(name: string): Promise<string> {
  const path = join(dir, `${name}.yaml`);
  await writeFile(path, SPEC(name));
  return path;
}
/** An open run: its workflow, and its row as the worker would have written it. */
async function openRun(id: string): Promise<void> {
  await temporal.client.workflow.start('runSpec', { taskQueue: 'swarmline', workflowId: id, args: [{ name: id }] });
  await store.saveRun(db, { id, spec: compiledSpec(), phase: 'waves' });
  await store.saveTasks(db, id, [taskSpec('a'), taskSpec('b', { dependsOn: ['a'] })]);
}

describe('run', () => {
  test('submits under the id given, and refuses the same id again', async () => {
    const path = await specFile('orders');
    expect(await type('run', path, '--id', 'orders-1')).toBe(0);
    expect(out).toContain('run orders-1\n');
    expect(out).toMatch(/page: {3}http:\/\/127\.0\.0\.1:\d+\/namespaces\/default\/workflows\/orders-1/);
    expect(await type('run', path, '--id', 'orders-1')).toBe(2);
    expect(err).toContain('There is a run orders-1 already');
    await temporal.client.workflow.getHandle('orders-1').terminate();
    expect(await type('run', path, '--id', 'orders-1')).toBe(2);
  });

  test('says who is missing for it to go on: here nobody polls the queues of the mainline and the sandbox', async () => {
    expect(await type('run', await specFile('orders'), '--id', 'alone')).toBe(0);
    const told = err.trim().split('\n');
    expect(told).toEqual([
      expect.stringContaining('the mainline worker is waited for: none is running'),
      expect.stringContaining('the sandbox worker is waited for: none is running'),
    ]);
    expect(err).toContain('(type: ./swarmline up)');
    out = '';
    expect(await type('status', 'alone')).toBe(0);
    expect(out).toContain('run alone  validate\n');
    expect(out).toContain('  waits for the mainline worker: none is running');
    expect(out).toContain('  waits for admission: ');
    expect(out).not.toContain('orchestrator');
  });

  test('starts nothing where its end could not be seen: no database, or an empty one', async () => {
    const { DATABASE_URL } = process.env;
    const empty = (await cluster.empty()).options.connectionString ?? '';
    for (const url of [empty, 'postgres://x@127.0.0.1:1/x']) {
      process.env['DATABASE_URL'] = url;
      expect(await type('run', await specFile('orders'), '--id', 'unseen')).toBe(3);
    }
    process.env['DATABASE_URL'] = DATABASE_URL;
    await expect(temporal.client.workflow.getHandle('unseen').describe()).rejects.toMatchObject({
      name: 'WorkflowNotFoundError',
    });
  }, 30_000);

  test('makes an id of name and time, as JSON where that is asked for', async () => {
    expect(await type('run', await specFile('orders'), '--json')).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ id: expect.stringMatching(/^orders-\d{8}-\d{6}$/) });
  });

  test('a bad spec starts nothing and tells every problem with its line', async () => {
    const path = join(dir, 'bad.yaml');
    await writeFile(path, SPEC('orders').replace('goal: Add', 'gaol: Add').replace('  - id: a', '  - id: A/B'));
    expect(await type('run', path, '--id', 'never')).toBe(2);
    expect(err).toMatch(/bad\.yaml:\d+ tasks\[0\]\.gaol: .*goal/);
    expect(err).toMatch(/bad\.yaml:\d+ tasks\[0\]/);
    await expect(temporal.client.workflow.getHandle('never').describe()).rejects.toMatchObject({
      name: 'WorkflowNotFoundError',
    });
  });

  test('--watch tells why a run that the worker refuses ended', async () => {
    expect(await type('run', await specFile('refused'), '--id', 'refused-1', '--watch')).toBe(2);
    expect(err).toContain('- goal: is vague');
  });
});

describe('orders', () => {
  beforeAll(() => openRun('open'));

  test.each([
    [['resume', 'open'], 0, 'Resumed: 0 containers thawed'],
    [['pause', 'open', '--drain'], 0, 'Paused, drained'],
    [['retry', 'open', 'a'], 0, 'a is ready, round 2'],
    [['retry', 'open', 'b'], 2, 'b is passed, not blocked'],
    [['deliver', 'open'], 1, 'the origin refused'],
    [['pause', 'opne'], 2, 'The nearest: open'],
    [['retry', 'orders-1', 'a'], 2, 'has ended'],
    [['cancel', 'opne'], 2, 'The nearest: open'],
    [['gc', '--keep-days', '3'], 0, 'removed 2 runs, 3 refs'],
  ])('%p', async (words, code, text) => {
    expect([await type(...words), out + err]).toEqual([code, expect.stringContaining(text)]);
  });

  test('a task that the worker refuses is the user’s to mend', async () => {
    const path = join(dir, 'task.yaml');
    await writeFile(path, 'id: c\n');
    expect(await type('add', 'open', path)).toBe(2);
    expect(err).toContain('- goal: is required {"id":"c"}');
  });

  test('cancel returns when the run has stopped', async () => {
    await openRun('to-cancel');
    expect([await type('cancel', 'to-cancel'), out]).toEqual([0, expect.stringContaining('to-cancel is cancelled')]);
    const { status } = await temporal.client.workflow.getHandle('to-cancel').describe();
    expect(status.name).toBe('CANCELLED');
    expect(await type('cancel', 'to-cancel')).toBe(2);
  });

  test('a run that has ended is delivered by a workflow of its own', async () => {
    await openRun('over');
    await temporal.client.workflow.getHandle('over').executeUpdate('approve', { args: [{ what: 'plan' }] });
    await temporal.client.workflow.getHandle('over').result();
    expect([await type('deliver', 'over'), out]).toEqual([0, 'Pushed c0ffee of over to swarmline/x\n']);
  });
});

describe('looking', () => {
  const key = { run: 'seen', task: 'a', attempt: 1 };
  beforeAll(async () => {
    await store.saveRun(db, { id: 'seen', spec: compiledSpec(), phase: 'waves' });
    await store.saveTasks(db, 'seen', [taskSpec('a'), taskSpec('b', { dependsOn: ['a'] })]);
    await store.startAttempt(db, key, { host: 'h' });
    await store.saveArtifact(db, { ...key, name: 'agent.log' }, 'the agent said so');
    await store.recordGateSteps(db, { run: 'seen', key: 'wave-1', level: 'wave', commit: 'c' }, [
      { step: 'test', ok: false, end: 'exited', exitCode: 1, durationMs: 5, failures: ['x'], flaky: false, tail: 't' },
    ]);
  });

  test.each([
    [['status', 'seen'], 0, 'b waits for a'],
    [['status'], 0, 'seen'],
    [['status', 'sene'], 2, 'seen'],
    [['logs', 'seen', 'a'], 0, 'the agent said so'],
    [['logs', 'seen', 'b'], 0, 'has made no attempt yet'],
    [['logs', 'seen', 'wave-1'], 0, 'red, exit 1'],
    [['logs', 'seen', 'c'], 2, 'The nearest: a, b'],
    [['logs', 'seen', 'a', '--attempt', '7'], 2, 'Its attempts: 1'],
  ])('%p', async (words, code, text) => {
    expect([await type(...words), out + err]).toEqual([code, expect.stringContaining(text)]);
  });

  test('status --json is one object that programs can read', async () => {
    expect(await type('status', 'seen', '--json')).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      run: { id: 'seen' },
      tasks: [{ id: 'a' }, { id: 'b' }],
      needsPerson: false,
    });
  });

  test('watch follows until the end: 0 when it completed, 1 when it did not', async () => {
    const end = { tasks: {}, next: ['swarmline deliver seen'] };
    const watching = type('watch', 'seen');
    await until(() => out.includes('2 tasks') && out.includes('waits for the sandbox worker: '));
    await store.setTaskStates(db, 'seen', [{ id: 'a', state: 'passed', commit: 'c0ffee' }]);
    await until(() => out.includes('a: passed'));
    await store.finishRun(db, 'seen', 'completed', end);
    expect(await watching).toBe(0);
    expect(out).toMatch(/^\d\d:\d\d:\d\d run seen: completed/m);
    expect(out).toContain('swarmline deliver seen');
    await store.finishRun(db, 'seen', 'cancelled', end);
    expect(await type('watch', 'seen', '--json')).toBe(1);
  });

  test('watch ends when only a person can go on, with the command', async () => {
    await openRun('stuck');
    await store.setRunPhase(db, 'stuck', 'waves', [
      { on: 'task a', why: 'red', sinceMs: 1, command: 'swarmline retry stuck a' },
    ]);
    await store.setTaskStates(db, 'stuck', [{ id: 'a', state: 'blocked' }]);
    expect(await type('watch', 'stuck')).toBe(1);
    expect(out).toMatch(/waits for a person[\s\S]*\n {2}swarmline retry stuck a\n$/);
  }, 30_000);
});

describe('what is missing ends with 3', () => {
  test('no Temporal, no Postgres, no schema', async () => {
    const { TEMPORAL_ADDRESS, DATABASE_URL } = process.env;
    process.env['TEMPORAL_ADDRESS'] = '127.0.0.1:1';
    expect(await type('pause', 'open')).toBe(3);
    expect(err).toContain('Temporal does not answer at 127.0.0.1:1');
    process.env['TEMPORAL_ADDRESS'] = TEMPORAL_ADDRESS;
    process.env['DATABASE_URL'] = 'postgres://x@127.0.0.1:1/x';
    expect(await type('status', 'seen')).toBe(3);
    expect(err).toContain('Postgres does not answer');
    process.env['DATABASE_URL'] = (await cluster.empty()).options.connectionString ?? '';
    expect(await type('status', 'seen')).toBe(3);
    expect(err).toContain('holds no swarmline schema');
    process.env['DATABASE_URL'] = DATABASE_URL;
  }, 30_000);
});

/** Polls what is on its way; the test's own time limit ends it. */
async function until(happened: () => boolean): Promise<void> {
  while (!happened()) await new Promise((resolve) => setTimeout(resolve, 50));
}

describe('money', () => {
  const usage = { inputTokens: 1_000, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 100 };
  beforeAll(async () => {
    await store.saveRun(db, { id: 'paid', spec: compiledSpec(), phase: 'waves' });
    await store.saveTasks(db, 'paid', [taskSpec('a'), taskSpec('b'), taskSpec('c')]);
    for (const task of ['a', 'b', 'c']) {
      const key = { run: 'paid', task, attempt: 1 };
      await store.startAttempt(db, key, {});
      await store.reserveCall(db, {
        ...key,
        id: `paid-${task}`,
        role: 'worker',
        model: 'claude-sonnet-4-6',
        upstream: 'anthropic',
        host: 'h',
        microusd: 1,
        tokens: 1,
        requestsPerMinute: null,
        tokensPerMinute: null,
      });
      const end = { state: 'done', estimated: false, status: 200, retries: 0, waitedMs: 0, microusd: 4_500 } as const;
      await store.settleCall(db, `paid-${task}`, { ...end, ...usage });
      await store.endAttempt(db, key, { outcome: 'passed', agentMs: 60_000 });
      await store.setTaskStates(db, 'paid', [{ id: task, state: 'passed' }]);
    }
    await store.saveWaiting(db, 'h', [{ run: 'paid', task: 'a', refusal: 'patience', waitedMs: 3_000 }]);
  });

  test('cost tells what was spent, what came of it, and who waits now', async () => {
    expect(await type('cost', 'paid')).toBe(0);
    expect(out).toContain('run paid  0.0135 USD, 3,300 tokens in 3 model calls');
    expect(out).toMatch(/landed tasks +3, each at 0\.0045 USD all told/);
    expect(out).toMatch(/waiting now +1 call, the longest for/);
    expect(out).toContain('a: 1 call for the upstream, which asked for patience');
    out = '';
    expect(await type('cost', 'paid', '--json')).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ run: 'paid', landedTasks: 3, wasted: { microusd: 0 } });
    expect(await type('cost', 'nobody')).toBe(2);
  });

  test('estimate takes the figures of earlier runs, and says of how many', async () => {
    const path = join(dir, 'paid.yaml');
    await writeFile(
      path,
      SPEC('paid')
        .replace(/repository: .*/, 'repository: {empty: true}')
        .replace('engine: scripted', 'engine: claude-code, model: claude-sonnet-4-6')
        .replace(/ *script: .*/, ''),
    );
    expect(await type('estimate', path, '--slots', '2')).toBe(0);
    expect(out).toMatch(/^worker +claude-sonnet-4-6 +1 +1 min +1,100 +0\.0045 +0\.0045 +measured: 3 of earlier runs$/m);
    expect(out).toMatch(/^attempts a task +1 +measured: 3 tasks of earlier runs$/m);
    expect(out).not.toContain('not known');
  });
});
