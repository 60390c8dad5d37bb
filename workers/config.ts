/** The environment of a worker, compiled once: every problem in one error, no optional field and no unit left to guess afterwards. */
import { readFileSync } from 'node:fs';
import { availableParallelism, homedir, hostname, totalmem } from 'node:os';
import { join } from 'node:path';

export const WORKER_ROLES = ['orchestrator', 'mainline', 'sandbox', 'gateway'] as const;
export type WorkerRole = (typeof WORKER_ROLES)[number];

export interface WorkerConfig {
  readonly role: WorkerRole;
  readonly databaseUrl: string;
  readonly stateDir: string;
  readonly hubRoot: string;
  readonly hubUrl: string;
  readonly hubToken: string;
  /** The hubs' directory when it is on this machine; null: this host keeps mirrors. */
  readonly localHubRoot: string | null;
  readonly hostId: string;
  /** Keeps the containers of two installations on one Docker engine apart. */
  readonly instance: string;
  readonly credentialsDir: string | null;
  readonly caBundle: string | null;
  readonly metricsPort: number;
  /** Address that metrics and health listen on. */
  readonly metricsHost: string;
  /** Address that the hub listens on. */
  readonly hubHost: string;
  readonly slots: number;
  /** Where this host's gateway keeps its sockets; its sandbox worker asks it there. */
  readonly gatewayDir: string;
  /** File that says which model APIs there are; null: none. */
  readonly upstreamsFile: string | null;
  /** File with prices of models that go before ours; null: none. */
  readonly pricesFile: string | null;
}

/** A worker that cannot start as it is configured: what is wrong, all at once. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

const GIB = 1024 ** 3;
/** One and a half containers a core (agents mostly wait for a model), as far as memory holds a default limit of 1 GiB each. */
export const defaultSlots = (cores: number, memoryBytes: number): number =>
  Math.max(1, Math.min(Math.ceil(cores * 1.5), Math.floor((memoryBytes * 0.8) / GIB)));

const isLoopback = (host: string): boolean => host === 'localhost' || host === '[::1]' || host.startsWith('127.');

/** @throws ConfigError with every problem. */
export function loadWorkerConfig(role: WorkerRole, env: NodeJS.ProcessEnv): WorkerConfig {
  const problems: string[] = [];
  const text = (name: string): string | null => env[name]?.trim() || null;
  const whole = (name: string, fallback: number, least: number, most: number): number => {
    const given = text(name);
    if (given === null) return fallback;
    const value = Number(given);
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    problems.push(`${name}=${given} is not a whole number from ${least} to ${most}`);
    return fallback;
  };
  const stateDir =
    text('SWARMLINE_STATE') ?? join(text('XDG_STATE_HOME') ?? join(homedir(), '.local', 'state'), 'swarmline');
  const databaseUrl = text('DATABASE_URL');
  if (databaseUrl === null)
    problems.push('DATABASE_URL is not set; `./swarmline up` starts a database and sets it for its workers');
  const hubUrl = text('SWARMLINE_HUB_URL') ?? 'http://127.0.0.1:7423';
  if (!URL.canParse(hubUrl)) problems.push(`SWARMLINE_HUB_URL=${hubUrl} is not a URL`);
  const hubToken = text('SWARMLINE_HUB_TOKEN') ?? readToken(stateDir);
  if (hubToken === null && role !== 'orchestrator') {
    problems.push(
      'SWARMLINE_HUB_TOKEN is not set and there is no hub-token file; the mainline worker and every sandbox host, its gateway too, need the same one (16 characters or more)',
    );
  }
  const slots = whole('SWARMLINE_SLOTS', defaultSlots(availableParallelism(), totalmem()), 1, 10_000);
  const base = whole('SWARMLINE_METRICS_PORT', 9464, 1, 65_532);
  if (problems.length > 0 || databaseUrl === null) throw new ConfigError(problems.join('\n'));
  const local = isLoopback(new URL(hubUrl).hostname) && text('SWARMLINE_HUB_LOCAL') !== '0';
  const hubRoot = join(stateDir, 'hubs');
  return {
    role,
    databaseUrl,
    stateDir,
    hubRoot,
    hubUrl,
    hubToken: hubToken ?? '',
    localHubRoot: local ? hubRoot : null,
    hostId: text('SWARMLINE_HOST_ID') ?? hostname(),
    instance: text('SWARMLINE_INSTANCE') ?? text('SWARMLINE_HOST_ID') ?? hostname(),
    credentialsDir: text('SWARMLINE_CREDENTIALS'),
    caBundle: readable(text('SWARMLINE_CA_BUNDLE') ?? '/etc/ssl/certs/ca-certificates.crt'),
    metricsPort: base + WORKER_ROLES.indexOf(role),
    metricsHost: text('SWARMLINE_METRICS_HOST') ?? '127.0.0.1',
    hubHost: text('SWARMLINE_HUB_HOST') ?? '127.0.0.1',
    slots,
    gatewayDir: join(stateDir, 'gateway'),
    upstreamsFile: text('SWARMLINE_UPSTREAMS'),
    pricesFile: text('SWARMLINE_PRICES'),
  };
}

function readToken(stateDir: string): string | null {
  try {
    return readFileSync(join(stateDir, 'hub-token'), 'utf8').trim() || null;
  } catch {
    return null;
  }
}

/** The path when it can be read, else null: a host without a bundle has its certificates elsewhere. */
function readable(path: string): string | null {
  try {
    readFileSync(path);
    return path;
  } catch {
    return null;
  }
}
