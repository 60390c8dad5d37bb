/**
 * What models cost. Pure; a user's table is put in front of the one here (SWARMLINE_PRICES).
 *
 * 1. Money is in whole millionths of a US dollar, rounded up for each call: sums are exact, and never too small.
 * 2. A model without a price costs null, never nothing: whoever asks has to decide. Where money is limited, a spec that names such a
 *    model is refused at submission (unpricedRoles), and a call to one at the gateway (budget.ts).
 */
import { ROLE_NAMES } from './model.ts';
import type { Problem, RoleName } from './model.ts';

/** US dollars for a million tokens. `input`: neither read from nor written to a cache. */
export interface Price {
  readonly input: number;
  readonly cached: number;
  readonly cacheWrite: number;
  readonly output: number;
  /** Of every token of a call whose prompt (cached or not) is longer than this. */
  readonly long?: { readonly overTokens: number; readonly price: Price };
}

/** By the longest prefix of the model's name that stands in it, a whole part of the name. null: known to exist, its price is not known. */
export type PriceTable = Readonly<Record<string, Price | null>>;

interface Tokens {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
}

/** Cache reads at a tenth of the input's price unless told, writes (for five minutes) at five fourths. */
const anthropic = (input: number, output: number, cached = input / 10): Price => ({
  input,
  cached,
  cacheWrite: (input * 5) / 4,
  output,
});
/** Writing to the cache costs what input costs, but five fourths from GPT-5.6 on. */
const openai = (input: number, cached: number, output: number, cacheWrite = input): Price => ({
  input,
  cached,
  cacheWrite,
  output,
});
const above = (overTokens: number, price: Price, short: Price): Price => ({ ...short, long: { overTokens, price } });

/**
 * List prices, each with where and when it was read (of search results: the date that the page itself bears). Prices change: check
 * yours. A family's short name stands for its dearest members, so that a member that is not listed is not taken for a cheap one.
 */
export const DEFAULT_PRICES: PriceTable = {
  // platform.claude.com/docs/en/about-claude/pricing, as stored in autumn 2026: the whole table, retired models included.
  'claude-opus-4': anthropic(15, 75), // 4 and 4.1
  'claude-opus-4-5': anthropic(5, 25),
  'claude-opus-4-6': anthropic(5, 25),
  'claude-opus-4-7': anthropic(5, 25),
  'claude-opus-4-8': anthropic(5, 25),
  'claude-opus-5': anthropic(5, 25),
  'claude-fable-5': anthropic(10, 50),
  'claude-fable-5-1': anthropic(10, 50, 0.25),
  // The same documentation's pages of the models (claude-sonnet-4-5, -4-6, -5), autumn 2026.
  'claude-sonnet-4': anthropic(3, 15),
  'claude-sonnet-5': anthropic(2, 10),
  'claude-haiku-4': anthropic(1, 5), // 4.5, the only one
  // github.com/kurofune/claudit, releases v1.8.2 (24 September 2026) and v1.9.2 (25 October 2026), quoting that pricing page.
  'claude-opus-5-5': anthropic(4, 20, 0.2),
  'claude-sonnet-5-5': anthropic(2, 10, 0.1),
  'claude-haiku-5-5': above(100_000, anthropic(0.5, 2.5), anthropic(0.1, 0.5)),
  // developers.openai.com/api/docs/models/gpt-5-codex and /gpt-5-nano, as stored in autumn 2026.
  'gpt-5': openai(1.25, 0.125, 10),
  'gpt-5-nano': openai(0.05, 0.005, 0.4),
  // github.com/github/docs, data/tables/copilot/models-and-pricing.yml, autumn 2026.
  'gpt-5-mini': openai(0.25, 0.025, 2),
  'gpt-5.3-codex': openai(1.75, 0.175, 14),
  'gpt-5.4': above(272_000, openai(5, 0.5, 22.5), openai(2.5, 0.25, 15)),
  'gpt-5.4-mini': openai(0.75, 0.075, 4.5),
  'gpt-5.4-nano': openai(0.2, 0.02, 1.25),
  'gpt-5.5': above(272_000, openai(10, 1, 45), openai(5, 0.5, 30)),
  'gpt-5.6': above(272_000, openai(10, 1, 45, 12.5), openai(5, 0.5, 30, 6.25)), // Sol, which the short name stands for
  'gpt-5.6-terra': above(272_000, openai(4, 0.4, 18, 5), openai(2, 0.2, 12, 2.5)),
  'gpt-5.6-luna': above(200_000, openai(0.4, 0.04, 1.8, 0.5), openai(0.2, 0.02, 1.2, 0.25)),
  // An earlier state of the same file (5.2), and github.com/benbencodes/llm-prices, release v0.1.25 (12 May 2026).
  'gpt-5.1': openai(1.25, 0.125, 10),
  'gpt-5.2': openai(1.75, 0.175, 14),
  'gpt-5-pro': openai(15, 15, 120),
  // morphllm.com/openai-api-pricing, June 2026: no discount for cached input.
  'gpt-5.4-pro': openai(30, 30, 180),
  'gpt-5.5-pro': openai(30, 30, 180),
  // Seen with different figures, or only second-hand: name yours.
  'gpt-5.2-pro': null,
};

/** Whether what follows a prefix begins another part of the name: `gpt-5` is no prefix of `gpt-5.6` or `gpt-50`. */
const isWhole = (prefix: string, name: string): boolean =>
  !/[a-z0-9]$/i.test(prefix) || !/^(?:[a-z0-9]|\.\d)/i.test(name.slice(prefix.length));

/**
 * The price of a model, by name; a provider's prefix (`anthropic/…`, `us.anthropic.…`) is looked through, and `claude-opus-4.8` is
 * `claude-opus-4-8`. null: unknown.
 */
export function priceOf(model: string, tables: readonly PriceTable[] = [DEFAULT_PRICES]): Price | null {
  const short = model.slice(model.lastIndexOf('/') + 1).replace(/^(?:[a-z]+\.)?anthropic\./, '');
  const names = [model, short, short.replace(/^(claude-[a-z]+-\d+)\.(?=\d)/, '$1-')];
  for (const table of tables) {
    for (const name of new Set(names)) {
      const prefix = Object.keys(table)
        .filter((key) => name.startsWith(key) && isWhole(key, name))
        .toSorted((a, b) => b.length - a.length)[0];
      if (prefix !== undefined) return table[prefix] ?? null;
    }
  }
  return null;
}

/** Millionths of a dollar. */
export function costOf(tokens: Tokens, price: Price): number {
  const { inputTokens, cachedTokens, cacheWriteTokens, outputTokens } = tokens;
  const { long } = price;
  if (long !== undefined && inputTokens + cachedTokens + cacheWriteTokens > long.overTokens) {
    return costOf(tokens, long.price);
  }
  // A million tokens at a dollar each are a million millionths: tokens times price is the cost as it is.
  const exact =
    inputTokens * price.input +
    cachedTokens * price.cached +
    cacheWriteTokens * price.cacheWrite +
    outputTokens * price.output;
  return Math.ceil(Math.round(exact * 1e6) / 1e6);
}

/** The engines that ask a model for what they do, through the gateway. */
const MODEL_ENGINES: ReadonlySet<string> = new Set(['claude-code', 'codex', 'aider']);

interface NamesModels {
  readonly engines?: Readonly<Record<string, { readonly gateway: boolean }>>;
  readonly roles: Readonly<Partial<Record<RoleName, RoleModel | readonly RoleModel[] | null>>>;
  readonly budget: {
    readonly usd: number | null;
    readonly roles: Readonly<Partial<Record<RoleName, { readonly usd: number | null } | null>>>;
    readonly task: { readonly usd: number | null };
  };
}
interface RoleModel {
  readonly engine: string;
  readonly model: string | null;
}

/**
 * Roles whose model has no price although a budget in US dollars holds for them: such a budget could not be kept, so the spec is
 * refused. A role that names no model takes its program's own; that one is judged at the gateway, call by call.
 */
export function unpricedRoles(spec: NamesModels, tables: readonly PriceTable[] = [DEFAULT_PRICES]): Problem[] {
  const own = (name: string) => (Object.hasOwn(spec.engines ?? {}, name) ? spec.engines?.[name] : undefined);
  return ROLE_NAMES.flatMap((role) => {
    const given = spec.roles[role] ?? [];
    const limited = [
      ['budget.usd', spec.budget.usd],
      [`budget.roles.${role}.usd`, spec.budget.roles[role]?.usd ?? null],
      ['budget.task.usd', spec.budget.task.usd],
    ].find(([, usd]) => usd !== null)?.[0];
    if (limited === undefined) return [];
    return [given].flat().flatMap(({ engine, model }, i) => {
      const asks = MODEL_ENGINES.has(engine) || own(engine)?.gateway === true;
      if (!asks || model === null || priceOf(model, tables) !== null) return [];
      const path = `roles.${role}${Array.isArray(given) ? `[${i}]` : ''}.model`;
      const message = `the price of "${model}" is not known, so ${limited} could not be held; give it in the file that SWARMLINE_PRICES names ({"${model}": {"input": …, "cached": …, "cacheWrite": …, "output": …}}, US dollars for a million tokens), or limit tokens (budget.tokens) instead of money`;
      return [{ path, message }];
    });
  });
}
