/** Table `log_entries`: what was decided in a run and by whom: land-anyway, ejections, cancellations, approvals. */
import { fromRow, time } from './db.ts';
import type { Db } from './db.ts';
import { json, message } from './text.ts';

export interface LogEntry {
  readonly key: string;
  readonly atMs: number;
  readonly kind: string;
  readonly task: string | null;
  readonly message: string;
  readonly data: unknown;
}

/** `key` names the entry within its run (say `land-anyway/<task>/<attempt>/<step>`): told twice, the first stays. */
export async function addLogEntry(
  db: Db,
  entry: {
    readonly run: string;
    readonly key: string;
    readonly kind: string;
    readonly task?: string | null;
    readonly message: string;
    readonly data?: unknown;
    readonly atMs?: number;
  },
): Promise<void> {
  await db.query(
    `insert into log_entries (run, key, at, kind, task, message, data)
     values ($1, $2, coalesce($3, now()), $4, $5, $6, $7) on conflict (run, key) do nothing`,
    [
      entry.run,
      entry.key,
      time(entry.atMs),
      entry.kind,
      entry.task ?? null,
      message(entry.message) ?? '',
      entry.data === undefined ? null : json(entry.data),
    ],
  );
}

/** The newest `limit` entries, oldest first; of one task, or of some kinds, where they are named. */
export async function listLogEntries(
  db: Db,
  run: string,
  options: { readonly task?: string; readonly kinds?: readonly string[]; readonly limit?: number } = {},
): Promise<LogEntry[]> {
  const { rows } = await db.query(
    `select key, at, kind, task, message, data from log_entries
     where run = $1 and ($2::text is null or task = $2) and ($4::text[] is null or kind = any ($4)) order by at desc, key desc limit $3`,
    [run, options.task ?? null, options.limit ?? 200, options.kinds ?? null],
  );
  return rows.toReversed().map((row) => fromRow<LogEntry>(row));
}
