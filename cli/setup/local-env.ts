/** The environment in which workers and commands find the services that `up` runs: what was given stays, the rest is filled in. */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { databaseUrl } from './postgres.ts';
import { DEFAULT_SOCKET } from './settings.ts';
import type { Settings } from './settings.ts';
import { temporalAddress } from './temporal-server.ts';

const tokenFile = (settings: Settings): string => join(settings.stateDir, 'hub-token');

/** Names the containers of this state folder on this host. */
export const instanceName = (stateDir: string): string =>
  `${hostname()}-${createHash('sha256').update(stateDir).digest('hex').slice(0, 8)}`;

function readToken(settings: Settings): string | null {
  try {
    return readFileSync(tokenFile(settings), 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** The token that sandbox hosts show to the hub: made once when none is given. */
export async function ensureHubToken(settings: Settings): Promise<void> {
  if (settings.given.hubToken !== null || readToken(settings) !== null) return;
  await mkdir(settings.stateDir, { recursive: true });
  await writeFile(tokenFile(settings), `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'wx' }).catch(
    (error: NodeJS.ErrnoException) => {
      // Made by another command in the meantime.
      if (error.code !== 'EEXIST') throw error;
    },
  );
}

/** The given environment with everything that is ours filled in. Reads two small files; nothing has to run. */
export function localEnvironment(settings: Settings, given: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const database = databaseUrl(settings);
  const token = settings.given.hubToken ?? readToken(settings);
  return {
    ...given,
    SWARMLINE_STATE: settings.stateDir,
    SWARMLINE_CACHE: settings.cacheDir,
    TEMPORAL_ADDRESS: temporalAddress(settings),
    TEMPORAL_NAMESPACE: settings.namespace,
    ...(database === null ? {} : { DATABASE_URL: database }),
    ...(settings.given.dockerHost === null && settings.engine.socket !== DEFAULT_SOCKET
      ? { DOCKER_HOST: `unix://${settings.engine.socket}` }
      : {}),
    ...(token === null ? {} : { SWARMLINE_HUB_TOKEN: token }),
    SWARMLINE_HUB_URL: settings.hubUrl,
    // Two checkouts may share a Docker engine: each must know its own containers.
    SWARMLINE_INSTANCE: given['SWARMLINE_INSTANCE'] ?? instanceName(settings.stateDir),
    SWARMLINE_METRICS_PORT: String(settings.ports.metrics),
  };
}
