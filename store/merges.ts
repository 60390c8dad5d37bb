/** Table `merges`: one row per merge request. */
import { fromRow, mergeBy } from './db.ts';
import type { Db } from './db.ts';
import { json, message } from './text.ts';

export type MergeState = 'queued' | 'merged' | 'verified' | 'green' | 'conflict' | 'refused' | 'ejected' | 'withdrawn';

/** A field that is absent stays; null clears it. A first time that is told stays unless another one is given. */
export interface MergeChange {
  /** `<task>/<attempt>` */
  readonly request: string;
  readonly task: string;
  readonly attempt: number;
  readonly state: MergeState;
  readonly commit?: string | null;
  readonly requestedAtMs?: number;
  readonly mergedAtMs?: number | null;
  readonly verifiedAtMs?: number | null;
  readonly why?: string | null;
}

export interface MergeRow {
  readonly request: string;
  readonly task: string;
  readonly attempt: number;
  readonly state: MergeState;
  readonly commit: string | null;
  readonly requestedAtMs: number;
  readonly mergedAtMs: number | null;
  readonly verifiedAtMs: number | null;
  readonly why: string | null;
}

/**
 * Many changes in one statement.
 * @param atMs workflow time of the change: an older change that arrives later is dropped
 */
export async function recordMerges(db: Db, run: string, changes: readonly MergeChange[], atMs?: number): Promise<void> {
  if (changes.length === 0) return;
  const rows = mergeBy(changes, (change) => change.request).map((change) =>
    'why' in change ? { ...change, why: message(change.why) } : change,
  );
  await db.query(
    `with x as (
       select e as fields, e ->> 'request' as request, to_timestamp((e ->> 'requestedAtMs')::float8 / 1000) as requested_at,
         to_timestamp((e ->> 'mergedAtMs')::float8 / 1000) as merged_at,
         to_timestamp((e ->> 'verifiedAtMs')::float8 / 1000) as verified_at
       from jsonb_array_elements($2::jsonb) as e
     ), changed as (
       update merges m set
         state = x.fields ->> 'state',
         state_at_ms = coalesce($3, m.state_at_ms),
         commit = case when x.fields ? 'commit' then x.fields ->> 'commit' else m.commit end,
         requested_at = coalesce(x.requested_at, m.requested_at),
         merged_at = case when x.fields ? 'mergedAtMs' then x.merged_at else m.merged_at end,
         verified_at = case when x.fields ? 'verifiedAtMs' then x.verified_at else m.verified_at end,
         why = case when x.fields ? 'why' then x.fields ->> 'why' else m.why end
       from x
       where m.run = $1 and m.request = x.request and m.state_at_ms <= coalesce($3, m.state_at_ms)
     )
     insert into merges (run, request, task, attempt, state, state_at_ms, commit, requested_at, merged_at, verified_at, why)
     select $1, x.request, x.fields ->> 'task', (x.fields ->> 'attempt')::integer, x.fields ->> 'state', coalesce($3, 0),
       x.fields ->> 'commit', coalesce(x.requested_at, now()), x.merged_at, x.verified_at, x.fields ->> 'why'
     from x
     on conflict (run, request) do nothing`,
    [run, json(rows), atMs ?? null],
  );
}

/** In the order of the requests. */
export async function listMerges(db: Db, run: string): Promise<MergeRow[]> {
  const { rows } = await db.query(
    `select request, task, attempt, state, commit, requested_at, merged_at, verified_at, why
     from merges where run = $1 order by requested_at, request`,
    [run],
  );
  return rows.map((row) => fromRow<MergeRow>(row));
}
