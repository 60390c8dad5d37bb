import { describe, expect, it } from '@jest/globals';
import { costOf, DEFAULT_PRICES, priceOf, unpricedRoles } from '../../../spec/prices.ts';
import { context, problems, spec as rawSpec } from './fixture.ts';

const tokens = (more: Partial<Parameters<typeof costOf>[0]>) => ({
  inputTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  ...more,
});

describe('prices', () => {
  it('the longest prefix of a name decides, so that a family has one row and its exceptions theirs', () => {
    expect(priceOf('claude-opus-4-8')).toMatchObject({ input: 5, output: 25 });
    expect(priceOf('claude-opus-4-1-20250805')).toMatchObject({ input: 15 });
    expect(priceOf('claude-opus-4-20250514')).toMatchObject({ input: 15 });
    expect(priceOf('gpt-5-mini')).toMatchObject({ output: 2 });
  });

  it('a prefix ends where a part of the name ends, so that a newer or dearer model is not taken for an older one', () => {
    expect(priceOf('gpt-5.9')).toBeNull();
    expect(priceOf('gpt-50')).toBeNull();
    expect(priceOf('gpt-5.2-pro')).toBeNull();
    expect(priceOf('gpt-5-pro-2025-10-06')).toMatchObject({ output: 120 });
    expect(priceOf('gpt-5-2025-08-07')).toMatchObject({ output: 10 });
    expect(priceOf('house-small', [{ 'house-': { input: 1, cached: 1, cacheWrite: 1, output: 1 } }])).not.toBeNull();
  });

  it('names of other providers mean the same model', () => {
    for (const name of ['anthropic/claude-opus-4.8', 'us.anthropic.claude-opus-4-8-v1:0', 'claude-opus-4-8@20260401']) {
      expect(priceOf(name)).toEqual(priceOf('claude-opus-4-8'));
    }
  });

  it('a provider’s prefix is looked through, a user’s table comes first, and an unknown model has no price', () => {
    const mine = { 'claude-opus': { input: 1, cached: 1, cacheWrite: 1, output: 1 } };
    expect(priceOf('anthropic/claude-sonnet-4-6')).toMatchObject({ input: 3, output: 15 });
    expect(priceOf('claude-opus-4-8', [mine, DEFAULT_PRICES])).toEqual(mine['claude-opus']);
    expect(priceOf('llama-9')).toBeNull();
  });

  it('a call costs what its tokens cost, in whole millionths of a dollar, rounded up', () => {
    const price = priceOf('claude-sonnet-4-6')!;
    expect(costOf(tokens({ inputTokens: 1_000_000 }), price)).toBe(3_000_000);
    expect(costOf(tokens({ cachedTokens: 1_000_000, cacheWriteTokens: 1_000_000 }), price)).toBe(300_000 + 3_750_000);
    expect(costOf(tokens({ outputTokens: 1_000 }), price)).toBe(15_000);
    expect(costOf(tokens({ cachedTokens: 1 }), price)).toBe(1);
    expect(costOf(tokens({}), price)).toBe(0);
  });

  it('a long prompt has its own price for every token of the call', () => {
    const price = priceOf('gpt-5.4')!;
    expect(costOf(tokens({ inputTokens: 272_000 }), price)).toBe(680_000);
    expect(costOf(tokens({ inputTokens: 172_001, cachedTokens: 100_000, outputTokens: 1_000 }), price)).toBe(
      860_005 + 50_000 + 22_500,
    );
  });

  it('sums of calls are sums of whole numbers', () => {
    const price = priceOf('claude-haiku-4-5')!;
    const calls = Array.from({ length: 999 }, (_, n) =>
      costOf(tokens({ cachedTokens: n * 7, outputTokens: n }), price),
    );
    expect(calls.every(Number.isSafeInteger)).toBe(true);
    expect(calls.reduce((a, b) => a + b, 0)).toBe(calls.toReversed().reduce((a, b) => a + b, 0));
  });

  it('every price of the table is complete', () => {
    for (const [model, price] of Object.entries(DEFAULT_PRICES)) {
      if (price === null) continue;
      expect({ model, ...price }).toMatchObject({ model, input: expect.any(Number), output: expect.any(Number) });
      expect(price.cached).toBeLessThanOrEqual(price.input);
      expect(price.output).toBeGreaterThan(price.input);
    }
  });
});

describe('a budget in money', () => {
  const spec = (more: object) => ({
    roles: {
      worker: { engine: 'claude-code', model: 'claude-sonnet-4-6' },
      reviewer: [
        { engine: 'claude-code', model: null },
        { engine: 'codex', model: 'house-model' },
      ],
      merger: { engine: 'command', model: 'house-model' },
    },
    budget: { usd: 50, roles: {}, task: { usd: null } },
    ...more,
  });

  it('refuses models without a price, naming role, budget and remedy', () => {
    const [problem, ...more] = unpricedRoles(spec({}));
    expect(more).toEqual([]);
    expect(problem?.path).toBe('roles.reviewer[1].model');
    expect(problem?.message).toMatch(/"house-model".*budget\.usd could not be held.*SWARMLINE_PRICES/);
  });

  it('of one role concerns that role only, and a budget in tokens concerns none', () => {
    const budget = { usd: null, roles: { worker: { usd: 5 }, reviewer: null }, task: { usd: null } };
    expect(unpricedRoles(spec({ budget }))).toEqual([]);
    const role = { ...budget, roles: { reviewer: { usd: 5 } } };
    expect(unpricedRoles(spec({ budget: role }))[0]?.message).toContain('budget.roles.reviewer.usd');
  });

  it('is refused together with everything else that is wrong with a spec, where prices are known', () => {
    const raw = rawSpec({
      goal: '',
      roles: { worker: { engine: 'claude-code', model: 'house-model' } },
      budget: { roles: { worker: { usd: 5 } } },
    });
    expect(problems(raw)).toEqual([expect.stringMatching(/^goal: /)]);
    expect(problems(raw, { ...context, prices: [DEFAULT_PRICES] })).toEqual([
      expect.stringMatching(/^goal: /),
      expect.stringMatching(/^roles\.worker\.model: .*budget\.roles\.worker\.usd could not be held/),
    ]);
  });

  it('is satisfied by a price of the user’s', () => {
    const mine = { 'house-model': { input: 0, cached: 0, cacheWrite: 0, output: 0 } };
    expect(unpricedRoles(spec({}), [mine, DEFAULT_PRICES])).toEqual([]);
  });
});
