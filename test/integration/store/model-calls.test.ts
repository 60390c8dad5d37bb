import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Budget } from '../../../spec/model.ts';
import { reserveCall, saveRun, setBudget, settleCall, settleLostCalls } from '../../../store/index.ts';
import type { CallEnded, NewCall, Pool } from '../../../store/index.ts';
import { startCluster } from './cluster.ts';
import type { Cluster } from './cluster.ts';
import { compiledSpec } from './fixtures.ts';

let cluster: Cluster;
let pool: Pool;
beforeAll(async () => {
  cluster = await startCluster();
}, 60_000);
afterAll(() => cluster.stop(), 60_000);

const budget = (more: Partial<Budget> = {}): Budget => ({
  usd: 1,
  tokens: null,
  modelCalls: 3,
  roles: {},
  task: { usd: null, tokens: null },
  ...more,
});
let ids = 0;
const call = (more: Partial<NewCall> = {}): NewCall => ({
  id: `call-${++ids}`,
  run: 'r1',
  task: 'a',
  attempt: 1,
  role: 'worker',
  upstream: 'anthropic',
  model: 'm',
  host: 'h1',
  microusd: 100_000,
  tokens: 1_000,
  requestsPerMinute: null,
  tokensPerMinute: null,
  ...more,
});
const ended = (more: Partial<CallEnded> = {}): CallEnded => ({
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
  ...more,
});
const sums = async (): Promise<unknown> =>
  (await pool.query(`select microusd, tokens, open, reserved_microusd from spend where run = 'r1' and scope = 'run'`))
    .rows[0];

beforeEach(async () => {
  pool = await cluster.database();
  await saveRun(pool, { id: 'r1', spec: compiledSpec([], { budget: budget() }) });
});

describe('a reservation', () => {
  test('of as many calls at once as may be, asked for by two hosts at the same moment, is given to no more', async () => {
    const other = cluster.again(pool);
    const calls = Array.from({ length: 12 }, (_, n) => call({ host: `h${n % 2}`, microusd: 1 }));
    const answers = await Promise.all(calls.map((one, n) => reserveCall(n % 2 === 0 ? pool : other, one)));
    expect(answers.filter(({ ok }) => ok)).toHaveLength(3);
    expect(answers.filter((one) => !one.ok && one.refusal === 'places')).toHaveLength(9);
    expect(await sums()).toMatchObject({ open: 3, reserved_microusd: 3 });
  });

  test('asked for twice, or settled twice, counts once', async () => {
    const one = call();
    await reserveCall(pool, one);
    await reserveCall(pool, one);
    expect(await sums()).toMatchObject({ open: 1, reserved_microusd: 100_000 });
    await settleCall(pool, one.id, ended());
    await settleCall(pool, one.id, ended({ microusd: 999_999 }));
    expect(await sums()).toEqual({ microusd: 40_000, tokens: 180, open: 0, reserved_microusd: 0 });
  });

  test('is refused when the budget is spent, and given again after it was raised', async () => {
    const one = call();
    await reserveCall(pool, one);
    await settleCall(pool, one.id, ended({ microusd: 1_000_001 }));
    expect(await reserveCall(pool, call())).toMatchObject({
      ok: false,
      refusal: 'budget',
      why: expect.stringContaining('1 USD'),
    });
    await setBudget(pool, 'r1', budget({ usd: 2 }));
    expect(await reserveCall(pool, call())).toEqual({ ok: true });
  });

  test('waits for the rate of the key, over all runs', async () => {
    await saveRun(pool, { id: 'r2', spec: compiledSpec([], { budget: budget() }) });
    const limited = { requestsPerMinute: 2, tokensPerMinute: null };
    expect(await reserveCall(pool, call(limited))).toEqual({ ok: true });
    expect(await reserveCall(pool, call({ ...limited, run: 'r2' }))).toEqual({ ok: true });
    expect(await reserveCall(pool, call(limited))).toMatchObject({ ok: false, refusal: 'rate' });
    expect(await reserveCall(pool, call({ ...limited, upstream: 'openai' }))).toEqual({ ok: true });
    await pool.query(`update model_calls set started_at = started_at - interval '61 seconds'`);
    expect(await reserveCall(pool, call({ ...limited, microusd: 1 }))).toEqual({ ok: true });
  });

  test('waits for the tokens of the key, but one call alone goes out however large it is', async () => {
    const limited = { requestsPerMinute: null, tokensPerMinute: 500 };
    expect(await reserveCall(pool, call(limited))).toEqual({ ok: true });
    expect(await reserveCall(pool, call({ ...limited, tokens: 1 }))).toMatchObject({ ok: false, refusal: 'rate' });
  });
});

test('calls of a host whose gateway died are counted as reserved; those of others stay open', async () => {
  await reserveCall(pool, call());
  await reserveCall(pool, call({ host: 'h2', microusd: 7 }));
  expect(await settleLostCalls(pool, 'h1')).toBe(1);
  expect(await settleLostCalls(pool, 'h1')).toBe(0);
  expect(await sums()).toMatchObject({ microusd: 100_000, tokens: 1_000, open: 1, reserved_microusd: 7 });
});
