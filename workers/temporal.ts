/** Connection to Temporal, and what must be there before a worker polls. */
import { NativeConnection, Runtime } from '@temporalio/worker';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import proto from '@temporalio/proto';
import { SEARCH_ATTRIBUTES } from '../workflows/attributes.ts';
import type { Logger } from 'pino';

export interface TemporalConnection {
  readonly connection: NativeConnection;
  readonly namespace: string;
}

/** Options of every worker: shared so that latencies of cancel and recovery are the same everywhere. */
export const WORKER_TIMES = {
  /** A cancelled or paused activity hears of it with its next heartbeat; throttled to at most this (default 60 s). */
  maxHeartbeatThrottleInterval: '2s',
  defaultHeartbeatThrottleInterval: '2s',
  /** Workflow tasks of a worker that was killed wait this long on its sticky queue (default 10 s). */
  stickyQueueScheduleToStartTimeout: '2s',
  shutdownGraceTime: '5s',
  shutdownForceTime: '40s',
} as const;

/** Installs the SDK's runtime with its own metrics on `port`. Once per process, before anything else of the SDK. */
export function installRuntime(port: number): void {
  Runtime.install({ telemetryOptions: { metrics: { prometheus: { bindAddress: `127.0.0.1:${port}` } } } });
}

/** Connects with TEMPORAL_* of the environment (address, namespace, TLS, API key); tries until the server answers. */
export async function connectTemporal(log: Logger): Promise<TemporalConnection> {
  const { connectionOptions, namespace } = loadClientConnectConfig();
  for (let waitMs = 250; ; waitMs = Math.min(waitMs * 2, 5_000)) {
    try {
      const connection = await NativeConnection.connect(connectionOptions);
      return { connection, namespace: namespace ?? 'default' };
    } catch (error) {
      log.warn(
        { error: String(error), address: connectionOptions.address ?? '127.0.0.1:7233' },
        'Temporal does not answer yet',
      );
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }
}

/** Registers our search attributes when they are absent. Safe with several workers at once. */
export async function registerSearchAttributes({ connection, namespace }: TemporalConnection): Promise<void> {
  const { operatorService } = connection;
  const types = proto.temporal.api.enums.v1.IndexedValueType;
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  const missing = SEARCH_ATTRIBUTES.filter(({ name }) => !(name in (customAttributes ?? {})));
  if (missing.length === 0) return;
  const searchAttributes = Object.fromEntries(
    missing.map(({ name, type }) => [
      name,
      type === 'INT' ? types.INDEXED_VALUE_TYPE_INT : types.INDEXED_VALUE_TYPE_KEYWORD,
    ]),
  );
  try {
    await operatorService.addSearchAttributes({ namespace, searchAttributes });
  } catch (error) {
    // Another worker was faster: what counts is that they are there.
    const after = await operatorService.listSearchAttributes({ namespace });
    if (missing.some(({ name }) => !(name in (after.customAttributes ?? {})))) throw error;
  }
}
