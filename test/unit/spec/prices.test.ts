import { describe, expect, it } from '@jest/globals';
import { costOf, DEFAULT_PRICES, priceOf } from '../../../spec/prices.ts';

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

  it('every price of the table is complete', () => {
    for (const [model, price] of Object.entries(DEFAULT_PRICES)) {
      expect({ model, ...price }).toMatchObject({ model, input: expect.any(Number), output: expect.any(Number) });
      expect(price.cached).toBeLessThanOrEqual(price.input);
      expect(price.output).toBeGreaterThan(price.input);
    }
  });
});
