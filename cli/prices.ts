/** Prices as this command knows them: the file of SWARMLINE_PRICES before our own table, as the workers read them. */
import { readFile } from 'node:fs/promises';
import { readPrices } from '../spec/price-file.ts';
import { DEFAULT_PRICES } from '../spec/prices.ts';
import type { PriceTable } from '../spec/prices.ts';
import { errorCode } from './error-code.ts';
import { UserError } from './exit.ts';

const EXAMPLE = '{"claude-opus-4": {"input": 5, "cached": 0.5, "cacheWrite": 6.25, "output": 25}}';

/** @throws UserError when the file cannot be used */
export async function loadPrices(env: NodeJS.ProcessEnv): Promise<readonly PriceTable[]> {
  const path = env['SWARMLINE_PRICES']?.trim() ?? '';
  if (path === '') return [DEFAULT_PRICES];
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw unusable(path, `it cannot be read (${errorCode(error) ?? String(error)})`, error);
  });
  const file = readPrices(text);
  if (!file.ok) throw unusable(path, file.why);
  return [file.prices, DEFAULT_PRICES];
}

const unusable = (path: string, why: string, cause?: unknown): UserError =>
  new UserError(
    {
      what: `SWARMLINE_PRICES=${path} is no table of prices.`,
      why,
      command: `echo '${EXAMPLE}' > ${path}   # US dollars for a million tokens`,
    },
    { cause },
  );
