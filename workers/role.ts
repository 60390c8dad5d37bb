/** What every worker process is given and gives back. */
import type { Worker } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Pool } from '../store/index.ts';
import type { WorkerConfig } from './config.ts';
import type { TemporalConnection } from './temporal.ts';

export interface WorkerContext {
  readonly config: WorkerConfig;
  readonly log: Logger;
  readonly db: Pool;
  readonly temporal: TemporalConnection;
  readonly registry: Registry;
}

export interface RunningRole {
  readonly workers: readonly Worker[];
  /** For a process without workers: resolves when it has been told to stop. */
  readonly ended?: Promise<void>;
  /** After the workers have ended. */
  close(): Promise<void>;
}
