/**
 * Which model APIs this host's gateway may call, and with which keys: a JSON file named by SWARMLINE_UPSTREAMS.
 *
 * 1. The file names credentials; it never holds one. A key is read from its file for each call: a new one needs no restart.
 */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { UPSTREAMS } from '../gateway/index.ts';
import type { Upstream, UpstreamName } from '../gateway/index.ts';
import { idProblem } from '../spec/names.ts';
import { readPrices } from '../spec/price-file.ts';
import type { PriceTable } from '../spec/prices.ts';
import { ConfigError } from './config.ts';

const limit = z.number().int().positive().nullable().default(null);
const Entry = z.strictObject({
  url: z.url({ protocol: /^https?$/, error: 'not an http or https URL' }),
  key: z
    .string()
    .refine((name) => idProblem(name) === null, 'not the name of a credential')
    .nullable()
    .default(null),
  requestsPerMinute: limit,
  tokensPerMinute: limit,
});
const File = z.partialRecord(z.enum(UPSTREAMS), Entry);

/** A user's price table (US dollars for a million tokens, by prefix of the model's name), which goes before ours. @throws ConfigError */
export function loadPrices(path: string | null): PriceTable {
  if (path === null) return {};
  const file = readPrices(readText('SWARMLINE_PRICES', path));
  if (!file.ok) throw new ConfigError(`SWARMLINE_PRICES=${path}: ${file.why}`);
  return file.prices;
}

function readText(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`${name}=${path} cannot be read: ${(error as Error).message}`);
  }
}

function readFileAs<T>(name: string, path: string, schema: z.ZodType<T>): T {
  let json: unknown;
  try {
    json = JSON.parse(readText(name, path));
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(`${name}=${path} is not JSON: ${(error as Error).message}`);
  }
  const parsed = schema.safeParse(json);
  if (!parsed.success) throw new ConfigError(`${name}=${path}:\n${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

/** Without a file: none, and every model call is refused with a message that says so. @throws ConfigError with every problem */
export function loadUpstreams(
  path: string | null,
  credentialsDir: string | null,
): Readonly<Partial<Record<UpstreamName, Upstream>>> {
  if (path === null) return {};
  const file = readFileAs('SWARMLINE_UPSTREAMS', path, File);
  const upstreams: Partial<Record<UpstreamName, Upstream>> = {};
  for (const name of UPSTREAMS) {
    const entry = file[name];
    if (entry === undefined) continue;
    const { key } = entry;
    if (key !== null && credentialsDir === null) {
      throw new ConfigError(
        `SWARMLINE_UPSTREAMS=${path}: ${name} names the credential "${key}", and SWARMLINE_CREDENTIALS is not set. Set it to a directory that holds a file of that name.`,
      );
    }
    upstreams[name] = {
      ...entry,
      key: async () => (key === null ? null : (await readFile(join(credentialsDir!, key), 'utf8')).trim()),
    };
  }
  return upstreams;
}
