/**
 * This machine's own Temporal: the dev server on a SQLite file, started detached and waited for.
 *
 * The start line is measured: WAL halves the CPU of the file database, eager activities take a third off, the
 * activity APIs and priorities are off in this server unless asked for.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { MissingError } from '../exit.ts';
import { requirePort } from './ports.ts';
import { poll, readRunning, startDaemon, stopDaemon } from './process.ts';
import type { StopResult } from './process.ts';
import { logFile, pidFile, startFailure } from './places.ts';
import type { Settings } from './settings.ts';

/** Closed runs stay in the UI this long; the server's default is a day. */
const RETENTION_SECONDS = 30 * 24 * 3600;
const READY_MS = 60_000;
const NAME = 'temporal';

/** The address of the server that is used: the given one, else ours. */
export const temporalAddress = (settings: Settings): string =>
  settings.given.temporalAddress ?? `127.0.0.1:${settings.ports.temporal}`;

/** The address of the Web UI of our server; null for a given one, whose UI we do not know. */
export const temporalUi = (settings: Settings): string | null =>
  settings.given.temporalAddress === null ? `http://127.0.0.1:${settings.ports.temporalUi}` : null;

/** The arguments of our dev server. Pure. */
export function serverArguments(settings: Settings): string[] {
  return [
    'server',
    'start-dev',
    '--ip',
    '127.0.0.1',
    '--port',
    String(settings.ports.temporal),
    '--ui-port',
    String(settings.ports.temporalUi),
    '--db-filename',
    join(settings.stateDir, 'temporal', 'temporal.db'),
    '--sqlite-pragma',
    'journal_mode=WAL',
    '--sqlite-pragma',
    'synchronous=NORMAL',
    '--dynamic-config-value',
    'system.enableActivityEagerExecution=true',
    '--dynamic-config-value',
    'frontend.activityAPIsEnabled=true',
    '--dynamic-config-value',
    'matching.useNewMatcher=true',
    '--log-format',
    'json',
    ...(settings.namespace === 'default' ? [] : ['--namespace', settings.namespace]),
  ];
}

/** Does a Temporal server answer for this namespace within the time? Errors count as no. */
async function answers(settings: Settings, timeoutMs: number): Promise<boolean> {
  try {
    const options =
      settings.given.temporalAddress === null
        ? { address: temporalAddress(settings) }
        : loadClientConnectConfig().connectionOptions;
    const connection = await Connection.connect({ ...options, connectTimeout: timeoutMs });
    try {
      await connection.withDeadline(Date.now() + timeoutMs, () =>
        connection.workflowService.describeNamespace({ namespace: settings.namespace }),
      );
      return true;
    } finally {
      await connection.close();
    }
  } catch {
    return false;
  }
}

/** Is the server there, given or ours? For `doctor`. */
export const temporalAnswers = (settings: Settings): Promise<boolean> => answers(settings, 3_000);

async function keepClosedRuns(settings: Settings): Promise<void> {
  const connection = await Connection.connect({ address: temporalAddress(settings), connectTimeout: 5_000 });
  try {
    await connection.workflowService.updateNamespace({
      namespace: settings.namespace,
      config: { workflowExecutionRetentionTtl: { seconds: RETENTION_SECONDS as never } },
    });
  } finally {
    await connection.close();
  }
}

/** Starts our server unless it runs, or checks the given one. Throws MissingError. */
export async function startTemporal(
  settings: Settings,
  binary: string,
  env: NodeJS.ProcessEnv,
): Promise<'given' | 'already running' | 'started'> {
  if (settings.given.temporalAddress !== null) {
    if ((await poll(async () => ((await answers(settings, 3_000)) ? true : null), 10_000)) !== null) return 'given';
    throw new MissingError({
      what: `Temporal does not answer at TEMPORAL_ADDRESS=${settings.given.temporalAddress} for namespace ${settings.namespace}.`,
      command: [
        `temporal operator namespace describe -n ${settings.namespace} --address ${settings.given.temporalAddress}`,
        'unset TEMPORAL_ADDRESS   # to use this machine’s own',
      ],
    });
  }
  const running = (await readRunning(pidFile(settings, NAME))) !== null;
  if (!running) {
    await requirePort(settings.ports.temporal, 'Temporal', 'SWARMLINE_TEMPORAL_PORT', '7243');
    await requirePort(settings.ports.temporalUi, 'the Temporal UI', 'SWARMLINE_TEMPORAL_UI_PORT', '8243');
    await mkdir(join(settings.stateDir, 'temporal'), { recursive: true });
    await startDaemon({
      argv: [binary, ...serverArguments(settings)],
      cwd: settings.stateDir,
      env,
      logFile: logFile(settings, NAME),
      pidFile: pidFile(settings, NAME),
    });
  }
  const ready = await poll(async () => {
    if (await answers(settings, 2_000)) return 'ready' as const;
    return (await readRunning(pidFile(settings, NAME))) === null ? ('ended' as const) : null;
  }, READY_MS);
  if (ready !== 'ready') throw await startFailure(settings, NAME, 'Temporal', ready === 'ended');
  await keepClosedRuns(settings);
  return running ? 'already running' : 'started';
}

/** Stops our server; its data stays. */
export const stopTemporal = (settings: Settings): Promise<StopResult> =>
  stopDaemon(pidFile(settings, NAME), 'SIGTERM', 15_000);
