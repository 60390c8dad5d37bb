import { describe, expect, it } from '@jest/globals';
import { mayCall, NOTHING_SPENT, withLimits } from '../../../spec/budget.ts';
import type { Spend } from '../../../spec/budget.ts';
import type { Budget } from '../../../spec/model.ts';

const budget = (more: Partial<Budget> = {}): Budget => ({
  usd: 1,
  tokens: null,
  modelCalls: 2,
  roles: {},
  task: { usd: null, tokens: null },
  ...more,
});
const caller = { role: 'worker', task: 'a' };
const spent = (more: Partial<Spend>, scope = 'run'): ReadonlyMap<string, Spend> =>
  new Map([[scope, { ...NOTHING_SPENT, ...more }]]);
const cheap = { model: 'm', microusd: 10_000, tokens: 1_000 };

describe('a model call', () => {
  it('goes out as long as spent, under way and wanted stay under the limit', () => {
    expect(mayCall(budget(), caller, new Map(), cheap)).toEqual({ ok: true });
    expect(mayCall(budget(), caller, spent({ microusd: 980_000, open: 1, reservedMicrousd: 5_000 }), cheap)).toEqual({
      ok: true,
    });
  });

  it('waits for those under way when it would pass the limit together with them', () => {
    const sums = spent({ microusd: 900_000, open: 1, reservedMicrousd: 95_000 });
    expect(mayCall(budget(), caller, sums, cheap)).toEqual({ ok: false, refusal: 'places' });
  });

  it('may spend the rest of a budget when nothing is under way, however large its estimate', () => {
    expect(mayCall(budget(), caller, spent({ microusd: 999_999 }), { ...cheap, microusd: 5_000_000 })).toEqual({
      ok: true,
    });
  });

  it('is refused when the budget is spent, and the refusal names the limit', () => {
    expect(mayCall(budget(), caller, spent({ microusd: 1_000_000 }), cheap)).toEqual({
      ok: false,
      refusal: 'budget',
      why: 'the run has spent its budget of 1 USD',
    });
    const tokens = budget({ usd: null, tokens: 500 });
    expect(mayCall(tokens, caller, spent({ tokens: 500 }), cheap)).toMatchObject({
      why: expect.stringContaining('500 tokens'),
    });
  });

  it('is held to the limits of its role and of its task as well', () => {
    const role = budget({ roles: { worker: { usd: 0.5, tokens: null } } });
    expect(mayCall(role, caller, spent({ microusd: 500_000 }, 'role:worker'), cheap)).toMatchObject({
      why: 'the role worker has spent its budget of 0.5 USD',
    });
    expect(mayCall(role, { ...caller, role: 'planner' }, spent({ microusd: 500_000 }, 'role:worker'), cheap).ok).toBe(
      true,
    );
    const task = budget({ task: { usd: null, tokens: 10 } });
    expect(mayCall(task, caller, spent({ tokens: 10 }, 'task:a'), cheap)).toMatchObject({
      refusal: 'denied',
      why: 'task a has spent its budget of 10 tokens',
    });
  });

  it('waits for a place when as many are under way as may be', () => {
    expect(mayCall(budget({ usd: null }), caller, spent({ open: 2 }), cheap)).toEqual({ ok: false, refusal: 'places' });
  });

  it('of a model without a price is refused where money is limited, and goes out where only tokens are', () => {
    const unpriced = { ...cheap, microusd: null };
    expect(mayCall(budget(), caller, new Map(), unpriced)).toMatchObject({
      refusal: 'budget',
      why: expect.stringContaining('SWARMLINE_PRICES'),
    });
    expect(mayCall(budget({ usd: null, tokens: 10_000 }), caller, new Map(), unpriced)).toEqual({ ok: true });
  });

  it('with a budget of nothing nothing is ever called', () => {
    expect(mayCall(budget({ usd: 0 }), caller, new Map(), cheap).ok).toBe(false);
  });
});

it('limits are raised for the run, for a role, or for each task, and nothing else changes', () => {
  expect(withLimits(budget(), null, { usd: 5 })).toEqual(budget({ usd: 5 }));
  expect(withLimits(budget(), 'worker', { tokens: 9 })).toEqual(
    budget({ roles: { worker: { usd: null, tokens: 9 } } }),
  );
  expect(withLimits(budget(), 'task', { usd: null, tokens: 7 })).toEqual(budget({ task: { usd: null, tokens: 7 } }));
});
