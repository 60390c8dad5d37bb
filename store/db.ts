/**
 * The connection: a pg Pool with the settings that every process uses, and the few helpers that every table file needs.
 *
 * Queries are safe to repeat, so a lost connection is simply an error: Temporal repeats the activity.
 */
import pg from 'pg';

/** Anything that can run a query: a Pool, or a client inside a transaction. */
export interface Db {
  query<R extends pg.QueryResultRow = pg.QueryResultRow>(text: string, values?: unknown[]): Promise<pg.QueryResult<R>>;
}
export type Pool = pg.Pool;

/** SQLSTATEs that the store tells apart. */
export const SQLSTATE = {
  undefinedTable: '42P01',
  undefinedColumn: '42703',
  duplicateTable: '42P07',
  uniqueViolation: '23505',
  foreignKeyViolation: '23503',
  lockNotAvailable: '55P03',
  cannotConnectNow: '57P03',
  adminShutdown: '57P01',
} as const;

/** The SQLSTATE of an error from Postgres, or the system code (`ECONNREFUSED`) of one from the socket; null for anything else. */
export function codeOf(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}

const types = {
  // bigint as number: bytes and milliseconds stay far below 2^53.
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

export interface ConnectOptions {
  /** Connections at most. Default 10. */
  readonly max?: number;
  /** Told of an idle connection that broke; the pool replaces it by itself. */
  readonly onError?: (error: Error) => void;
}

/** Opens nothing yet: the first query connects. Statements end after 30 s, connecting after 5 s. */
export function connect(databaseUrl: string, options: ConnectOptions = {}): Pool {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: options.max ?? 10,
    connectionTimeoutMillis: 5_000,
    statement_timeout: 30_000,
    keepAlive: true,
    application_name: 'swarmline',
    types,
  });
  // Without a listener the loss of an idle connection would end the process.
  pool.on('error', (error) => options.onError?.(error));
  return pool;
}

/** A connection outside the pool with the pool's settings, for session locks. Statements have no deadline on it. */
export async function dedicatedClient(pool: Pool): Promise<pg.Client> {
  const client = new pg.Client(pool.options);
  client.on('error', () => undefined); // told to whoever waits for a query; 'end' tells the rest
  await client.connect();
  try {
    await client.query('set statement_timeout = 0');
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
  return client;
}

/** All of `work` or none of it, on one connection. */
export async function inTransaction<T>(pool: Pool, work: (db: Db) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch((failure: Error) => (broken = failure));
    throw error;
  } finally {
    client.release(broken);
  }
}

const camel = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Row → JSON-safe object: snake_case to camelCase, `started_at` to `startedAtMs` (ms since the epoch). */
export function fromRow<T>(row: pg.QueryResultRow): T {
  const out: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(row)) {
    const isTime = name === 'at' || name.endsWith('_at') || name.endsWith('_since');
    out[camel(name) + (isTime ? 'Ms' : '')] = value instanceof Date ? value.getTime() : value;
  }
  return out as T;
}

/** Milliseconds since the epoch as a parameter for a timestamptz; null stays null. */
export const time = (ms: number | null | undefined): Date | null =>
  ms === null || ms === undefined ? null : new Date(ms);

/** One change for each key, in the order of the first: later fields win, undefined ones count as absent. */
export function mergeBy<T extends object>(changes: readonly T[], keyOf: (change: T) => string): T[] {
  const merged = new Map<string, T>();
  for (const change of changes) {
    const next: T = { ...(merged.get(keyOf(change)) ?? change) };
    for (const [name, value] of Object.entries(change)) {
      if (value === undefined) continue;
      Reflect.set(next, name, value);
    }
    for (const [name, value] of Object.entries(next)) if (value === undefined) Reflect.deleteProperty(next, name);
    merged.set(keyOf(change), next);
  }
  return [...merged.values()];
}
