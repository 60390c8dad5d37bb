/** Everything that `status` and `watch` show of a run, as of one moment. */
import type { Evaluation } from '../spec/evaluation.ts';
import type { AttemptRow } from './attempts.ts';
import { runningAttempts } from './attempts.ts';
import type { Db, Pool } from './db.ts';
import { listEvaluations } from './evaluations.ts';
import { listGreenPoints } from './green-points.ts';
import type { GreenPoint } from './green-points.ts';
import { loadRun } from './runs.ts';
import type { RunRow } from './runs.ts';
import { listTasks } from './tasks.ts';
import type { TaskRow } from './tasks.ts';

export interface MergeFigures {
  /** State → requests that the mainline has answered. */
  readonly byState: Readonly<Record<string, number>>;
  /** When the oldest request that waits was made. */
  readonly oldestQueuedAtMs: number | null;
  /** When the oldest merge that is not verified was made. */
  readonly oldestUnverifiedAtMs: number | null;
  /** When tasks landed, newest first, at most 200. */
  readonly landedAtMs: readonly number[];
}
/** Of tasks; planners' answers are no attempts at one. */
export interface AttemptFigures {
  /** Outcome → ended attempts. */
  readonly byOutcome: Readonly<Record<string, number>>;
  readonly total: number;
  /** Sums over all attempts, ms. */
  readonly agentMs: number;
  readonly gateMs: number;
  readonly queuedMs: number;
}
export interface RunOverview {
  /** The database's clock when this was read. */
  readonly atMs: number;
  readonly run: RunRow;
  readonly tasks: readonly TaskRow[];
  readonly running: readonly AttemptRow[];
  readonly attempts: AttemptFigures;
  readonly merges: MergeFigures;
  readonly greenPoints: readonly GreenPoint[];
  /** Of green points, 0 included, by the suite that no agent sees. */
  readonly evaluations: readonly Evaluation[];
}

/** null: no such run. One snapshot: its parts fit each other. */
export async function runOverview(pool: Pool, run: string): Promise<RunOverview | null> {
  const client = await pool.connect();
  try {
    await client.query('begin isolation level repeatable read read only');
    const row = await loadRun(client, run);
    const overview =
      row === null
        ? null
        : {
            atMs: await clock(client),
            run: row,
            tasks: await listTasks(client, run),
            running: await runningAttempts(client, run),
            attempts: await attemptFigures(client, run),
            merges: await mergeFigures(client, run),
            greenPoints: (await listGreenPoints(client, run)).filter(({ n }) => n > 0), // 0 is the base commit: nobody's work
            evaluations: await listEvaluations(client, run),
          };
    await client.query('commit');
    client.release();
    return overview;
  } catch (error) {
    client.release(true); // in the middle of a transaction: not for reuse
    throw error;
  }
}

async function clock(db: Db): Promise<number> {
  const { rows } = await db.query<{ now: Date }>('select now()');
  return rows[0]?.now.getTime() ?? 0;
}

async function attemptFigures(db: Db, run: string): Promise<AttemptFigures> {
  const { rows } = await db.query<AttemptFigures>(
    `select count(*) as total, coalesce(sum(agent_ms), 0)::bigint as "agentMs", coalesce(sum(gate_ms), 0)::bigint as "gateMs",
       coalesce(sum(queued_ms), 0)::bigint as "queuedMs",
       (select coalesce(jsonb_object_agg(outcome, n), '{}') from
         (select outcome, count(*) as n from attempts
          where run = $1 and outcome is not null and task not like 'plan:%' group by outcome) o) as "byOutcome"
     from attempts where run = $1 and task not like 'plan:%'`,
    [run],
  );
  return rows[0] ?? { total: 0, agentMs: 0, gateMs: 0, queuedMs: 0, byOutcome: {} };
}

async function mergeFigures(db: Db, run: string): Promise<MergeFigures> {
  const { rows } = await db.query<{
    byState: Record<string, number>;
    queued: Date | null;
    unverified: Date | null;
    landed: number[];
  }>(
    `select
       (select coalesce(jsonb_object_agg(state, n), '{}') from
         (select state, count(*) as n from merges where run = $1 group by state) s) as "byState",
       (select min(requested_at) from attempts where run = $1 and phase = 'merge' and merged_at is null) as queued,
       (select min(merged_at) from merges where run = $1 and state = 'merged') as unverified,
       array(select round(extract(epoch from verified_at) * 1000)::float8 from merges
         where run = $1 and state in ('verified', 'green') and verified_at is not null
         order by verified_at desc limit 200) as landed`,
    [run],
  );
  const row = rows[0];
  return {
    byState: row?.byState ?? {},
    oldestQueuedAtMs: row?.queued?.getTime() ?? null,
    oldestUnverifiedAtMs: row?.unverified?.getTime() ?? null,
    landedAtMs: row?.landed ?? [],
  };
}
