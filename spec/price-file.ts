/** A user's own prices: the file that SWARMLINE_PRICES names, which gateway, mainline worker and command line read. Pure. */
import { z } from 'zod';
import type { PriceTable } from './prices.ts';

const usd = z.number().nonnegative();
const rates = { input: usd, cached: usd, cacheWrite: usd, output: usd };
const File = z.record(
  z.string().min(1),
  z.strictObject({
    ...rates,
    long: z.strictObject({ overTokens: z.int().positive(), price: z.strictObject(rates) }).exactOptional(),
  }),
);

export type PriceFile =
  { readonly ok: true; readonly prices: PriceTable } | { readonly ok: false; readonly why: string };

/** US dollars for a million tokens, by prefix of the model's name. `why` lists everything that is wrong. */
export function readPrices(text: string): PriceFile {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return { ok: false, why: `it is not JSON: ${(error as Error).message}` };
  }
  const parsed = File.safeParse(json);
  return parsed.success ? { ok: true, prices: parsed.data } : { ok: false, why: z.prettifyError(parsed.error) };
}
