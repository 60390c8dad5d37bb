/** Tables `decisions`, `flags`, `scope_requests`, `notices`: what agents say beside their work, and what they are told. */
import type { AttemptKey } from '../spec/model.ts';
import { fromRow } from './db.ts';
import type { Db } from './db.ts';
import { clean, message } from './text.ts';

export interface DecisionRow {
  readonly id: string;
  readonly subject: string;
  readonly text: string;
  readonly interfaces: readonly string[];
  readonly owner: string;
  readonly supersededBy: string | null;
  readonly atMs: number;
}

/** Records a decision, and returns the one that stands under its id: the first told. */
export async function addDecision(
  db: Db,
  run: string,
  decision: Pick<DecisionRow, 'id' | 'subject' | 'text' | 'interfaces' | 'owner'>,
): Promise<DecisionRow> {
  const { rows } = await db.query(
    `with new as (
       insert into decisions (run, id, subject, text, interfaces, owner) values ($1, $2, $3, $4, $5, $6)
       on conflict (run, id) do nothing returning *)
     select id, subject, text, interfaces, owner, superseded_by, at from new
     union all select id, subject, text, interfaces, owner, superseded_by, at from decisions where run = $1 and id = $2
     limit 1`,
    [run, decision.id, clean(decision.subject), message(decision.text), decision.interfaces.map(clean), decision.owner],
  );
  return fromRow<DecisionRow>(rows[0]!);
}

/** The first decision that takes another's place stays. */
export async function supersedeDecision(db: Db, run: string, id: string, by: string): Promise<void> {
  await db.query(
    'update decisions set superseded_by = $3 where run = $1 and id = $2 and superseded_by is null and id <> $3',
    [run, id, by],
  );
}

export async function listDecisions(db: Db, run: string): Promise<DecisionRow[]> {
  const { rows } = await db.query(
    'select id, subject, text, interfaces, owner, superseded_by, at from decisions where run = $1 order by at, id',
    [run],
  );
  return rows.map((row) => fromRow<DecisionRow>(row));
}

/** Flagged twice by the same attempt: the first reason stays. */
export async function addFlag(
  db: Db,
  key: AttemptKey,
  flag: { readonly path: string; readonly why: string },
): Promise<void> {
  await db.query(
    `insert into flags (run, path, task, attempt, why) values ($1, $2, $3, $4, $5) on conflict do nothing`,
    [key.run, clean(flag.path), key.task, key.attempt, message(flag.why)],
  );
}

export interface FlagRow {
  readonly path: string;
  /** Attempts that flagged it. */
  readonly count: number;
  /** The newest one's. */
  readonly why: string;
}
/** Most flagged first. */
export async function listFlags(db: Db, run: string): Promise<FlagRow[]> {
  const { rows } = await db.query(
    `select path, count(*)::int as count, (array_agg(why order by at desc))[1] as why
     from flags where run = $1 group by path order by count(*) desc, path`,
    [run],
  );
  return rows.map((row) => fromRow<FlagRow>(row));
}

export interface ScopeRequestRow extends AttemptKey {
  readonly key: string;
  readonly paths: readonly string[];
  readonly note: string;
  readonly state: 'open' | 'granted' | 'refused' | 'task';
  readonly answer: string | null;
  readonly atMs: number;
}

export async function addScopeRequest(
  db: Db,
  attempt: AttemptKey,
  request: { readonly key: string; readonly paths: readonly string[]; readonly note: string },
): Promise<void> {
  await db.query(
    `insert into scope_requests (run, key, task, attempt, paths, note) values ($1, $2, $3, $4, $5, $6) on conflict do nothing`,
    [attempt.run, request.key, attempt.task, attempt.attempt, request.paths.map(clean), message(request.note)],
  );
}

/** null: there is none of that key. */
export async function loadScopeRequest(db: Db, run: string, key: string): Promise<ScopeRequestRow | null> {
  const { rows } = await db.query(
    'select run, key, task, attempt, paths, note, state, answer, at from scope_requests where run = $1 and key = $2',
    [run, key],
  );
  return rows[0] === undefined ? null : fromRow<ScopeRequestRow>(rows[0]);
}

/** What is open is answered once; `open` with an answer says who is being asked. */
export async function answerScopeRequest(
  db: Db,
  run: string,
  key: string,
  answer: { readonly state: ScopeRequestRow['state']; readonly text: string },
): Promise<void> {
  await db.query(`update scope_requests set state = $3, answer = $4 where run = $1 and key = $2 and state = 'open'`, [
    run,
    key,
    answer.state,
    message(answer.text),
  ]);
}

export async function listScopeRequests(db: Db, run: string): Promise<ScopeRequestRow[]> {
  const { rows } = await db.query(
    'select run, key, task, attempt, paths, note, state, answer, at from scope_requests where run = $1 order by at, key',
    [run],
  );
  return rows.map((row) => fromRow<ScopeRequestRow>(row));
}

export interface NoticeRow {
  readonly commit: string;
  readonly byTask: string;
  readonly files: readonly string[];
  readonly atMs: number;
}

/** Told twice of the same commit, a task hears of it once. */
export async function addNotice(
  db: Db,
  run: string,
  task: string,
  notice: Pick<NoticeRow, 'commit' | 'byTask' | 'files'>,
): Promise<void> {
  await db.query(
    `insert into notices (run, task, commit, by_task, files) values ($1, $2, $3, $4, $5) on conflict do nothing`,
    [run, task, notice.commit, notice.byTask, notice.files.map(clean)],
  );
}

/** Unread ones, oldest first; they count as delivered then. */
export async function takeNotices(db: Db, run: string, task: string): Promise<NoticeRow[]> {
  const { rows } = await db.query(
    `with taken as (
       update notices set delivered_at = now() where run = $1 and task = $2 and delivered_at is null
       returning commit, by_task, files, at)
     select * from taken order by at, commit`,
    [run, task],
  );
  return rows.map((row) => fromRow<NoticeRow>(row));
}

/** Of a run, oldest first; `deliveredAtMs` null: not read yet. */
export async function listNotices(
  db: Db,
  run: string,
): Promise<(NoticeRow & { readonly task: string; readonly deliveredAtMs: number | null })[]> {
  const { rows } = await db.query(
    'select task, commit, by_task, files, at, delivered_at from notices where run = $1 order by at, task, commit',
    [run],
  );
  return rows.map((row) => fromRow(row));
}
