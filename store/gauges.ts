/** Figures of the open runs for /metrics. */
import type { Db } from './db.ts';

export interface RunGauges {
  readonly run: string;
  /** State → tasks. */
  readonly tasks: Readonly<Record<string, number>>;
  /** Outcome (`passed`, a failure cause, `cancelled`) → ended attempts. */
  readonly attempts: Readonly<Record<string, number>>;
  /** In their agent or gate; those that wait for the mainline are in the queue. */
  readonly runningAttempts: number;
  /** Merge requests that wait. */
  readonly queueLength: number;
  /** Age of the oldest of them, ms; 0 when none waits. */
  readonly queueOldestMs: number;
  /** Merged, not yet verified. */
  readonly unverified: number;
  /** How long the oldest of them has been merged, ms: the verification lag. */
  readonly verificationLagMs: number;
  readonly greenPoints: number;
}

/** Of every run that has not ended, in one statement. */
export async function runGauges(db: Db): Promise<RunGauges[]> {
  const { rows } = await db.query<{ gauges: RunGauges }>(
    `select jsonb_build_object(
       'run', r.id,
       'tasks', (select coalesce(jsonb_object_agg(state, n), '{}') from
         (select state, count(*) n from tasks where run = r.id group by state) s),
       'attempts', (select coalesce(jsonb_object_agg(outcome, n), '{}') from
         (select outcome, count(*) n from attempts where run = r.id and outcome is not null group by outcome) s),
       'runningAttempts', (select count(*) from attempts where run = r.id and ended_at is null and phase in ('agent', 'gate')),
       'queueLength', q.length, 'queueOldestMs', coalesce(q.age, 0),
       'unverified', v.length, 'verificationLagMs', coalesce(v.age, 0),
       'greenPoints', (select count(*) from green_points where run = r.id and n > 0)
     ) as gauges
     from runs r
     cross join lateral (select count(*) as length, greatest(0, round(extract(epoch from now() - min(requested_at)) * 1000)) as age
       from attempts where run = r.id and phase = 'merge' and merged_at is null) q
     cross join lateral (select count(*) as length, greatest(0, round(extract(epoch from now() - min(merged_at)) * 1000)) as age
       from merges where run = r.id and state = 'merged') v
     where r.ended_at is null
     order by r.started_at, r.id`,
  );
  return rows.map((row) => row.gauges);
}
