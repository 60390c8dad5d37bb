/** Where the Temporal CLI is: SWARMLINE_TEMPORAL_BIN, the cache, PATH. `./swarmline test` puts it there. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

export function temporalBin(): string {
  const { SWARMLINE_TEMPORAL_BIN: given, SWARMLINE_CACHE: cache, XDG_CACHE_HOME: xdg, PATH = '' } = process.env;
  const candidates = [
    given ?? '',
    join(cache ?? join(xdg ?? join(homedir(), '.cache'), 'swarmline'), 'bin', 'temporal'),
    ...PATH.split(delimiter).map((dir) => join(dir, 'temporal')),
  ];
  const found = candidates.find((path) => path !== '' && existsSync(path));
  if (found === undefined) throw new Error('The Temporal CLI is not on this machine; ./swarmline test installs it');
  return found;
}
