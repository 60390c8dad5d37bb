/** The connection to Temporal, and what its errors mean to a person. */
import { isIP } from 'node:net';
import { Client, Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { MissingError } from './exit.ts';
import type { Settings } from './setup/settings.ts';

/** Queue of the orchestrator worker: workflows, planning, the store. */
export const QUEUE = 'swarmline';
const CONNECT_MS = 5_000;
/** A poller that has not asked for so long is gone: long polls last a minute. */
const POLLER_MS = 90_000;

export interface Temporal {
  readonly client: Client;
  readonly address: string;
  readonly namespace: string;
  close(): Promise<void>;
}

/**
 * Connects to what the environment or Temporal's own configuration file names (address, namespace, TLS, API key), else to
 * this machine's server. @throws MissingError
 */
export async function connectTemporal(settings: Settings, env: NodeJS.ProcessEnv = process.env): Promise<Temporal> {
  const set = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const config = loadClientConnectConfig({ overrideEnvVars: Object.fromEntries(set) });
  const address = config.connectionOptions.address ?? `127.0.0.1:${settings.ports.temporal}`;
  const { tls, apiKey, metadata } = config.connectionOptions;
  const namespace = config.namespace ?? settings.namespace;
  let connection: Connection;
  try {
    connection = await Connection.connect({
      address,
      connectTimeout: CONNECT_MS,
      ...(tls === undefined ? {} : { tls }),
      ...(apiKey === undefined ? {} : { apiKey }),
      ...(metadata === undefined ? {} : { metadata: plainMetadata(metadata) }),
    });
  } catch (error) {
    throw new MissingError(
      {
        what: `Temporal does not answer at ${address}.`,
        why: error instanceof Error ? error.message : String(error),
        command:
          config.connectionOptions.address === undefined
            ? './swarmline up'
            : ['./swarmline doctor', 'unset TEMPORAL_ADDRESS   # to use this machine’s own'],
      },
      { cause: error },
    );
  }
  return {
    client: new Client({ connection, namespace }),
    address,
    namespace,
    close: () => connection.close(),
  };
}

const plainMetadata = (metadata: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(metadata).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );

/** The run's page in the Web UI; null where nobody can know the address (SWARMLINE_UI_URL says it). Pure. */
export function uiLink(
  at: { readonly address: string; readonly namespace: string },
  workflowId: string,
  ports: Settings['ports'],
  env: NodeJS.ProcessEnv = process.env,
): string | null {
  const host = at.address.replace(/:\d+$/, '');
  const port = Number(/:(\d+)$/.exec(at.address)?.[1] ?? 7233);
  const base = env['SWARMLINE_UI_URL'] || knownUi(host, port, ports);
  if (base === null) return null;
  return `${base.replace(/\/+$/, '')}/namespaces/${encodeURIComponent(at.namespace)}/workflows/${encodeURIComponent(workflowId)}`;
}

function knownUi(host: string, port: number, ports: Settings['ports']): string | null {
  if (/\.(tmprl\.cloud|temporal\.io)$/.test(host)) return 'https://cloud.temporal.io';
  const local = host === 'localhost' || host === '[::1]' || (isIP(host) === 4 && host.startsWith('127.'));
  if (!local) return null;
  // The dev server's own habit: the UI is a thousand above.
  return `http://${host}:${port === ports.temporal ? ports.temporalUi : port + 1000}`;
}

/** The queue that each worker polls. */
const QUEUES = {
  orchestrator: { queue: QUEUE, type: 1 /* workflow tasks */ },
  mainline: { queue: `${QUEUE}-mainline`, type: 2 /* activities */ },
  sandbox: { queue: `${QUEUE}-sandbox`, type: 2 },
} as const;
export type PollingWorker = keyof typeof QUEUES;

/** Whether a worker, on any host, asks for work. Unknown counts as yes. */
export async function workerPolls(
  temporal: Temporal,
  worker: PollingWorker = 'orchestrator',
  now: number = Date.now(),
): Promise<boolean> {
  const { queue, type } = QUEUES[worker];
  try {
    const { pollers } = await temporal.client.workflowService.describeTaskQueue({
      namespace: temporal.namespace,
      taskQueue: { name: queue },
      taskQueueType: type,
    });
    return (pollers ?? []).some((poller) => now - Number(poller.lastAccessTime?.seconds ?? 0) * 1000 < POLLER_MS);
  } catch {
    return true; // older servers and clouds may refuse the question; then nothing is said
  }
}

/** Workers of which none asks for work. */
export async function missingWorkers(temporal: Temporal): Promise<PollingWorker[]> {
  const names = Object.keys(QUEUES) as PollingWorker[];
  const polls = await Promise.all(names.map((worker) => workerPolls(temporal, worker)));
  return names.filter((_, index) => !polls[index]);
}
