import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createRecordActivities } from '../../../activities/records.ts';
import type { AgentResult, GateResult, GateStepResult, TaskState } from '../../../spec/model.ts';
import type { Pool } from '../../../store/db.ts';
import * as store from '../../../store/index.ts';
import { startCluster } from './cluster.ts';
import type { Cluster } from './cluster.ts';
import { compiledSpec, taskSpec } from './fixtures.ts';

let cluster: Cluster;
let db: Pool;
beforeAll(async () => {
  cluster = await startCluster();
}, 60_000);
afterAll(() => cluster.stop(), 60_000);
beforeEach(async () => {
  db = await cluster.database();
  await store.saveRun(db, { id: 'r', spec: compiledSpec(), startedAtMs: 1_000 });
  await store.saveTasks(db, 'r', [taskSpec('a'), taskSpec('b', { dependsOn: ['a'] })]);
});

const key = { run: 'r', task: 'a', attempt: 1 };
const step: GateStepResult = {
  step: 'test',
  ok: false,
  end: 'exited',
  exitCode: 1,
  durationMs: 12.4,
  failures: ['adds > two numbers'],
  flaky: false,
  tail: 'expected 4, got 5',
};
const green: GateResult = { outcome: 'green', steps: [{ ...step, ok: true, exitCode: 0 }], commit: 'c1' };
const passed: AgentResult = { ok: true, commit: 'c1', base: 'b0', changed: 2 };

/** Everything in the database but the times at which rows were touched. */
async function content(): Promise<unknown> {
  const tables = [
    'runs',
    'tasks',
    'attempts',
    'gate_runs',
    'gate_results',
    'merges',
    'green_points',
    'artifacts',
    'hosts',
  ];
  const all: Record<string, unknown> = {};
  for (const table of [...tables, 'log_entries']) {
    const { rows } = await db.query(
      `select to_jsonb(t) - 'updated_at' - 'seen_at' - 'at' as row from ${table} t order by 1`,
    );
    all[table] = rows.map((row) => row.row);
  }
  return all;
}

const writes: Record<string, () => Promise<unknown>> = {
  saveRun: () => store.saveRun(db, { id: 'r', spec: compiledSpec(), execution: 'x', baseCommit: 'b0' }),
  setRunPhase: () => store.setRunPhase(db, 'r', 'waves', { on: 'a person' }),
  setRunFacts: () => store.setRunFacts(db, 'r', { imageDigest: 'sha256:1' }),
  setPaused: () => store.setPaused(db, 'r', true),
  finishRun: () => store.finishRun(db, 'r', 'completed', { landed: 2 }),
  saveTasks: () => store.saveTasks(db, 'r', [taskSpec('c')], 2),
  amendTask: () => store.amendTask(db, 'r', 'a', taskSpec('a', { goal: 'another', priority: 3 })),
  setTaskStates: () =>
    store.setTaskStates(
      db,
      'r',
      [{ id: 'a', state: 'blocked', waitingOn: 'a person', waitingSinceMs: 5, why: 'red' }],
      7,
    ),
  startAttempt: () => store.startAttempt(db, key, { host: 'h1', base: 'b0', queuedMs: 3 }),
  recordAgent: () => store.recordAgent(db, key, passed, 100),
  markAttempt: () => store.markAttempt(db, key, { phase: 'merge', gateMs: 5, mergedAtMs: 9 }),
  endAttempt: () => store.endAttempt(db, key, { outcome: 'gate-red', why: 'test', gateMs: 12 }),
  recordGateSteps: () => store.recordGateSteps(db, { run: 'r', key: 'a/1', level: 'task', commit: 'c1' }, [step]),
  saveGateResult: () => store.saveGateResult(db, { run: 'r', key: 'wave-1', level: 'wave', commit: 'c1' }, green),
  recordMerges: () =>
    store.recordMerges(db, 'r', [{ request: 'a/1', task: 'a', attempt: 1, state: 'merged', mergedAtMs: 8 }], 8),
  saveGreenPoint: () => store.saveGreenPoint(db, 'r', { n: 1, commit: 'c1', wave: 1 }),
  saveArtifact: () => store.saveArtifact(db, { ...key, name: 'agent.log' }, 'output'),
  touchHost: () => store.touchHost(db, { id: 'h1', slots: 4, running: 2 }),
  addLogEntry: () => store.addLogEntry(db, { run: 'r', key: 'k', kind: 'ejected', task: 'a', message: 'culprit' }),
};

describe('every write', () => {
  test.each(Object.keys(writes))('%s told twice leaves what it left the first time', async (name) => {
    await writes[name]?.();
    const once = await content();
    await writes[name]?.();
    expect(await content()).toEqual(once);
  });

  test('all of them, repeated at random by four clients at once, leave one row each', async () => {
    const names = Object.keys(writes).filter((name) => name !== 'finishRun');
    const jobs = Array.from({ length: 4 }, (__, client) =>
      names.map((_, i) => names[(i * (client + 3)) % names.length]),
    );
    await Promise.all(
      jobs.map(async (job) => {
        for (const name of job) await writes[name as string]?.();
      }),
    );
    for (const name of names) await writes[name]?.();
    const { rows } = await db.query(
      `select (select count(*) from attempts) as attempts, (select count(*) from merges) as merges,
         (select count(*) from log_entries) as entries, (select version from tasks where id = 'a') as version`,
    );
    expect(rows[0]).toEqual({ attempts: 1, merges: 1, entries: 1, version: 2 });
  });
});

describe('runs', () => {
  test('the spec comes back as it went in', async () => {
    const spec = compiledSpec([taskSpec('a', { goal: 'täst 🐝 \\u0000 "quoted"\n' })]);
    await store.saveRun(db, { id: 'q', spec });
    expect(await store.loadSpec(db, 'q')).toEqual(spec);
  });

  test('an id that another execution used is refused', async () => {
    await store.saveRun(db, { id: 'r', spec: compiledSpec(), execution: 'first' });
    await expect(store.saveRun(db, { id: 'r', spec: compiledSpec(), execution: 'second' })).rejects.toThrow(
      'choose another',
    );
  });

  test('a run that is not there is a typed error, never a silent success', async () => {
    await expect(store.setPaused(db, 'nobody', true)).rejects.toMatchObject({ name: 'UnknownRun', run: 'nobody' });
    await expect(store.loadSpec(db, 'nobody')).rejects.toMatchObject({ name: 'UnknownRun' });
    expect(await store.loadRun(db, 'nobody')).toBeNull();
  });

  test('its first end stays when the end is told again later', async () => {
    await store.finishRun(db, 'r', 'completed', {});
    const first = (await store.loadRun(db, 'r'))?.endedAtMs;
    await store.finishRun(db, 'r', 'completed', { landed: 2 });
    expect(await store.loadRun(db, 'r')).toMatchObject({ endedAtMs: first, report: { landed: 2 }, phase: 'done' });
  });
});

describe('a change that comes late', () => {
  test('overwrites nothing newer of a run, nor its end, and is no error', async () => {
    await store.setPaused(db, 'r', true, 2_000);
    await store.setRunPhase(db, 'r', 'waves', [{ on: 'a person' }], 2_000);
    await store.setPaused(db, 'r', false, 1_000);
    await store.setRunPhase(db, 'r', 'prepare', null, 1_000);
    expect(await store.loadRun(db, 'r')).toMatchObject({ paused: true, phase: 'waves', details: [{ on: 'a person' }] });
    await store.finishRun(db, 'r', 'completed', {}, 3_000);
    await store.setPaused(db, 'r', true, 2_000);
    await store.setRunPhase(db, 'r', 'deliver', null, 2_000);
    expect(await store.loadRun(db, 'r')).toMatchObject({ paused: false, phase: 'done', outcome: 'completed' });
  });

  test('of recordRun leaves a newer state of a task as it is', async () => {
    const activities = createRecordActivities({ db, prices: [], notify: async () => undefined });
    const at = (atMs: number, state: TaskState, phase: string): Parameters<typeof activities.recordRun>[0] => ({
      run: 'r',
      atMs,
      phase,
      waiting: [],
      changes: [{ id: 'a', state }],
      paused: false,
    });
    const records = new MockActivityEnvironment();
    const recordRun = (input: Parameters<typeof activities.recordRun>[0]): Promise<void> => activities.recordRun(input);
    await records.run(recordRun, at(2_000, 'passed', 'deliver'));
    await records.run(recordRun, at(1_000, 'running', 'waves'));
    expect(await store.loadRun(db, 'r')).toMatchObject({ phase: 'deliver' });
    expect((await store.listTasks(db, 'r')).find(({ id }) => id === 'a')).toMatchObject({ state: 'passed' });
  });
});

describe('tasks', () => {
  test('absent fields stay, null clears, and leaving a wait clears its since and why', async () => {
    await store.setTaskStates(db, 'r', [
      {
        id: 'a',
        state: 'blocked',
        wave: 2,
        waitingOn: 'a person',
        waitingSinceMs: 1_234,
        waitingWhy: 'red',
        why: 'test',
      },
    ]);
    await store.setTaskStates(db, 'r', [{ id: 'a', state: 'retrying', waitingOn: null }]);
    expect((await store.listTasks(db, 'r'))[0]).toMatchObject({
      state: 'retrying',
      wave: 2,
      waitingOn: null,
      waitingSinceMs: null,
      waitingWhy: null,
      why: 'test',
    });
  });

  test('a state that comes late does not overwrite a newer one', async () => {
    await store.setTaskStates(db, 'r', [{ id: 'a', state: 'passed' }], 20);
    await store.setTaskStates(db, 'r', [{ id: 'a', state: 'running' }], 10);
    expect((await store.listTasks(db, 'r'))[0]?.state).toBe('passed');
  });

  test('several changes of one task in a batch count in their order', async () => {
    await store.setTaskStates(db, 'r', [
      { id: 'a', state: 'ready', wave: 1 },
      { id: 'a', state: 'running', attempts: 1 },
    ]);
    expect((await store.listTasks(db, 'r'))[0]).toMatchObject({ state: 'running', wave: 1, attempts: 1 });
  });

  test('a thousand states are one statement', async () => {
    const many = Array.from({ length: 1_000 }, (_, i) => taskSpec(`t${i}`));
    await store.saveTasks(db, 'r', many, 2);
    await store.setTaskStates(
      db,
      'r',
      many.map((task) => ({ id: task.id, state: 'ready', wave: 1 })),
    );
    const { rows } = await db.query("select count(*) as n from tasks where state = 'ready'");
    expect(rows[0]).toEqual({ n: 1_000 });
  });

  test('an amended task keeps its text when the plan is saved again', async () => {
    expect(await store.amendTask(db, 'r', 'a', taskSpec('a', { goal: 'amended' }))).toBe(2);
    await store.saveTasks(db, 'r', [taskSpec('a')]);
    expect(await store.loadTask(db, 'r', 'a')).toMatchObject({ version: 2, spec: { goal: 'amended' } });
  });

  test('an unknown task is null', async () => {
    expect(await store.loadTask(db, 'r', 'zz')).toBeNull();
    expect(await store.amendTask(db, 'r', 'zz', taskSpec('zz'))).toBeNull();
  });
});

describe('attempts', () => {
  test('of two results of one attempt the first stays, and both are told the same', async () => {
    expect(await store.recordAgent(db, key, passed, 100)).toEqual(passed);
    expect(await store.recordAgent(db, key, { ...passed, commit: 'other' }, 200)).toEqual(passed);
    expect(await store.loadAgentResult(db, key)).toEqual(passed);
    expect(await store.runningAttempts(db, 'r')).toMatchObject([{ commit: 'c1', agentMs: 100, phase: 'gate' }]);
  });

  test('an attempt that moved to another host stands there, and one that has ended does not start again', async () => {
    await store.startAttempt(db, key, { host: 'h1' });
    await store.startAttempt(db, key, { host: 'h2' });
    expect((await store.runningAttempts(db))[0]?.host).toBe('h2');
    expect((await store.listTasks(db, 'r'))[0]?.attempts).toBe(1); // it is one attempt all the same
    await store.endAttempt(db, key, { outcome: 'scope', why: 'left its scope' });
    await store.startAttempt(db, key, { host: 'h3' });
    expect(await store.listAttempts(db, 'r', 'a')).toMatchObject([{ host: 'h2', outcome: 'scope', phase: 'done' }]);
    expect(await store.runningAttempts(db)).toEqual([]);
  });

  test('a passed attempt can be ejected later without its end moving', async () => {
    await store.startAttempt(db, key, {});
    await store.endAttempt(db, key, { outcome: 'passed', landedAtMs: 50 });
    const [first] = await store.listAttempts(db, 'r', 'a');
    await store.endAttempt(db, key, { outcome: 'ejected', why: 'culprit of wave 1' });
    expect(await store.listAttempts(db, 'r', 'a')).toEqual([
      { ...first, outcome: 'ejected', why: 'culprit of wave 1' },
    ]);
  });

  test('an attempt queues from its green gate until it is merged, and again when it is resubmitted', async () => {
    const row = async () => (await store.listAttempts(db, 'r', 'a'))[0];
    await store.startAttempt(db, key, {});
    await store.markAttempt(db, key, { phase: 'merge' });
    const first = await row();
    expect(first).toMatchObject({ requestedAtMs: expect.any(Number), mergedAtMs: null });
    await store.markAttempt(db, key, { phase: 'merge' });
    expect(await row()).toEqual(first);
    await store.markAttempt(db, key, { phase: 'merge', mergedAtMs: 77 });
    expect(await row()).toEqual({ ...first, mergedAtMs: 77 });
    await store.endAttempt(db, key, { outcome: 'ejected' });
    expect(await row()).toMatchObject({ mergedAtMs: 77, phase: 'done' });
    await store.markAttempt(db, key, { phase: 'merge' });
    expect(await row()).toMatchObject({ mergedAtMs: null, phase: 'merge' });
  });

  test('the next attempt is told of the newest failure: its artifact, else the tail of the red step', async () => {
    expect(await store.lastFailure(db, 'r', 'a')).toBeNull();
    await store.recordGateSteps(db, { run: 'r', key: 'a/1', level: 'task', commit: 'c1' }, [step]);
    await store.endAttempt(db, key, { outcome: 'gate-red', why: 'test is red', failureArtifact: 'gate.test.log' });
    expect(await store.lastFailure(db, 'r', 'a')).toEqual({
      attempt: 1,
      cause: 'gate-red',
      why: 'test is red',
      log: 'expected 4, got 5',
    });
    await store.saveArtifact(db, { ...key, name: 'gate.test.log' }, 'the whole log');
    expect((await store.lastFailure(db, 'r', 'a'))?.log).toBe('the whole log');
    await store.endAttempt(db, { ...key, attempt: 2 }, { outcome: 'cancelled' });
    expect((await store.lastFailure(db, 'r', 'a'))?.attempt).toBe(1);
  });
});

describe('gates and merges', () => {
  test('a gate result comes back whole, steps by step', async () => {
    const ref = { run: 'r', key: 'a/1', level: 'task', commit: 'c1', tree: 't1' } as const;
    expect(await store.loadGateResult(db, 'r', 'a/1', 'task', 'c1')).toBeNull();
    await store.saveGateResult(db, ref, green, { waived: ['test'], artifacts: { test: 'gate.test.log' } });
    expect(await store.loadGateResult(db, 'r', 'a/1', 'task', 'c1')).toEqual(green);
    expect(await store.gateSteps(db, 'r', 'a/1')).toMatchObject([
      { step: 'test', ok: true, waived: true, artifact: 'gate.test.log', ms: 12, failures: ['adds > two numbers'] },
    ]);
  });

  test('a conflict is a gate result, too', async () => {
    const conflict: GateResult = { outcome: 'conflict', paths: ['a.ts'] };
    await store.saveGateResult(db, { run: 'r', key: 'a/1', level: 'task', commit: 'c1' }, conflict);
    expect(await store.loadGateResult(db, 'r', 'a/1', 'task', 'c1')).toEqual(conflict);
  });

  test('a merge keeps what it was told before', async () => {
    const request = { request: 'a/1', task: 'a', attempt: 1 };
    await store.recordMerges(db, 'r', [{ ...request, state: 'queued', requestedAtMs: 1 }], 1);
    await store.recordMerges(db, 'r', [{ ...request, state: 'merged', commit: 'm', mergedAtMs: 2 }], 2);
    await store.recordMerges(db, 'r', [{ ...request, state: 'verified', verifiedAtMs: 3 }], 3);
    await store.recordMerges(db, 'r', [{ ...request, state: 'queued' }], 1);
    expect(await store.listMerges(db, 'r')).toEqual([
      { ...request, state: 'verified', commit: 'm', requestedAtMs: 1, mergedAtMs: 2, verifiedAtMs: 3, why: null },
    ]);
  });
});

describe('text', () => {
  test('NUL and half surrogates are stored as what Postgres takes, everywhere', async () => {
    const bad = 'a\0b\ud800c';
    await store.saveArtifact(db, { ...key, name: 'agent.log' }, bad);
    expect((await store.loadArtifact(db, { ...key, name: 'agent.log' }))?.content).toBe('ab\ufffdc');
    await store.recordAgent(db, key, { ok: false, cause: 'agent-failed', why: bad }, 1);
    expect(await store.loadAgentResult(db, key)).toMatchObject({ why: 'ab\ufffdc' });
    await store.recordGateSteps(db, { run: 'r', key: 'k', level: 'wave', commit: 'c' }, [
      { ...step, tail: bad, failures: [bad] },
    ]);
    await store.addLogEntry(db, { run: 'r', key: 'k', kind: 'x', message: bad, data: { [bad]: bad } });
    await store.setTaskStates(db, 'r', [{ id: 'a', state: 'blocked', why: bad, waitingWhy: bad }]);
    await store.finishRun(db, 'r', 'failed', { why: bad });
  });

  test('100 MB of output are kept as their beginning and end, with the size of the whole', async () => {
    const big = Buffer.alloc(100_000_000, 'é');
    big.write('START');
    big.write('END', big.length - 3);
    await store.saveArtifact(db, { ...key, name: 'agent.log' }, big);
    const kept = await store.loadArtifact(db, { ...key, name: 'agent.log' });
    expect(kept).toMatchObject({ bytes: 100_000_000, truncated: true });
    expect(kept?.content.startsWith('START') && kept.content.endsWith('END')).toBe(true);
    expect(Buffer.byteLength(kept?.content ?? '')).toBeLessThan(store.ARTIFACT_BYTES + 100);
  });
});

describe('the overview', () => {
  test('shows tasks, attempts, merges and green points of one moment', async () => {
    await store.startAttempt(db, key, { host: 'h1', queuedMs: 4 });
    await store.endAttempt(db, key, { outcome: 'passed', agentMs: 10, gateMs: 20 });
    await store.startAttempt(db, { ...key, task: 'b' }, { host: 'h1' });
    await store.recordMerges(db, 'r', [
      { request: 'a/1', task: 'a', attempt: 1, state: 'verified', verifiedAtMs: 5_000 },
    ]);
    await store.markAttempt(db, { ...key, task: 'b' }, { phase: 'merge' });
    await store.saveGreenPoint(db, 'r', { n: 0, commit: 'b0', atMs: 1_400 });
    await store.saveGreenPoint(db, 'r', { n: 1, commit: 'b1', wave: 1, atMs: 1_500 });
    const measured = { n: 1, commit: 'b1', ok: true, ms: 20, tail: '12.5 of 20' };
    await store.saveEvaluation(db, 'r', { ...measured, score: 12.5 });
    await store.saveEvaluation(db, 'r', { ...measured, score: 1 });
    expect(await store.runOverview(db, 'r')).toMatchObject({
      run: { id: 'r', startedAtMs: 1_000, outcome: null },
      tasks: [{ id: 'a' }, { id: 'b', dependsOn: ['a'] }],
      running: [{ task: 'b', host: 'h1' }],
      attempts: { total: 2, byOutcome: { passed: 1 }, agentMs: 10, gateMs: 20, queuedMs: 4 },
      merges: {
        byState: { verified: 1 },
        oldestQueuedAtMs: expect.any(Number),
        oldestUnverifiedAtMs: null,
        landedAtMs: [5_000],
      },
      greenPoints: [{ n: 1, commit: 'b1', wave: 1, atMs: 1_500 }], // the base is none
      evaluations: [{ ...measured, score: 12.5 }],
    });
    expect(await store.runOverview(db, 'nobody')).toBeNull();
  });
});

describe('hosts and gauges', () => {
  test('hosts of a run are the live ones, those with its attempts first', async () => {
    for (const id of ['h1', 'h2', 'h3']) await store.touchHost(db, { id, slots: 4, running: 0 });
    await db.query("update hosts set seen_at = now() - interval '1 hour' where id = 'h3'");
    await store.startAttempt(db, key, { host: 'h2' });
    await store.startAttempt(db, { ...key, attempt: 2 }, { host: 'h3' });
    expect(await store.hostsOfRun(db, 'r')).toEqual(['h2', 'h1']);
    expect((await store.listHosts(db)).map((host) => [host.id, host.live])).toEqual([
      ['h1', true],
      ['h2', true],
      ['h3', false],
    ]);
  });

  test('gauges tell queue, lag and causes of open runs only', async () => {
    await store.saveRun(db, { id: 'over', spec: compiledSpec() });
    await store.finishRun(db, 'over', 'completed', {});
    await store.endAttempt(db, key, { outcome: 'gate-red' });
    await store.recordMerges(db, 'r', [
      { request: 'b/1', task: 'b', attempt: 1, state: 'merged', mergedAtMs: Date.now() - 30_000 },
    ]);
    await store.startAttempt(db, { ...key, attempt: 2 });
    await store.markAttempt(db, { ...key, attempt: 2 }, { phase: 'merge' });
    await db.query("update attempts set requested_at = now() - interval '1 minute' where attempt = 2");
    const gauges = await store.runGauges(db);
    expect(gauges).toMatchObject([
      {
        run: 'r',
        tasks: { pending: 2 },
        attempts: { 'gate-red': 1 },
        queueLength: 1,
        unverified: 1,
        runningAttempts: 0,
      },
    ]);
    expect(gauges[0]?.queueOldestMs).toBeGreaterThanOrEqual(60_000);
    expect(gauges[0]?.verificationLagMs).toBeGreaterThanOrEqual(30_000);
  });
});
