/** Table `green_points`: commits that passed the wave gate. */
import { fromRow, time } from './db.ts';
import type { Db } from './db.ts';

export interface GreenPoint {
  /** 0 is the base commit, where the baseline was green. */
  readonly n: number;
  readonly commit: string;
  readonly wave: number | null;
  readonly atMs: number;
}

/** Told twice, the first stays. */
export async function saveGreenPoint(
  db: Db,
  run: string,
  point: { readonly n: number; readonly commit: string; readonly wave?: number | null; readonly atMs?: number },
): Promise<void> {
  await db.query(
    `insert into green_points (run, n, commit, wave, at) values ($1, $2, $3, $4, coalesce($5, now()))
     on conflict (run, n) do nothing`,
    [run, point.n, point.commit, point.wave ?? null, time(point.atMs)],
  );
}

/** Oldest first. */
export async function listGreenPoints(db: Db, run: string): Promise<GreenPoint[]> {
  const { rows } = await db.query('select n, commit, wave, at from green_points where run = $1 order by n', [run]);
  return rows.map((row) => fromRow<GreenPoint>(row));
}
