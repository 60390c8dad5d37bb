import { describe, expect, test } from '@jest/globals';
import { readPrices } from '../../../spec/price-file.ts';
import { costOf, priceOf } from '../../../spec/prices.ts';

const short = { input: 1, cached: 0.1, cacheWrite: 1.25, output: 5 };

describe('a file of prices', () => {
  test('is a table by prefix of the model’s name, prices of long prompts included', () => {
    const long = { overTokens: 1_000, price: { ...short, input: 2 } };
    const file = readPrices(JSON.stringify({ house: short, 'house-long': { ...short, long } }));
    if (!file.ok) throw new Error(file.why);
    expect(priceOf('house-small', [file.prices])).toEqual(short);
    const tokens = { inputTokens: 2_000, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 0 };
    expect(costOf(tokens, priceOf('house-long', [file.prices])!)).toBe(4_000);
  });

  test.each([
    ['{', /not JSON/],
    ['[]', /record/],
    [JSON.stringify({ house: { ...short, output: undefined } }), /output.*\n?.*house|house.*output/s],
    [JSON.stringify({ house: { ...short, input: -1 } }), /house\.input/],
    [JSON.stringify({ house: { ...short, outptu: 1 } }), /outptu/],
  ])('%s says what is wrong', (text, why) => {
    const file = readPrices(text);
    expect(file).toEqual({ ok: false, why: expect.stringMatching(why) });
  });
});
