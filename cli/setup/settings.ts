/** What set-up may be told by the environment, compiled once: folders, ports, and the services that somebody else runs. Pure. */
import { UserError } from '../exit.ts';

export interface Settings {
  /** Everything that must outlive a run of the command: databases, hubs, logs, process ids. */
  readonly stateDir: string;
  /** Everything that can be made again: downloads, the Temporal binary. */
  readonly cacheDir: string;
  /** Services run by somebody else; null: this machine's own are used. */
  readonly given: {
    readonly temporalAddress: string | null;
    readonly databaseUrl: string | null;
    readonly dockerHost: string | null;
    readonly temporalBin: string | null;
    readonly hubToken: string | null;
  };
  readonly ports: {
    readonly temporal: number;
    readonly temporalUi: number;
    readonly postgres: number;
    readonly hub: number;
    /** Base: orchestrator +0, mainline +1, sandbox +2. */
    readonly metrics: number;
  };
  /** The engine that we would start where there is none; `socket` other than the default is also the one we look for. */
  readonly engine: {
    readonly socket: string;
    readonly dataRoot: string;
    readonly execRoot: string;
    readonly pidFile: string;
    /** Further arguments of dockerd. */
    readonly options: readonly string[];
  };
  readonly hubUrl: string;
  readonly namespace: string;
}

export const DEFAULT_SOCKET = '/var/run/docker.sock';

/** A port number from the environment; UserError when it is none. `span`: how many consecutive ports are used. */
export function parsePort(name: string, text: string | undefined, fallback: number, span = 1): number {
  if (text === undefined || text === '') return fallback;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port >= 1 && port + span - 1 <= 65_535) return port;
  throw new UserError({
    what: `${name}=${text} is no port number.`,
    why:
      span === 1 ? 'A port is a number from 1 to 65535.' : `${span} ports in a row are needed, the last at most 65535.`,
    command: `export ${name}=${fallback}`,
  });
}

function parseHubUrl(text: string): URL {
  try {
    const url = new URL(text);
    if (url.protocol === 'http:' || url.protocol === 'https:') return url;
  } catch {
    // Told below, together with a wrong protocol.
  }
  throw new UserError({
    what: `SWARMLINE_HUB_URL=${text} is no http address.`,
    command: 'export SWARMLINE_HUB_URL=http://127.0.0.1:7423',
  });
}

const given = (text: string | undefined): string | null => (text === undefined || text === '' ? null : text);

/** Compiles the environment. Throws UserError for a value that cannot be used. */
export function loadSettings(env: NodeJS.ProcessEnv): Settings {
  const home = env['HOME'] ?? '/root';
  const temporal = parsePort('SWARMLINE_TEMPORAL_PORT', env['SWARMLINE_TEMPORAL_PORT'], 7233);
  const hubUrl = parseHubUrl(given(env['SWARMLINE_HUB_URL']) ?? 'http://127.0.0.1:7423');
  return {
    stateDir: given(env['SWARMLINE_STATE']) ?? `${given(env['XDG_STATE_HOME']) ?? `${home}/.local/state`}/swarmline`,
    cacheDir: given(env['SWARMLINE_CACHE']) ?? `${given(env['XDG_CACHE_HOME']) ?? `${home}/.cache`}/swarmline`,
    given: {
      temporalAddress: given(env['TEMPORAL_ADDRESS']),
      databaseUrl: given(env['DATABASE_URL']),
      dockerHost: given(env['DOCKER_HOST']),
      temporalBin: given(env['SWARMLINE_TEMPORAL_BIN']),
      hubToken: given(env['SWARMLINE_HUB_TOKEN']),
    },
    ports: {
      temporal,
      temporalUi: parsePort(
        'SWARMLINE_TEMPORAL_UI_PORT',
        env['SWARMLINE_TEMPORAL_UI_PORT'],
        Math.min(temporal + 1000, 65_535),
      ),
      postgres: parsePort('SWARMLINE_POSTGRES_PORT', env['SWARMLINE_POSTGRES_PORT'], 54_320),
      hub: hubUrl.port === '' ? (hubUrl.protocol === 'https:' ? 443 : 80) : Number(hubUrl.port),
      metrics: parsePort('SWARMLINE_METRICS_PORT', env['SWARMLINE_METRICS_PORT'], 9464, 4),
    },
    engine: {
      socket: given(env['SWARMLINE_DOCKER_SOCKET']) ?? DEFAULT_SOCKET,
      dataRoot: given(env['SWARMLINE_DOCKER_DATA']) ?? '/var/lib/swarmline-docker',
      execRoot: given(env['SWARMLINE_DOCKER_EXEC']) ?? '/var/run/docker',
      pidFile: given(env['SWARMLINE_DOCKER_PIDFILE']) ?? '/var/run/docker.pid',
      options: (given(env['SWARMLINE_DOCKER_OPTIONS']) ?? '').split(/\s+/).filter(Boolean),
    },
    hubUrl: hubUrl.href.replace(/\/$/, ''),
    namespace: given(env['TEMPORAL_NAMESPACE']) ?? 'default',
  };
}
