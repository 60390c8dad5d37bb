/** Table `calls_waiting`: each gateway says now and then who waits at it. What it has not said lately does not count: it may be gone. */
import type { WaitingCalls } from '../spec/cost-report.ts';
import { fromRow, inTransaction } from './db.ts';
import type { Db, Pool } from './db.ts';
import { json } from './text.ts';

export interface Waiter {
  readonly run: string;
  readonly task: string;
  readonly refusal: string;
  /** So long it has waited. */
  readonly waitedMs: number;
}

/** Longer than a gateway takes to say it again. */
const FRESH_MS = 15_000;

/** All who wait at a host's gateway; what it said before is forgotten. Runs that are no more are left out. */
export async function saveWaiting(pool: Pool, host: string, waiters: readonly Waiter[]): Promise<void> {
  await inTransaction(pool, async (db) => {
    await db.query('delete from calls_waiting where host = $1', [host]);
    if (waiters.length === 0) return;
    await db.query(
      `insert into calls_waiting (host, run, task, refusal, calls, since)
       select $1, w.run, w.task, w.refusal, count(*), clock_timestamp() - make_interval(secs => max(w.ms) / 1000.0)
       from jsonb_to_recordset($2) as w (run text, task text, refusal text, ms float8) join runs r on r.id = w.run
       group by w.run, w.task, w.refusal`,
      [host, json(waiters.map(({ waitedMs, ...waiter }) => ({ ...waiter, ms: waitedMs })))],
    );
  });
}

/** Over all hosts, who waits longest first. */
export async function listWaiting(db: Db, run: string): Promise<WaitingCalls[]> {
  const { rows } = await db.query(
    `select task, refusal, sum(calls)::int as calls,
       round(extract(epoch from clock_timestamp() - min(since)) * 1000)::bigint as waited_ms
     from calls_waiting where run = $1 and seen_at > clock_timestamp() - make_interval(secs => $2 / 1000.0)
     group by task, refusal order by min(since), task, refusal`,
    [run, FRESH_MS],
  );
  return rows.map((row) => fromRow<WaitingCalls>(row));
}
