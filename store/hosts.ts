/** Table `hosts`: sandbox workers, as they last reported. */
import { fromRow } from './db.ts';
import type { Db } from './db.ts';

/** A host that has not reported for so long has no worker that could be told anything. */
export const HOST_LIVE_MS = 60_000;

export interface HostRow {
  readonly id: string;
  readonly seenAtMs: number;
  readonly slots: number;
  /** Containers running. */
  readonly running: number;
  readonly live: boolean;
}

export async function touchHost(
  db: Db,
  host: { readonly id: string; readonly slots: number; readonly running: number },
): Promise<void> {
  await db.query(
    `insert into hosts (id, seen_at, slots, running) values ($1, now(), $2, $3)
     on conflict (id) do update set seen_at = now(), slots = excluded.slots, running = excluded.running`,
    [host.id, host.slots, host.running],
  );
}

/** A worker that stops in order takes itself out, so that nobody waits for its answer. */
export async function removeHost(db: Db, id: string): Promise<void> {
  await db.query('delete from hosts where id = $1', [id]);
}

export async function listHosts(db: Db, liveMs: number = HOST_LIVE_MS): Promise<HostRow[]> {
  const { rows } = await db.query(
    `select id, seen_at, slots, running, seen_at > now() - make_interval(secs => $1 / 1000.0) as live from hosts order by id`,
    [liveMs],
  );
  return rows.map((row) => fromRow<HostRow>(row));
}

/**
 * Hosts that may run a container of this run and can be told to freeze or kill it: every live one, because verification and
 * gates run wherever there is room. Hosts that are gone are left out: no worker polls their queue, and their containers are
 * reaped as those of a dead owner.
 */
export async function hostsOfRun(db: Db, run: string, liveMs: number = HOST_LIVE_MS): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select h.id from hosts h
     left join (select distinct host from attempts where run = $1 and ended_at is null) a on a.host = h.id
     where h.seen_at > now() - make_interval(secs => $2 / 1000.0)
     order by a.host is null, h.id`,
    [run, liveMs],
  );
  return rows.map((row) => row.id);
}
