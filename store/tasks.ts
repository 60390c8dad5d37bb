/** Table `tasks`: what each task is to do (with its version) and where it stands. */
import type { TaskKind, TaskSpec, TaskState } from '../spec/model.ts';
import { fromRow, mergeBy } from './db.ts';
import type { Db } from './db.ts';
import { json, message } from './text.ts';

export interface TaskRow {
  readonly id: string;
  readonly version: number;
  readonly index: number;
  readonly kind: TaskKind;
  readonly dependsOn: readonly string[];
  readonly state: TaskState;
  readonly wave: number | null;
  readonly round: number;
  readonly attempts: number;
  readonly waitingOn: string | null;
  readonly waitingSinceMs: number | null;
  readonly waitingWhy: string | null;
  /** Its last failure. */
  readonly why: string | null;
  readonly commit: string | null;
  readonly updatedAtMs: number;
}

/**
 * Writes tasks in the order given. A task that has been amended is left alone.
 * @param firstIndex place of the first one in the run's order: 0, or for added tasks the number of those before
 */
export async function saveTasks(db: Db, run: string, tasks: readonly TaskSpec[], firstIndex = 0): Promise<void> {
  await db.query(
    `insert into tasks as t (run, id, index, spec, kind, depends_on)
     select $1, x.spec ->> 'id', $3 + x.place - 1, x.spec, x.spec ->> 'kind',
       array(select jsonb_array_elements_text(x.spec -> 'dependsOn'))
     from jsonb_array_elements($2::jsonb) with ordinality as x (spec, place)
     on conflict (run, id) do update set
       index = excluded.index, spec = excluded.spec, kind = excluded.kind, depends_on = excluded.depends_on, updated_at = now()
     where t.version = 1`,
    [run, json(tasks), firstIndex],
  );
}

/** null: the run has no such task. */
export async function loadTask(
  db: Db,
  run: string,
  id: string,
): Promise<{ readonly spec: TaskSpec; readonly version: number } | null> {
  const { rows } = await db.query<{ spec: TaskSpec; version: number }>(
    'select spec, version from tasks where run = $1 and id = $2',
    [run, id],
  );
  return rows[0] ?? null;
}

/** Replaces what a task is to do and returns its version: one more, or the same when nothing differs (a retry). null: no such task. */
export async function amendTask(db: Db, run: string, id: string, spec: TaskSpec): Promise<number | null> {
  const { rows } = await db.query<{ version: number }>(
    `update tasks set
       version = version + case when spec = $3::jsonb then 0 else 1 end,
       spec = $3, kind = $4, depends_on = $5, updated_at = now()
     where run = $1 and id = $2 returning version`,
    [run, id, json(spec), spec.kind, spec.dependsOn],
  );
  return rows[0]?.version ?? null;
}

/** A change of one task. A field that is absent stays; null clears it. */
export interface TaskChange {
  readonly id: string;
  readonly state: TaskState;
  readonly wave?: number | null;
  readonly round?: number;
  readonly attempts?: number;
  /** On whom or what it waits; null clears all three. */
  readonly waitingOn?: string | null;
  readonly waitingSinceMs?: number | null;
  readonly waitingWhy?: string | null;
  readonly why?: string | null;
  readonly commit?: string | null;
}

/**
 * Many changes in one statement. Unknown ids are ignored.
 * @param atMs workflow time of the change: an older change that arrives later is dropped. Without it the last one to arrive wins
 */
export async function setTaskStates(db: Db, run: string, changes: readonly TaskChange[], atMs?: number): Promise<void> {
  if (changes.length === 0) return;
  // One row may be updated only once in a statement: of several changes of a task, later fields win.
  const rows = mergeBy(changes, (change) => change.id).map((change) => ({
    ...change,
    ...('waitingWhy' in change ? { waitingWhy: message(change.waitingWhy) } : {}),
    ...('why' in change ? { why: message(change.why) } : {}),
    ...(change.waitingOn === null ? { waitingSinceMs: null, waitingWhy: null } : {}),
  }));
  await db.query(
    `update tasks t set
       state = x ->> 'state',
       state_at_ms = coalesce($3, t.state_at_ms),
       wave = case when x ? 'wave' then (x ->> 'wave')::integer else t.wave end,
       round = coalesce((x ->> 'round')::integer, t.round),
       attempts = coalesce((x ->> 'attempts')::integer, t.attempts),
       waiting_on = case when x ? 'waitingOn' then x ->> 'waitingOn' else t.waiting_on end,
       waiting_since = case when x ? 'waitingSinceMs' then to_timestamp((x ->> 'waitingSinceMs')::float8 / 1000)
                            else t.waiting_since end,
       waiting_why = case when x ? 'waitingWhy' then x ->> 'waitingWhy' else t.waiting_why end,
       why = case when x ? 'why' then x ->> 'why' else t.why end,
       commit = case when x ? 'commit' then x ->> 'commit' else t.commit end,
       updated_at = now()
     from jsonb_array_elements($2::jsonb) as x
     where t.run = $1 and t.id = x ->> 'id' and t.state_at_ms <= coalesce($3, t.state_at_ms)`,
    [run, json(rows), atMs ?? null],
  );
}

const COLUMNS =
  'id, version, index, kind, depends_on, state, wave, round, attempts, waiting_on, waiting_since, waiting_why, why, commit, updated_at';

/** Without their specs, in the order of the run. */
export async function listTasks(db: Db, run: string): Promise<TaskRow[]> {
  const { rows } = await db.query(`select ${COLUMNS} from tasks where run = $1 order by index, id`, [run]);
  return rows.map((row) => fromRow<TaskRow>(row));
}

/** Place for the next task that is added. */
export async function nextTaskIndex(db: Db, run: string): Promise<number> {
  const { rows } = await db.query<{ next: number }>(
    'select coalesce(max(index) + 1, 0) as next from tasks where run = $1',
    [run],
  );
  return rows[0]?.next ?? 0;
}
