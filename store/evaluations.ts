/** Table `evaluations`: what a suite that no agent sees says of green points. */
import type { Evaluation } from '../spec/evaluation.ts';
import { fromRow } from './db.ts';
import type { Db } from './db.ts';
import { message } from './text.ts';

/** Told twice, the first stays. */
export async function saveEvaluation(db: Db, run: string, evaluation: Evaluation): Promise<void> {
  const { n, commit, ok, score, ms, tail } = evaluation;
  await db.query(
    `insert into evaluations (run, n, commit, ok, score, ms, tail) values ($1, $2, $3, $4, $5, round($6::numeric)::bigint, $7)
     on conflict (run, n) do nothing`,
    [run, n, commit, ok, score, ms, message(tail) ?? ''],
  );
}

/** By green point. */
export async function listEvaluations(db: Db, run: string): Promise<Evaluation[]> {
  const { rows } = await db.query('select n, commit, ok, score, ms, tail from evaluations where run = $1 order by n', [
    run,
  ]);
  return rows.map((row) => fromRow<Evaluation>(row));
}
