import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { RecordActivities, RunReport } from '../../../activities/contract.ts';
import { createRecordActivities } from '../../../activities/records.ts';
import { raiseBudget } from '../../../activities/raise-budget.ts';
import { outcomeOf } from '../../../spec/costs.ts';
import {
  budgetOf,
  closeOpenAttempts,
  costFacts,
  costs,
  endAttempt,
  finishRun,
  listWaiting,
  loadRun,
  markAttempt,
  measured,
  reserveCall,
  saveRun,
  saveTasks,
  saveWaiting,
  setTaskStates,
  settleCall,
  startAttempt,
} from '../../../store/index.ts';
import type { AttemptOutcome, CallEnded, Pool } from '../../../store/index.ts';
import { startCluster } from './cluster.ts';
import type { Cluster } from './cluster.ts';
import { compiledSpec, taskSpec } from './fixtures.ts';

let cluster: Cluster;
let pool: Pool;
beforeAll(async () => {
  cluster = await startCluster();
}, 60_000);
afterAll(() => cluster.stop(), 60_000);

const TASKS = ['a', 'b', 'c', 'd'];
const PRICES = [{ m: { input: 1, cached: 1, cacheWrite: 1, output: 1 }, p: { input: 10, cached: 10, cacheWrite: 10, output: 10 } }]; // prettier-ignore
beforeEach(async () => {
  pool = await cluster.database();
  const roles = { worker: { engine: 'codex', model: 'm' }, planner: { engine: 'codex', model: 'p' } };
  await saveRun(pool, { id: 'r', spec: compiledSpec([], { roles }) });
  await saveTasks(pool, 'r', TASKS.map((id) => taskSpec(id))); // prettier-ignore
});

type FinishRun = Parameters<RecordActivities['finishRun']>[0];
let ids = 0;
interface Call {
  readonly task: string;
  readonly attempt?: number;
  readonly role?: string;
  readonly seat?: string;
  readonly model?: string;
}
/** 180 tokens, 0.04 USD. */
async function call(one: Call, end: Partial<CallEnded> | null = {}): Promise<void> {
  const id = `call-${++ids}`;
  await reserveCall(pool, {
    id,
    run: 'r',
    attempt: 1,
    role: 'worker',
    model: 'm',
    upstream: 'anthropic',
    host: 'h',
    microusd: 100_000,
    tokens: 1_000,
    requestsPerMinute: null,
    tokensPerMinute: null,
    ...one,
  });
  if (end === null) return;
  await settleCall(pool, id, {
    state: 'done',
    inputTokens: 100,
    cachedTokens: 50,
    cacheWriteTokens: 10,
    outputTokens: 20,
    microusd: 40_000,
    estimated: false,
    status: 200,
    retries: 0,
    waitedMs: 5,
    ...end,
  });
}
/** An attempt with one call; null: it goes on. */
async function tried(one: Call, outcome: AttemptOutcome | null): Promise<void> {
  const key = { run: 'r', task: one.task, attempt: one.attempt ?? 1 };
  await startAttempt(pool, key, {});
  await call(one);
  if (outcome !== null) await endAttempt(pool, key, { outcome });
}
const outcomes = async (): Promise<string[]> =>
  (await costs(pool, 'r')).map((row) => `${row.task}/${row.attempt} ${row.role} ${outcomeOf(row)}`);
const state = (id: string, to: 'passed' | 'blocked' | 'skipped' | 'cancelled' | 'retrying'): Promise<void> =>
  setTaskStates(pool, 'r', [{ id, state: to }]);

test('costs are told by attempt, role, seat and model, with how the attempt ended; calls under way are not in them', async () => {
  await startAttempt(pool, { run: 'r', task: 'a', attempt: 1 }, {});
  await call({ task: 'a' });
  await call({ task: 'a' });
  await call({ task: 'a', role: 'reviewer', seat: 'review-1' });
  await call({ task: 'a', role: 'reviewer', seat: 'review-2' }, { state: 'failed', estimated: true });
  await call({ task: 'a' }, null);
  await endAttempt(pool, { run: 'r', task: 'a', attempt: 1 }, { outcome: 'gate-red' });
  const rows = await costs(pool, 'r');
  expect(rows[0]).toEqual({
    task: 'a',
    attempt: 1,
    role: 'worker',
    seat: '',
    model: 'm',
    outcome: 'gate-red',
    isLast: true,
    isMerged: false,
    taskState: 'pending',
    runEnded: false,
    calls: 2,
    failed: 0,
    inputTokens: 200,
    cachedTokens: 100,
    cacheWriteTokens: 20,
    outputTokens: 40,
    microusd: 80_000,
    estimatedMicrousd: 0,
    waitedMs: 10,
  });
  expect(rows.map(({ seat, failed, estimatedMicrousd }) => [seat, failed, estimatedMicrousd])).toEqual([
    ['', 0, 0],
    ['review-1', 0, 0],
    ['review-2', 1, 40_000],
  ]);
  expect(await costFacts(pool, 'r')).toMatchObject({ underWay: { calls: 1, reservedMicrousd: 100_000 } });
});

test('every attempt is counted under what became of it, and of its task', async () => {
  await tried({ task: 'a' }, 'ejected');
  await tried({ task: 'a', attempt: 2 }, 'passed');
  await call({ task: 'a', attempt: 2, role: 'reviewer', seat: 'review-1' });
  await state('a', 'passed');
  await tried({ task: 'b' }, 'gate-red');
  await tried({ task: 'b', attempt: 2 }, 'rejected');
  await tried({ task: 'b', attempt: 3 }, 'agent-timeout');
  await state('b', 'blocked');
  await tried({ task: 'c' }, 'gate-red');
  await state('c', 'retrying');
  await tried({ task: 'd' }, null);
  await tried({ task: 'plan:', role: 'planner' }, 'answer');
  await tried({ task: 'plan:', attempt: 2, role: 'planner' }, 'passed');
  const before = [
    'a/1 worker retried',
    'a/2 worker landed',
    'a/2 reviewer landed',
    'b/1 worker retried',
    'b/2 worker rejected',
    'b/3 worker abandoned',
    'c/1 worker retried',
    'd/1 worker under way',
    'plan:/1 planner sent back',
    'plan:/2 planner planning',
  ];
  expect(await outcomes()).toEqual(before);
  expect(await costFacts(pool, 'r')).toMatchObject({ landedTasks: 1, planners: { taken: 1, sentBack: 1 } });

  await closeOpenAttempts(pool, 'r');
  await finishRun(pool, 'r', 'cancelled', {});
  expect((await outcomes()).filter((line) => !before.includes(line))).toEqual([
    'c/1 worker abandoned',
    'd/1 worker abandoned',
  ]);
});

test('what a merger landed was not in vain, and is told with its time', async () => {
  await tried({ task: 'a' }, 'conflict');
  await tried({ task: 'b' }, 'conflict');
  await tried({ task: 'a', attempt: 2, role: 'merger' }, null);
  const merger = { run: 'r', task: 'a', attempt: 2 };
  await pool.query(
    `insert into merger_attempts (run, task, attempt, of_attempt, paths, merges) values ('r', 'a', 2, 1, '{x}', '{c/1}')`,
  );
  expect(await outcomes()).toEqual(['a/1 worker conflict', 'b/1 worker conflict', 'a/2 merger under way']);
  await endAttempt(pool, merger, { outcome: 'conflict', agentMs: 3_000, gateMs: 2_000 });
  await tried({ task: 'a', attempt: 3, role: 'merger' }, null);
  await pool.query(
    `insert into merger_attempts (run, task, attempt, of_attempt, paths, merges) values ('r', 'a', 3, 2, '{x}', '{d/1}')`,
  );
  expect((await outcomes()).slice(0, 3)).toEqual(['a/1 worker conflict', 'b/1 worker conflict', 'a/2 merger conflict']);
  await endAttempt(pool, { ...merger, attempt: 3 }, { outcome: 'passed', agentMs: 1_000 });
  expect(await outcomes()).toEqual([
    'a/1 worker landed',
    'b/1 worker conflict',
    'a/2 merger landed',
    'a/3 merger landed',
  ]);
  expect(await costFacts(pool, 'r')).toMatchObject({
    conflicts: 3,
    mergers: [
      { request: 'a/1', attempts: 1, workMs: 5_000, microusd: 40_000, tokens: 180 },
      { request: 'a/2', attempts: 1, workMs: 1_000, outcome: 'merged' },
    ],
  });
});

test('a budget in money that could not be held is no more accepted in the middle of a run than at its submission', async () => {
  const limit = { run: 'r', of: null, usd: 5 } as const;
  await expect(raiseBudget(pool, [], limit)).rejects.toMatchObject({
    type: 'Refused',
    message: expect.stringMatching(/^roles\.planner\.model: the price of "p" is not known, so budget\.usd/),
  });
  expect((await budgetOf(pool, 'r')).usd).toBeNull();
  await raiseBudget(pool, [], { run: 'r', of: null, tokens: 5 });
  await raiseBudget(pool, PRICES, limit);
  expect(await budgetOf(pool, 'r')).toMatchObject({ usd: 5, tokens: 5 });
});

test('who waits at a gateway is told by task and refusal, of what each gateway said last', async () => {
  const waits = (task: string, waitedMs: number, run = 'r') => ({ run, task, refusal: 'rate', waitedMs });
  await saveWaiting(pool, 'h1', [waits('a', 9_000), waits('b', 1_000)]);
  await saveWaiting(pool, 'h2', [waits('b', 5_000), waits('b', 2_000), waits('x', 1, 'another')]);
  const found = await listWaiting(pool, 'r');
  expect(found.map(({ task, refusal, calls }) => [task, refusal, calls])).toEqual([
    ['a', 'rate', 1],
    ['b', 'rate', 3],
  ]);
  expect(found[0]!.waitedMs).toBeGreaterThanOrEqual(9_000);
  await saveWaiting(pool, 'h1', []);
  expect((await listWaiting(pool, 'r')).map(({ task, calls }) => [task, calls])).toEqual([['b', 2]]);
  await pool.query(`update calls_waiting set seen_at = seen_at - interval '1 minute'`);
  expect((await costFacts(pool, 'r')).waiting).toEqual([]);
});

test('what attempts took in earlier runs is told by role and model, of attempts that ended and were not stopped', async () => {
  expect(await measured(pool, null)).toEqual({
    attempts: [],
    retries: [],
    conflicts: { tasks: 0, conflicts: 0 },
    land: null,
    wave: null,
  });
  await tried({ task: 'a' }, 'gate-red');
  await markAttempt(pool, { run: 'r', task: 'a', attempt: 1 }, { agentMs: 1_000, gateMs: 2_000 });
  await tried({ task: 'a', attempt: 2 }, 'passed');
  await call({ task: 'a', attempt: 2 });
  await markAttempt(pool, { run: 'r', task: 'a', attempt: 2 }, { agentMs: 5_000, gateMs: 2_000 });
  await call({ task: 'a', attempt: 2, role: 'reviewer', seat: 'review-2' });
  await pool.query(
    `insert into reviews (run, task, attempt, reviewer, view, engine, model, calls, verdict, why, ms)
     values ('r', 'a', 2, 1, 'diff', 'codex', 'm', 1, 'approve', '', 700)`,
  );
  await state('a', 'passed');
  await tried({ task: 'b' }, 'conflict');
  await tried({ task: 'c' }, 'cancelled');
  await tried({ task: 'd' }, null);
  const mean = { attempts: 3, inputTokens: 133, cachedTokens: 67, cacheWriteTokens: 13, outputTokens: 27, ms: 3_333 };
  expect(await measured(pool, null)).toMatchObject({
    attempts: [
      { role: 'reviewer', model: 'm', attempts: 1, ms: 700 },
      { role: 'worker', model: 'm', ...mean },
    ],
    retries: [{ role: 'worker', model: 'm', tasks: 1, attempts: 2 }],
    conflicts: { tasks: 1, conflicts: 1 },
  });
});

test('how long landing and wave gates took is told of the same repository only', async () => {
  const url = 'file:///shop.git';
  await pool.query(`update runs set spec = jsonb_set(spec, '{repository,url}', '"file:///shop.git"')`);
  await tried({ task: 'a' }, 'passed');
  await pool.query(`update attempts set requested_at = now() - interval '4 seconds', landed_at = now()`);
  const gate = (key: string, step: string, ms: number): Promise<unknown> =>
    pool.query(
      `insert into gate_results (run, key, level, commit, step, position, ok, "end", ms, failures, flaky, tail)
       values ('r', $1, 'wave', 'c', $2, 0, true, 'exited', $3, '{}', false, '')`,
      [key, step, ms],
    );
  await gate('wave-1', 'test', 1_000);
  await gate('wave-1', 'build', 2_000);
  await gate('wave-2', 'test', 1_000);
  await gate('baseline', 'test', 90_000);
  expect(await measured(pool, url)).toMatchObject({ land: { ms: 4_000, of: 1 }, wave: { ms: 2_000, of: 2 } });
  expect(await measured(pool, 'file:///other.git')).toMatchObject({ land: null, wave: null });
});

test('the end report holds what the run cost, also when it is written twice', async () => {
  const activities = createRecordActivities({ db: pool, prices: PRICES, notify: async () => undefined });
  const finish = (atMs: number): Promise<RunReport> =>
    new MockActivityEnvironment().run((input: FinishRun) => activities.finishRun(input), { run: 'r', atMs, report });
  const report = { run: 'r', outcome: 'cancelled', tasks: {}, waves: 1, greenPoints: 0, main: null, delivered: null, next: [] } as const; // prettier-ignore
  expect(await finish(1)).toEqual(report);
  await tried({ task: 'a' }, 'passed');
  await tried({ task: 'b' }, 'gate-red');
  await tried({ task: 'plan:', role: 'planner', model: 'p' }, 'passed');
  await state('a', 'passed');
  const whole = await finish(2);
  expect(whole.cost).toEqual({
    microusd: 120_000,
    tokens: 540,
    calls: 3,
    byRole: [
      { role: 'worker', microusd: 80_000, tokens: 360 },
      { role: 'planner', microusd: 40_000, tokens: 180 },
    ],
    landedTasks: 1,
    perLandedTask: 120_000,
    wasted: 40_000,
    comparison: { model: 'p', of: 'planner', microusd: 5_400 },
  });
  expect(await finish(2)).toEqual(whole);
  expect((await loadRun(pool, 'r'))?.report).toEqual(whole);
});
