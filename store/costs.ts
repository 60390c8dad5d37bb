/** What model calls cost, from `model_calls` and how their attempts ended. */
import type { CostEntry } from '../spec/costs.ts';
import { fromRow } from './db.ts';
import type { Db } from './db.ts';

export interface CostRow extends CostEntry {
  /** Calls that did not come to their end. */
  readonly failed: number;
}

/** By attempt, role and model, oldest first. Calls under way are not in it. */
export async function costs(db: Db, run: string): Promise<CostRow[]> {
  const { rows } = await db.query(
    `select c.task, c.attempt, c.role, c.model, a.outcome,
       count(*)::int as calls, (count(*) filter (where c.state <> 'done'))::int as failed,
       sum(c.input_tokens)::bigint as input_tokens, sum(c.cached_tokens)::bigint as cached_tokens,
       sum(c.cache_write_tokens)::bigint as cache_write_tokens, sum(c.output_tokens)::bigint as output_tokens,
       sum(c.microusd)::bigint as microusd,
       coalesce(sum(c.microusd) filter (where c.estimated), 0)::bigint as estimated_microusd,
       sum(c.waited_ms)::bigint as waited_ms
     from model_calls c left join attempts a on a.run = c.run and a.task = c.task and a.attempt = c.attempt
     where c.run = $1 and c.state <> 'open'
     group by c.task, c.attempt, c.role, c.model, a.outcome order by min(c.started_at)`,
    [run],
  );
  return rows.map((row) => fromRow<CostRow>(row));
}
