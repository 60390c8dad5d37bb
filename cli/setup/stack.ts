/**
 * The plan of processes on this machine: what starts after what, and what stops before what. `up`, `down` and the tests
 * all go through here.
 *
 * Invariants
 * 1. What runs already is left alone; starting twice changes nothing.
 * 2. Workers start only when Temporal and Postgres answer, and stop before they do.
 * 3. One start or stop at a time per state folder.
 */
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createProgress } from '../progress.ts';
import type { Progress } from '../progress.ts';
import { ensureHubToken, localEnvironment } from './local-env.ts';
import { withLock } from './lock.ts';
import { freePorts } from './ports.ts';
import { startPostgres, stopPostgres } from './postgres.ts';
import type { StopResult } from './process.ts';
import { loadSettings } from './settings.ts';
import type { Settings } from './settings.ts';
import { ensureTemporal } from './temporal.ts';
import { startTemporal, stopTemporal } from './temporal-server.ts';
import { awaitWorker, launchWorker, stopWorker, WORKERS } from './worker-processes.ts';
import type { WorkerName } from './worker-processes.ts';

export type Started = 'given' | 'already running' | 'started';

export interface StackReport {
  readonly temporal: Started;
  readonly postgres: Started;
  readonly workers: Readonly<Partial<Record<WorkerName, Started>>>;
}

export interface StackOptions {
  readonly progress?: Progress;
  /** Default: all. */
  readonly workers?: readonly WorkerName[];
  /** Leave to install what is missing. */
  readonly yes?: boolean;
}

const locked = <T>(settings: Settings, progress: Progress, work: () => Promise<T>): Promise<T> =>
  withLock(join(settings.stateDir, 'up.lock'), work, () =>
    progress.line('another swarmline command is starting or stopping this; waiting for it'),
  );

/** Starts what is not running and waits until everything is ready. Throws MissingError; what had started stays. */
export async function startProcesses(
  settings: Settings,
  given: NodeJS.ProcessEnv,
  options: StackOptions = {},
): Promise<StackReport> {
  const progress = options.progress ?? createProgress();
  const wanted = options.workers ?? WORKERS;
  await mkdir(settings.stateDir, { recursive: true });
  return locked(settings, progress, async () => {
    await ensureHubToken(settings);
    const binary =
      settings.given.temporalAddress === null
        ? await ensureTemporal(settings, { yes: options.yes ?? false, progress })
        : '';
    const [temporal, postgres] = await progress.step('starting Temporal and Postgres', () =>
      settle([startTemporal(settings, binary, given), startPostgres(settings)]),
    );
    const env = localEnvironment(settings, given);
    const workers: Partial<Record<WorkerName, Started>> = {};
    if (wanted.length > 0) {
      await progress.step('starting the workers', async () => {
        for (const worker of wanted) workers[worker] = await launchWorker(settings, worker, env);
        await settle(wanted.map((worker) => awaitWorker(settings, worker)));
      });
    }
    return { temporal: temporal!, postgres: postgres!, workers };
  });
}

/** Waits for all before the first failure is thrown, so that nothing is still starting when it is told. */
async function settle<T>(work: readonly Promise<T>[]): Promise<T[]> {
  const results = await Promise.allSettled(work);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return results.map((result) => (result as PromiseFulfilledResult<T>).value);
}

export type StopReport = readonly { readonly name: string; readonly result: StopResult }[];

/** Stops workers, then Postgres and Temporal, where they are ours. Data and the Docker engine stay. */
export async function stopProcesses(settings: Settings, progress: Progress = createProgress()): Promise<StopReport> {
  await mkdir(settings.stateDir, { recursive: true });
  return locked(settings, progress, async () => {
    const workers = await progress.step('stopping the workers', () =>
      settle(WORKERS.map(async (name) => ({ name: `${name} worker`, result: await stopWorker(settings, name) }))),
    );
    const services = await progress.step('stopping Postgres and Temporal', () =>
      settle([
        stopPostgres(settings).then((result) => ({ name: 'Postgres', result })),
        stopTemporal(settings).then((result) => ({ name: 'Temporal', result })),
      ]),
    );
    return [...workers, ...services];
  });
}

/** An environment for a whole system of its own: this folder as state, ports that are free now. For tests. */
export async function isolatedEnvironment(
  stateDir: string,
  base: NodeJS.ProcessEnv = process.env,
): Promise<NodeJS.ProcessEnv> {
  // Postgres, as another user, has to reach its data below.
  await chmod(stateDir, 0o755);
  const first = await freePorts(8);
  const env: NodeJS.ProcessEnv = { ...base };
  for (const name of ['TEMPORAL_ADDRESS', 'DATABASE_URL', 'SWARMLINE_HUB_TOKEN', 'TEMPORAL_NAMESPACE'])
    delete env[name];
  return {
    ...env,
    SWARMLINE_STATE: stateDir,
    SWARMLINE_TEMPORAL_PORT: String(first),
    SWARMLINE_TEMPORAL_UI_PORT: String(first + 1),
    SWARMLINE_POSTGRES_PORT: String(first + 2),
    SWARMLINE_HUB_URL: `http://127.0.0.1:${first + 3}`,
    SWARMLINE_METRICS_PORT: String(first + 4),
  };
}

export interface Stack {
  /** What a worker or a command needs to find it. */
  readonly env: NodeJS.ProcessEnv;
  readonly settings: Settings;
  readonly report: StackReport;
  stop(): Promise<StopReport>;
}

/** Starts a whole system from an environment; the tests' way in. */
export async function startStack(given: NodeJS.ProcessEnv, options: StackOptions = {}): Promise<Stack> {
  const settings = loadSettings(given);
  const report = await startProcesses(settings, given, options);
  return {
    env: localEnvironment(settings, given),
    settings,
    report,
    stop: () => stopProcesses(settings, options.progress),
  };
}
