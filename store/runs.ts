/** Table `runs`: one row per runSpec workflow. */
import type { CompiledSpec } from '../spec/model.ts';
import { fromRow, time } from './db.ts';
import type { Db } from './db.ts';
import { clean, json } from './text.ts';

/** The id belongs to another execution: the same id was started a second time. */
export class RunExists extends Error {
  override readonly name = 'RunExists';
}
/** No such run in the store. */
export class UnknownRun extends Error {
  override readonly name = 'UnknownRun';
  readonly run: string;
  constructor(run: string) {
    super(`there is no run ${run}`);
    this.run = run;
  }
}

export interface RunRow {
  readonly id: string;
  readonly execution: string | null;
  readonly name: string;
  readonly phase: string;
  readonly paused: boolean;
  readonly baseCommit: string | null;
  readonly imageDigest: string | null;
  readonly startedAtMs: number;
  readonly endedAtMs: number | null;
  /** null while it runs. */
  readonly outcome: string | null;
  readonly report: unknown;
  /** What it waits for; null when it waits for nobody. */
  readonly details: unknown;
  readonly updatedAtMs: number;
}

const COLUMNS =
  'id, execution, name, phase, paused, base_commit, image_digest, started_at, ended_at, outcome, report, details, updated_at';

export interface NewRun {
  readonly id: string;
  readonly spec: CompiledSpec;
  /** First execution id of the workflow; when given, another one under the same id throws RunExists. */
  readonly execution?: string | null;
  /** Default `prepare`. */
  readonly phase?: string;
  readonly baseCommit?: string | null;
  readonly imageDigest?: string | null;
  readonly startedAtMs?: number;
}

/** Writes or completes the run's row; what is not given stays as it is. @throws RunExists */
export async function saveRun(db: Db, run: NewRun): Promise<void> {
  const { rowCount } = await db.query(
    `insert into runs as r (id, execution, name, spec, phase, base_commit, image_digest, started_at)
     values ($1, $2, $3, $4, $5, $6, $7, coalesce($8, now()))
     on conflict (id) do update set
       execution = coalesce(r.execution, excluded.execution),
       name = excluded.name,
       spec = excluded.spec,
       base_commit = coalesce(excluded.base_commit, r.base_commit),
       image_digest = coalesce(excluded.image_digest, r.image_digest),
       updated_at = now()
     where r.execution is null or excluded.execution is null or r.execution = excluded.execution`,
    [
      run.id,
      run.execution ?? null,
      clean(run.spec.name),
      json(run.spec),
      run.phase ?? 'prepare',
      run.baseCommit ?? null,
      run.imageDigest ?? null,
      time(run.startedAtMs),
    ],
  );
  if (rowCount === 0) throw new RunExists(`the run id ${run.id} has been used by an earlier run; choose another id`);
}

export async function loadRun(db: Db, run: string): Promise<RunRow | null> {
  const { rows } = await db.query(`select ${COLUMNS} from runs where id = $1`, [run]);
  return rows[0] === undefined ? null : fromRow<RunRow>(rows[0]);
}

/** @throws UnknownRun */
export async function loadSpec(db: Db, run: string): Promise<CompiledSpec> {
  const { rows } = await db.query<{ spec: CompiledSpec }>('select spec from runs where id = $1', [run]);
  if (rows[0] === undefined) throw new UnknownRun(run);
  return rows[0].spec;
}

/**
 * What the run is doing, and what it waits for (null: nothing).
 * @param atMs workflow time of the change: an older change that arrives later is dropped. Without it the last one to arrive wins
 * @throws UnknownRun
 */
export async function setRunPhase(db: Db, run: string, phase: string, waiting: unknown, atMs?: number): Promise<void> {
  const details = waiting === null || waiting === undefined ? null : json(waiting);
  const { rowCount } = await db.query(
    `update runs set phase = $2, details = $3, state_at_ms = coalesce($4, state_at_ms), updated_at = now()
     where id = $1 and state_at_ms <= coalesce($4, state_at_ms)`,
    [run, phase, details, atMs ?? null],
  );
  if (rowCount === 0) await refuseUnknown(db, run);
}

/** @throws UnknownRun */
export async function setRunFacts(
  db: Db,
  run: string,
  facts: { readonly baseCommit?: string; readonly imageDigest?: string },
): Promise<void> {
  const { rowCount } = await db.query(
    `update runs set base_commit = coalesce($2, base_commit), image_digest = coalesce($3, image_digest), updated_at = now()
     where id = $1`,
    [run, facts.baseCommit ?? null, facts.imageDigest ?? null],
  );
  if (rowCount === 0) throw new UnknownRun(run);
}

/** The image that the run's name of it meant when it was first used; the first told stays. */
export async function noteImageDigest(db: Db, run: string, digest: string): Promise<void> {
  await db.query('update runs set image_digest = $2, updated_at = now() where id = $1 and image_digest is null', [
    run,
    digest,
  ]);
}

/** @param atMs as for setRunPhase. @throws UnknownRun */
export async function setPaused(db: Db, run: string, paused: boolean, atMs?: number): Promise<void> {
  const { rowCount } = await db.query(
    `update runs set paused = $2, state_at_ms = coalesce($3, state_at_ms), updated_at = now()
     where id = $1 and state_at_ms <= coalesce($3, state_at_ms)`,
    [run, paused, atMs ?? null],
  );
  if (rowCount === 0) await refuseUnknown(db, run);
}

/** Nothing was changed: the run is not there, or knows something newer. */
async function refuseUnknown(db: Db, run: string): Promise<void> {
  const { rowCount } = await db.query('select 1 from runs where id = $1', [run]);
  if (rowCount === 0) throw new UnknownRun(run);
}

/** false for a run that is not there. */
export async function isPaused(db: Db, run: string): Promise<boolean> {
  const { rows } = await db.query<{ paused: boolean }>('select paused from runs where id = $1', [run]);
  return rows[0]?.paused ?? false;
}

/**
 * Its end; the first time it is told stays.
 * @param atMs workflow time: no older change overwrites the end
 * @throws UnknownRun
 */
export async function finishRun(db: Db, run: string, outcome: string, report: unknown, atMs?: number): Promise<void> {
  const { rowCount } = await db.query(
    `update runs set outcome = $2, report = $3, phase = 'done', paused = false, details = null,
       ended_at = coalesce(ended_at, now()), state_at_ms = greatest(state_at_ms, $4), updated_at = now()
     where id = $1`,
    [run, outcome, json(report), atMs ?? null],
  );
  if (rowCount === 0) throw new UnknownRun(run);
}

/** Newest first. */
export async function listRuns(db: Db, limit = 50): Promise<RunRow[]> {
  const { rows } = await db.query(`select ${COLUMNS} from runs order by started_at desc, id limit $1`, [limit]);
  return rows.map((row) => fromRow<RunRow>(row));
}
