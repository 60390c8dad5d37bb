/**
 * What models cost. Pure; a user's table is put in front of the one here (SWARMLINE_PRICES).
 *
 * 1. Money is in whole millionths of a US dollar, rounded up for each call: sums are exact, and never too small.
 * 2. A model without a price costs null, never nothing: whoever asks has to decide.
 */

/** US dollars for a million tokens. `input`: neither read from nor written to a cache. */
export interface Price {
  readonly input: number;
  readonly cached: number;
  readonly cacheWrite: number;
  readonly output: number;
}

/** By the longest prefix of the model's name that stands in it. */
export type PriceTable = Readonly<Record<string, Price>>;

interface Tokens {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
}

const anthropic = (input: number, output: number): Price => ({
  input,
  cached: input / 10, // cache reads at a tenth, writes for five minutes at five fourths of the input's price
  cacheWrite: (input * 5) / 4,
  output,
});
const openai = (input: number, cached: number, output: number): Price => ({ input, cached, cacheWrite: input, output });

/**
 * List prices as public pages showed them in the first half of 2026 (Anthropic: "Pricing" of its documentation and pages that quote it,
 * 21 March 2026; OpenAI: pages that quote its pricing page, 5 to 13 May 2026). Prices change: check yours.
 */
export const DEFAULT_PRICES: PriceTable = {
  'claude-opus-4': anthropic(5, 25),
  'claude-opus-4-0': anthropic(15, 75),
  'claude-opus-4-1': anthropic(15, 75),
  'claude-opus-4-2025': anthropic(15, 75),
  'claude-sonnet-4': anthropic(3, 15),
  'claude-haiku-4': anthropic(1, 5),
  'gpt-5': openai(1.25, 0.125, 10),
  'gpt-5-mini': openai(0.25, 0.025, 2),
  'gpt-5.1': openai(1.25, 0.125, 10),
  'gpt-5.2': openai(1.75, 0.175, 14),
  'gpt-5.3-codex': openai(1.75, 0.175, 14),
  'gpt-5.4': openai(2.5, 0.25, 15),
  'gpt-5.5': openai(5, 0.5, 30),
};

/** The price of a model, by name; a provider's prefix (`anthropic/…`) is looked through. null: unknown. */
export function priceOf(model: string, tables: readonly PriceTable[] = [DEFAULT_PRICES]): Price | null {
  for (const name of new Set([model, model.slice(model.lastIndexOf('/') + 1)])) {
    for (const table of tables) {
      const prefix = Object.keys(table)
        .filter((key) => name.startsWith(key))
        .toSorted((a, b) => b.length - a.length)[0];
      if (prefix !== undefined) return table[prefix]!;
    }
  }
  return null;
}

/** Millionths of a dollar. */
export function costOf(tokens: Tokens, price: Price): number {
  const { inputTokens, cachedTokens, cacheWriteTokens, outputTokens } = tokens;
  // A million tokens at a dollar each are a million millionths: tokens times price is the cost as it is.
  const exact =
    inputTokens * price.input +
    cachedTokens * price.cached +
    cacheWriteTokens * price.cacheWrite +
    outputTokens * price.output;
  return Math.ceil(Math.round(exact * 1e6) / 1e6);
}
