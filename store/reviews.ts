/**
 * Tables `reviews` and `findings`.
 *
 * 1. A verdict that was given stays; one that is missing may be given later.
 * 2. A review stands with its findings or not at all.
 */
import type { FindingFacts, ReviewFacts } from '../spec/finding-proof.ts';
import type { AttemptKey } from '../spec/model.ts';
import type { Finding, Review, ReviewView } from '../spec/review.ts';
import { fromRow } from './db.ts';
import type { Db } from './db.ts';
import { json, message } from './text.ts';

export interface NewReview extends Review {
  readonly engine: string;
  readonly model: string | null;
  readonly calls: number;
  readonly why: string;
  readonly ms: number;
}

export interface ReviewRow extends NewReview {
  readonly atMs: number;
}

/** Repeated it writes the same rows; a verdict that stands is not changed. */
export async function saveReview(db: Db, key: AttemptKey, review: NewReview): Promise<void> {
  const { reviewer, view, engine, model, calls, verdict, why, ms } = review;
  const findings = (verdict?.findings ?? []).map((one, n) => ({ ...one, n, text: message(one.text) }));
  await db.query(
    `with kept as (
       insert into reviews as r (run, task, attempt, reviewer, view, engine, model, calls, verdict, why, ms)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
       on conflict (run, task, attempt, reviewer) do update set
         calls = excluded.calls, verdict = excluded.verdict, why = excluded.why, ms = r.ms + excluded.ms, at = now()
       where r.verdict is null and r.calls < excluded.calls
       returning 1)
     insert into findings (run, task, attempt, reviewer, n, severity, file, line, text)
     select $1, $2, $3, $4, f.n, f.severity, f.file, f.line, f.text
     from jsonb_to_recordset($12) as f (n int, severity text, file text, line int, text text)
     where exists (select from kept)`,
    [
      key.run,
      key.task,
      key.attempt,
      reviewer,
      view,
      engine,
      model,
      calls,
      verdict?.verdict ?? null,
      message(verdict?.summary ?? why),
      Math.round(ms),
      json(findings),
    ],
  );
}

interface Raw {
  readonly reviewer: number;
  readonly view: ReviewView;
  readonly engine: string;
  readonly model: string | null;
  readonly calls: number;
  readonly verdict: 'approve' | 'reject' | null;
  readonly why: string;
  readonly ms: number;
  readonly atMs: number;
  readonly findings: readonly Finding[];
}

/** Of one attempt, in the order of the spec. */
export async function listReviews(db: Db, key: AttemptKey): Promise<ReviewRow[]> {
  const { rows } = await db.query(
    `select reviewer, view, engine, model, calls, verdict, why, ms, at, coalesce(
       (select jsonb_agg(jsonb_build_object('severity', f.severity, 'file', f.file, 'line', f.line, 'text', f.text) order by f.n)
        from findings f where f.run = r.run and f.task = r.task and f.attempt = r.attempt and f.reviewer = r.reviewer), '[]') as findings
     from reviews r where run = $1 and task = $2 and attempt = $3 order by reviewer`,
    [key.run, key.task, key.attempt],
  );
  return rows.map((row) => {
    const { verdict, findings, ...rest } = fromRow<Raw>(row);
    const given = verdict === null ? null : { verdict, findings: [...findings], summary: rest.why };
    return { ...rest, verdict: given };
  });
}

export interface OpenFinding {
  readonly attempt: number;
  readonly reviewer: number;
  readonly n: number;
  readonly file: string;
  readonly line: number | null;
  /** Of the attempt that it is about. */
  readonly commit: string;
}

/** Findings about earlier attempts of a task that name a file and that nothing has followed yet. */
export async function openFindings(db: Db, { run, task, attempt }: AttemptKey): Promise<OpenFinding[]> {
  const { rows } = await db.query(
    `select f.attempt, f.reviewer, f.n, f.file, f.line, a.commit
     from findings f join attempts a on a.run = f.run and a.task = f.task and a.attempt = f.attempt
     where f.run = $1 and f.task = $2 and f.attempt < $3 and f.file is not null and not f.followed and a.commit is not null
     order by f.attempt, f.reviewer, f.n limit 1000`,
    [run, task, attempt],
  );
  return rows.map((row) => fromRow<OpenFinding>(row));
}

type FindingKey = Pick<OpenFinding, 'attempt' | 'reviewer' | 'n'>;

export async function markFollowed(db: Db, run: string, task: string, followed: readonly FindingKey[]): Promise<void> {
  if (followed.length === 0) return;
  await db.query(
    `update findings set followed = true where run = $1 and task = $2
       and (attempt, reviewer, n) in (select * from unnest($3::int[], $4::int[], $5::int[]))`,
    [run, task, followed.map(({ attempt }) => attempt), followed.map(({ reviewer }) => reviewer), followed.map(({ n }) => n)],
  ); // prettier-ignore
}

/** A person's word about a finding. false: there is none of that name. */
export async function sayOfFinding(
  db: Db,
  key: AttemptKey & Pick<FindingKey, 'reviewer' | 'n'>,
  said: 'right' | 'wrong',
): Promise<boolean> {
  const { rowCount } = await db.query(
    'update findings set said = $6 where run = $1 and task = $2 and attempt = $3 and reviewer = $4 and n = $5',
    [key.run, key.task, key.attempt, key.reviewer, key.n, said],
  );
  return rowCount === 1;
}

export interface ReviewedAttempt {
  readonly task: string;
  readonly attempt: number;
  readonly outcome: string | null;
  readonly reviews: readonly (Omit<ReviewFacts, 'findings'> & {
    readonly why: string;
    readonly calls: number;
    readonly ms: number;
    readonly findings: readonly (FindingFacts & Pick<Finding, 'line' | 'text'>)[];
  })[];
}

/** Findings of a review `r` of an attempt `a`, in their order, each with what is known of it. */
const FINDINGS = `coalesce(
  (select jsonb_agg(jsonb_build_object('severity', f.severity, 'file', f.file, 'line', f.line, 'text', f.text, 'said', f.said,
     'followed', f.followed, 'outcome', a.outcome, 'landedLater', exists (
       select from attempts l where l.run = r.run and l.task = r.task and l.attempt > r.attempt and l.outcome = 'passed')) order by f.n)
   from findings f where f.run = r.run and f.task = r.task and f.attempt = r.attempt and f.reviewer = r.reviewer), '[]')`;
const REVIEWED = 'reviews r left join attempts a on a.run = r.run and a.task = r.task and a.attempt = r.attempt';

/** Attempts that were reviewed, in the order of their tasks and numbers, with everything that was said. */
export async function listReviewed(db: Db, run: string, task: string | null): Promise<ReviewedAttempt[]> {
  const { rows } = await db.query<Record<string, unknown>>(
    `select r.task, r.attempt, a.outcome, jsonb_agg(jsonb_build_object('reviewer', r.reviewer, 'view', r.view, 'engine', r.engine,
       'model', r.model, 'verdict', r.verdict, 'why', r.why, 'calls', r.calls, 'ms', r.ms, 'findings', ${FINDINGS}) order by r.reviewer) as reviews
     from ${REVIEWED} where r.run = $1 and ($2::text is null or r.task = $2)
     group by r.task, r.attempt, a.outcome order by r.task, r.attempt`,
    [run, task],
  );
  return rows.map((row) => fromRow<ReviewedAttempt>(row));
}

/** Every review of a run with what is known of its findings. */
export async function reviewFacts(db: Db, run: string): Promise<ReviewFacts[]> {
  const { rows } = await db.query(
    `select r.reviewer, r.view, r.engine, r.model, r.verdict, ${FINDINGS} as findings
     from ${REVIEWED} where r.run = $1 order by r.at, r.task, r.attempt, r.reviewer`,
    [run],
  );
  return rows.map((row) => fromRow<ReviewFacts>(row));
}
