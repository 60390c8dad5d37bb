/** What model calls cost, from `model_calls`, and how their attempts ended. */
import type { CostEntry } from '../spec/costs.ts';
import type { CostFacts } from '../spec/cost-report.ts';
import { reviewerRecords } from '../spec/finding-proof.ts';
import { conflictRecords } from '../spec/merging.ts';
import { listWaiting } from './calls-waiting.ts';
import { fromRow } from './db.ts';
import type { Db } from './db.ts';
import { listMergerAttempts } from './merger-attempts.ts';
import { reviewFacts } from './reviews.ts';

export interface CostRow extends CostEntry {
  /** Calls that did not come to their end. */
  readonly failed: number;
}

/**
 * By attempt, role, seat and model, oldest first. Calls under way are not in it. A merger's result that conflicts again is merged in its
 * turn: what landed in the end is the work of all of them.
 */
export async function costs(db: Db, run: string): Promise<CostRow[]> {
  const { rows } = await db.query(
    `with recursive merged (task, attempt) as (
       select m.task, m.of_attempt from merger_attempts m
         join attempts made on made.run = m.run and made.task = m.task and made.attempt = m.attempt
         where m.run = $1 and made.outcome = 'passed'
       union
       select m.task, m.of_attempt from merger_attempts m join merged on merged.task = m.task and merged.attempt = m.attempt
         where m.run = $1),
     sums as (
       select task, attempt, role, seat, model, min(started_at) as first,
         count(*)::int as calls, (count(*) filter (where state <> 'done'))::int as failed,
         sum(input_tokens)::bigint as input_tokens, sum(cached_tokens)::bigint as cached_tokens,
         sum(cache_write_tokens)::bigint as cache_write_tokens, sum(output_tokens)::bigint as output_tokens,
         sum(microusd)::bigint as microusd, coalesce(sum(microusd) filter (where estimated), 0)::bigint as estimated_microusd,
         sum(waited_ms)::bigint as waited_ms
       from model_calls where run = $1 and state <> 'open'
       group by task, attempt, role, seat, model)
     select s.task, s.attempt, s.role, s.seat, s.model, s.calls, s.failed, s.input_tokens, s.cached_tokens,
       s.cache_write_tokens, s.output_tokens, s.microusd, s.estimated_microusd, s.waited_ms,
       a.outcome, t.state as task_state, r.ended_at is not null as run_ended,
       not exists (select from attempts later where later.run = $1 and later.task = s.task and later.attempt > s.attempt) as is_last,
       exists (select from merged m where m.task = s.task and m.attempt = s.attempt) as is_merged
     from sums s join runs r on r.id = $1
       left join attempts a on a.run = $1 and a.task = s.task and a.attempt = s.attempt
       left join tasks t on t.run = $1 and t.id = s.task
     order by s.first, s.task, s.attempt, s.role, s.seat, s.model`,
    [run],
  );
  return rows.map((row) => fromRow<CostRow>(row));
}

/** What the calls alone do not tell. */
export async function costFacts(db: Db, run: string): Promise<CostFacts> {
  const { rows } = await db.query<Pick<CostFacts, 'landedTasks' | 'conflicts' | 'planners' | 'underWay'>>(
    `select
       (select count(*)::int from tasks where run = $1 and state = 'passed') as "landedTasks",
       (select count(*)::int from attempts where run = $1 and outcome = 'conflict') as conflicts,
       (select jsonb_build_object('taken', count(*) filter (where outcome = 'passed'),
           'sentBack', count(*) filter (where outcome not in ('passed', 'cancelled')))
         from attempts where run = $1 and task like 'plan:%') as planners,
       (select jsonb_build_object('calls', count(*), 'reservedMicrousd', coalesce(sum(reserved_microusd), 0))
         from model_calls where run = $1 and state = 'open') as "underWay"`,
    [run],
  );
  return {
    ...rows[0]!,
    mergers: conflictRecords(await listMergerAttempts(db, run)),
    reviewers: reviewerRecords(await reviewFacts(db, run)),
    waiting: await listWaiting(db, run),
  };
}
