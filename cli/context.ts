/**
 * What commands work with: settings, the store, Temporal; each opened when it is first asked for and closed at the end.
 * The clients are heavy to load, so they are imported by whoever opens them: `--help` and bad arguments stay quick.
 */
import type { Pool } from '../store/index.ts';
import { MissingError } from './exit.ts';
import { createProgress } from './progress.ts';
import type { Progress } from './progress.ts';
import { loadSettings } from './setup/settings.ts';
import type { Settings } from './setup/settings.ts';
import type { Temporal } from './temporal.ts';

export interface Context {
  readonly settings: Settings;
  readonly env: NodeJS.ProcessEnv;
  /** On standard error. */
  readonly progress: Progress;
  readonly width: number;
  readonly isTerminal: boolean;
  /** One line on standard output. */
  print(line: string): void;
  /** Text as it is on standard output. */
  write(text: string): void;
  /** @throws MissingError */
  store(): Promise<Pool>;
  /** @throws MissingError */
  temporal(): Promise<Temporal>;
}

const WIDTH = 120;

/** Runs a command's body with a context, and closes what it opened. */
export async function withContext<T>(
  body: (context: Context) => Promise<T>,
  env: NodeJS.ProcessEnv = process.env,
): Promise<T> {
  const settings = loadSettings(env);
  const opened: { pool?: Promise<Pool>; temporal?: Promise<Temporal> } = {};
  const context: Context = {
    settings,
    env,
    progress: createProgress(),
    width: process.stdout.columns ?? WIDTH,
    isTerminal: process.stdout.isTTY,
    print: (line) => void process.stdout.write(`${line}\n`),
    write: (text) => void process.stdout.write(text),
    store: () => (opened.pool ??= openStore(settings)),
    temporal: () =>
      (opened.temporal ??= import('./temporal.ts')
        .then((module) => module.connectTemporal(settings, env))
        .catch((error: unknown) => {
          delete opened.temporal; // whoever asks later may find it
          throw error;
        })),
  };
  try {
    return await body(context);
  } finally {
    // What could not be opened has been told by whoever asked for it.
    await opened.pool?.then(
      (open) => open.end(),
      () => undefined,
    );
    await opened.temporal?.then(
      (open) => open.close(),
      () => undefined,
    );
  }
}

async function openStore(settings: Settings): Promise<Pool> {
  const [{ connect, codeOf, SQLSTATE }, { databaseUrl }] = await Promise.all([
    import('../store/index.ts'),
    import('./setup/postgres.ts'),
  ]);
  const url = databaseUrl(settings);
  const elsewhere = settings.given.temporalAddress !== null && settings.given.databaseUrl === null;
  const start = elsewhere
    ? ['export DATABASE_URL=…   # the database of the workers at TEMPORAL_ADDRESS', './swarmline up']
    : './swarmline up';
  if (url === null) throw new MissingError({ what: 'There is no database on this machine yet.', command: start });
  const pool = connect(url, { max: 3 });
  try {
    await pool.query('select 1 from runs limit 1');
    return pool;
  } catch (error) {
    await pool.end();
    const code = codeOf(error);
    const own = settings.given.databaseUrl === null;
    if (code === SQLSTATE.undefinedTable) {
      throw new MissingError(
        {
          what: 'The database holds no swarmline schema yet.',
          why: 'The workers make it when they start.',
          command: start,
        },
        { cause: error },
      );
    }
    throw new MissingError(
      {
        what: own
          ? `Postgres does not answer on port ${settings.ports.postgres}.`
          : 'Postgres does not answer at DATABASE_URL.',
        why: error instanceof Error && error.message !== '' ? error.message : (code ?? 'unknown'),
        command: own ? start : './swarmline doctor',
      },
      { cause: error },
    );
  }
}
