/** What attempts of earlier runs took: `model_calls` and the times of their attempts, over all runs that are still in the store. */
import type { Measured, MeasuredAttempt, MeasuredRetries } from '../spec/estimate-figures.ts';
import { fromRow } from './db.ts';
import type { Db } from './db.ts';

/** @param url of the repository whose gates are meant; null: none, so that their times are not known */
export async function measured(db: Db, url: string | null): Promise<Measured> {
  return {
    attempts: await attempts(db),
    retries: await retries(db),
    conflicts: await conflicts(db),
    land: await landing(db, url),
    wave: await waveGates(db, url),
  };
}

/** Agent and gate of an attempt; of a reviewer its own time. Attempts that were stopped say nothing. */
async function attempts(db: Db): Promise<MeasuredAttempt[]> {
  const { rows } = await db.query(
    `with sums as (
       select run, task, attempt, role, seat, model, sum(input_tokens) as input, sum(cached_tokens) as cached,
         sum(cache_write_tokens) as cache_write, sum(output_tokens) as output
       from model_calls where state <> 'open' group by run, task, attempt, role, seat, model)
     select s.role, s.model, count(*)::int as attempts, round(avg(s.input))::bigint as input_tokens,
       round(avg(s.cached))::bigint as cached_tokens, round(avg(s.cache_write))::bigint as cache_write_tokens,
       round(avg(s.output))::bigint as output_tokens,
       round(avg(case when s.role = 'reviewer' then r.ms else coalesce(a.agent_ms, 0) + coalesce(a.gate_ms, 0) end))::bigint as ms
     from sums s join attempts a on a.run = s.run and a.task = s.task and a.attempt = s.attempt
       left join reviews r on r.run = s.run and r.task = s.task and r.attempt = s.attempt and s.seat = 'review-' || (r.reviewer + 1)
     where a.ended_at is not null and a.outcome <> 'cancelled' and (s.role <> 'reviewer' or r.ms is not null)
     group by s.role, s.model order by s.role, s.model`,
  );
  return rows.map((row) => fromRow<MeasuredAttempt>(row));
}

/** Attempts of tasks that landed in the end. */
async function retries(db: Db): Promise<MeasuredRetries[]> {
  const { rows } = await db.query(
    `select c.role, c.model, count(distinct (c.run, c.task))::int as tasks, count(*)::int as attempts
     from (select distinct run, task, attempt, role, model from model_calls where role not in ('planner', 'reviewer', 'merger')) c
       join tasks t on t.run = c.run and t.id = c.task and t.state = 'passed'
     group by c.role, c.model order by c.role, c.model`,
  );
  return rows.map((row) => fromRow<MeasuredRetries>(row));
}

async function conflicts(db: Db): Promise<Measured['conflicts']> {
  const { rows } = await db.query<Measured['conflicts']>(
    `with runs_with_models as (select distinct run from model_calls)
     select (select count(*)::int from tasks t join runs_with_models m on m.run = t.run where t.state = 'passed') as tasks,
       (select count(*)::int from attempts a join runs_with_models m on m.run = a.run where a.outcome = 'conflict') as conflicts`,
  );
  return rows[0]!;
}

/** From the end of a task's gate until it was verified. */
async function landing(db: Db, url: string | null): Promise<Measured['land']> {
  const { rows } = await db.query<{ ms: number | null; of: number }>(
    `select round(avg(extract(epoch from a.landed_at - a.requested_at) * 1000))::bigint as ms, count(*)::int as of
     from attempts a join runs r on r.id = a.run
     where r.spec -> 'repository' ->> 'url' = $1 and a.outcome = 'passed' and a.landed_at > a.requested_at`,
    [url],
  );
  const { ms = null, of = 0 } = rows[0] ?? {};
  return ms === null ? null : { ms, of };
}

/** Steps of the gates of integration points. */
async function waveGates(db: Db, url: string | null): Promise<Measured['wave']> {
  const { rows } = await db.query<{ ms: number | null; of: number }>(
    `select round(avg(ms))::bigint as ms, count(*)::int as of from (
       select sum(g.ms) as ms from gate_results g join runs r on r.id = g.run
       where r.spec -> 'repository' ->> 'url' = $1 and g.level = 'wave' and g.key like 'wave-%'
       group by g.run, g.key, g.commit) gates`,
    [url],
  );
  const { ms = null, of = 0 } = rows[0] ?? {};
  return ms === null ? null : { ms, of };
}
