/** Tables `plan_nodes` and `plan_answers`: the tree of planners, what they said, and what came of it. */
import type { Problem } from '../spec/model.ts';
import type { PlanState, PlanTaskState } from '../spec/plan/index.ts';
import { listDecisions } from './agents-words.ts';
import { fromRow } from './db.ts';
import type { Db } from './db.ts';
import { loadSpec } from './runs.ts';
import { clean, json } from './text.ts';

export interface PlanNodeRow {
  /** Of its scope; '' is the first planner. */
  readonly id: string;
  /** null: it is the first. */
  readonly parent: string | null;
  readonly depth: number;
  readonly goal: string;
  readonly interface: string;
  readonly files: readonly string[];
  readonly dependsOn: readonly string[];
  readonly done: boolean;
  readonly integrated: readonly string[];
}

/** Told twice, the first stays. */
export async function addPlanNode(db: Db, run: string, node: Omit<PlanNodeRow, 'done' | 'integrated'>): Promise<void> {
  await db.query(
    `insert into plan_nodes (run, id, parent, depth, goal, interface, files, depends_on)
     values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing`,
    [run, node.id, node.parent, node.depth, clean(node.goal), clean(node.interface), node.files, node.dependsOn],
  );
}

/** Parents before their children. */
export async function listPlanNodes(db: Db, run: string): Promise<PlanNodeRow[]> {
  const { rows } = await db.query(
    `select id, parent, depth, goal, interface, files, depends_on, done, integrated from plan_nodes
     where run = $1 order by depth, at, id`,
    [run],
  );
  return rows.map((row) => fromRow<PlanNodeRow>(row));
}

/** Adds to the tasks that are run for real; `done` is what the planner said last. */
export async function markPlanNode(
  db: Db,
  run: string,
  id: string,
  change: { readonly done: boolean; readonly integrated: readonly string[] },
): Promise<void> {
  await db.query(
    `update plan_nodes set done = $3, integrated = array(select distinct unnest(integrated || $4::text[])) where run = $1 and id = $2`,
    [run, id, change.done, change.integrated],
  );
}

export interface PlanAnswerRow {
  readonly node: string;
  readonly attempt: number;
  readonly occasion: string;
  readonly answer: string | null;
  readonly problems: readonly Problem[] | null;
  readonly result: unknown;
  readonly atMs: number;
}

/** The first answer told under its number stays. */
export async function savePlanAnswer(
  db: Db,
  run: string,
  said: Pick<PlanAnswerRow, 'node' | 'attempt' | 'occasion' | 'answer'>,
): Promise<void> {
  await db.query(
    `insert into plan_answers (run, node, attempt, occasion, answer) values ($1, $2, $3, $4, $5) on conflict do nothing`,
    [run, said.node, said.attempt, clean(said.occasion), said.answer === null ? null : clean(said.answer)],
  );
}

/** What it was judged to be: its problems, or what it came to. */
export async function judgePlanAnswer(
  db: Db,
  run: string,
  node: string,
  attempt: number,
  judged: { readonly problems: readonly Problem[]; readonly result: unknown },
): Promise<void> {
  await db.query('update plan_answers set problems = $4, result = $5 where run = $1 and node = $2 and attempt = $3', [
    run,
    node,
    attempt,
    json(judged.problems),
    json(judged.result),
  ]);
}

/** null: that planner gave no answer under that number. */
export async function loadPlanAnswer(
  db: Db,
  run: string,
  node: string,
  attempt: number,
): Promise<PlanAnswerRow | null> {
  const { rows } = await db.query(
    'select node, attempt, occasion, answer, problems, result, at from plan_answers where run = $1 and node = $2 and attempt = $3',
    [run, node, attempt],
  );
  return rows[0] === undefined ? null : fromRow<PlanAnswerRow>(rows[0]);
}

/** Of all planners, oldest first, without what they said. */
export async function listPlanAnswers(db: Db, run: string): Promise<PlanAnswerRow[]> {
  const { rows } = await db.query(
    `select node, attempt, occasion, null as answer, problems, result, at from plan_answers where run = $1 order by at, node, attempt`,
    [run],
  );
  return rows.map((row) => fromRow<PlanAnswerRow>(row));
}

/** Who planned them, and which of them are scaffold. */
export async function markPlanned(
  db: Db,
  run: string,
  tasks: readonly { readonly id: string; readonly node: string; readonly scaffold: boolean }[],
): Promise<void> {
  await db.query(
    `update tasks t set node = x ->> 'node', scaffold = (x ->> 'scaffold')::boolean
     from jsonb_array_elements($2::jsonb) as x where t.run = $1 and t.id = x ->> 'id'`,
    [run, json(tasks)],
  );
}

/** The plan as it stands: tasks in the order of the run. */
export async function loadPlan(db: Db, run: string): Promise<PlanState> {
  const { rows } = await db.query<Record<string, unknown>>(
    'select spec, state, why, node, scaffold from tasks where run = $1 order by index, id',
    [run],
  );
  return {
    spec: await loadSpec(db, run),
    nodes: await listPlanNodes(db, run),
    tasks: rows.map((row) => fromRow<PlanTaskState>(row)),
    decisions: await listDecisions(db, run),
  };
}

export async function savePlanScore(db: Db, run: string, score: unknown): Promise<void> {
  await db.query('update runs set plan_score = $2, updated_at = now() where id = $1', [run, json(score)]);
}

/** null: nothing was planned. */
export async function loadPlanScore(db: Db, run: string): Promise<unknown> {
  const { rows } = await db.query<{ plan_score: unknown }>('select plan_score from runs where id = $1', [run]);
  return rows[0]?.plan_score ?? null;
}

/** Who changes a run's plan does it alone, until the transaction ends. */
export async function lockPlan(db: Db, run: string): Promise<void> {
  await db.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`swarmline plan ${run}`]);
}
