/**
 * Session advisory locks.
 *
 * 1. A lock lives exactly as long as its connection: a killed process gives it back by dying.
 * 2. Whoever holds one is told when the connection is lost, because from then on somebody else may hold it.
 */
import { codeOf, dedicatedClient, SQLSTATE } from './db.ts';
import type { Pool } from './db.ts';

/** Somebody else holds the lock and did not give it back in time. */
export class LockBusy extends Error {
  override readonly name = 'LockBusy';
}

export interface HeldLock {
  readonly name: string;
  /** Aborted when the lock was lost, not when it was released. */
  readonly lost: AbortSignal;
  /** Gives it back; may be called again. */
  release(): Promise<void>;
}

/**
 * Takes a lock on a connection of its own, which stays open while it is held.
 * @param waitMs how long to wait for another holder; default 15 s
 * @throws LockBusy
 */
export async function holdLock(
  pool: Pool,
  name: string,
  options: { readonly waitMs?: number } = {},
): Promise<HeldLock> {
  const client = await dedicatedClient(pool);
  const lost = new AbortController();
  let released = false;
  client.on('end', () => {
    if (!released) lost.abort(new Error('the connection that held the lock was lost'));
  });
  try {
    // 0 would mean no limit.
    await client.query("select set_config('lock_timeout', $1, false)", [`${Math.max(1, options.waitMs ?? 15_000)}ms`]);
    await client.query('select pg_advisory_lock(hashtextextended($1, 0))', [name]);
  } catch (error) {
    released = true;
    await client.end().catch(() => undefined);
    if (codeOf(error) !== SQLSTATE.lockNotAvailable) throw error;
    throw new LockBusy(`another process holds the lock ${name}`, { cause: error });
  }
  return {
    name,
    lost: lost.signal,
    async release() {
      if (released) return;
      released = true;
      await client.end().catch(() => undefined); // lost already: nothing to give back
    },
  };
}

/** The right to write refs of a run's hub. One connection for each hub held. @throws LockBusy */
export const holdHubLock = (pool: Pool, run: string, options: { readonly waitMs?: number } = {}): Promise<HeldLock> =>
  holdLock(pool, `swarmline/hub/${run}`, options);

/** Runs `work` while holding the lock; it is given the signal that tells of a loss. @throws LockBusy */
export async function withAdvisoryLock<T>(
  pool: Pool,
  name: string,
  work: (lost: AbortSignal) => Promise<T>,
  options: { readonly waitMs?: number } = {},
): Promise<T> {
  const lock = await holdLock(pool, name, options);
  try {
    return await work(lock.lost);
  } finally {
    await lock.release();
  }
}
