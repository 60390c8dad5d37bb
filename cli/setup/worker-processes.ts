/** The worker processes of this machine: started detached, ready when /healthz answers 200. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MissingError } from '../exit.ts';
import { logFile, pidFile, startFailure } from './places.ts';
import { requirePort } from './ports.ts';
import { poll, readRunning, startDaemon, stopDaemon } from './process.ts';
import type { StopResult } from './process.ts';
import { projectRoot } from './root.ts';
import type { Settings } from './settings.ts';

/** In the order in which they start; the place is the offset from the base of the metrics ports. */
export const WORKERS = ['orchestrator', 'mainline', 'sandbox', 'gateway'] as const;
export type WorkerName = (typeof WORKERS)[number];

const READY_MS = 90_000;
/** Longer than a worker's own grace for the activities that run in it. */
const STOP_MS = 60_000;

const name = (worker: WorkerName): string => `worker-${worker}`;

export const workerPidFile = (settings: Settings, worker: WorkerName): string => pidFile(settings, name(worker));

export const metricsPort = (settings: Settings, worker: WorkerName): number =>
  settings.ports.metrics + WORKERS.indexOf(worker);

/** Does the worker say that it is ready? */
export async function workerHealthy(settings: Settings, worker: WorkerName): Promise<boolean> {
  const url = `http://127.0.0.1:${metricsPort(settings, worker)}/healthz`;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    await response.body?.cancel();
    return response.status === 200;
  } catch {
    return false;
  }
}

export const workerRunning = async (settings: Settings, worker: WorkerName): Promise<boolean> =>
  (await readRunning(pidFile(settings, name(worker)))) !== null;

/** Starts a worker unless it runs; does not wait. `env` is what the worker sees. */
export async function launchWorker(
  settings: Settings,
  worker: WorkerName,
  env: NodeJS.ProcessEnv,
): Promise<'already running' | 'started'> {
  if (await workerRunning(settings, worker)) return 'already running';
  const root = projectRoot();
  const program = join(root, 'dist', 'workers', 'main.js');
  if (!existsSync(program)) {
    throw new MissingError({
      what: 'The workers are not built.',
      why: `${program} is not there.`,
      command: './swarmline doctor',
    });
  }
  await requirePort(
    metricsPort(settings, worker),
    `the metrics of the ${worker} worker`,
    'SWARMLINE_METRICS_PORT',
    '9564',
  );
  if (worker === 'mainline')
    await requirePort(settings.ports.hub, 'the hub', 'SWARMLINE_HUB_URL', 'http://127.0.0.1:7433');
  await startDaemon({
    argv: [process.execPath, '--enable-source-maps', program, worker],
    cwd: root,
    env,
    logFile: logFile(settings, name(worker)),
    pidFile: pidFile(settings, name(worker)),
  });
  return 'started';
}

/** Waits until the worker is ready; throws MissingError with the end of its log. */
export async function awaitWorker(settings: Settings, worker: WorkerName): Promise<void> {
  const ready = await poll(async () => {
    if (await workerHealthy(settings, worker)) return 'ready' as const;
    return (await workerRunning(settings, worker)) ? null : ('ended' as const);
  }, READY_MS);
  if (ready !== 'ready') throw await startFailure(settings, name(worker), `The ${worker} worker`, ready === 'ended');
}

/** Stops a worker: it hands back what it has not finished. */
export const stopWorker = (settings: Settings, worker: WorkerName): Promise<StopResult> =>
  stopDaemon(pidFile(settings, name(worker)), 'SIGTERM', STOP_MS);
