/** Table `merger_attempts`: which attempts were a merger's, and which conflict each was about. */
import type { MergerAttempt } from '../spec/merging.ts';
import type { AttemptKey } from '../spec/model.ts';
import { fromRow } from './db.ts';
import type { Db } from './db.ts';

export async function saveMergerAttempt(
  db: Db,
  key: AttemptKey,
  { ofAttempt, paths, merges }: Pick<MergerAttempt, 'ofAttempt' | 'paths' | 'merges'>,
): Promise<void> {
  await db.query(
    `insert into merger_attempts (run, task, attempt, of_attempt, paths, merges) values ($1, $2, $3, $4, $5, $6)
     on conflict (run, task, attempt) do update set paths = excluded.paths, merges = excluded.merges`,
    [key.run, key.task, key.attempt, ofAttempt, paths, merges],
  );
}

/** With what came of each and what it cost, in the order of their attempts. */
export async function listMergerAttempts(db: Db, run: string): Promise<MergerAttempt[]> {
  const { rows } = await db.query(
    `select m.task, m.attempt, m.of_attempt, m.paths, m.merges, a.outcome, coalesce(a.started_at, m.at) as started_at, a.ended_at,
       coalesce(a.agent_ms, 0) + coalesce(a.gate_ms, 0) as work_ms,
       coalesce(sum(c.microusd), 0)::bigint as microusd,
       coalesce(sum(c.input_tokens + c.cached_tokens + c.cache_write_tokens + c.output_tokens), 0)::bigint as tokens
     from merger_attempts m
       left join attempts a on a.run = m.run and a.task = m.task and a.attempt = m.attempt
       left join model_calls c on c.run = m.run and c.task = m.task and c.attempt = m.attempt and c.state <> 'open'
     where m.run = $1
     group by m.task, m.attempt, m.of_attempt, m.paths, m.merges, m.at, a.outcome, a.started_at, a.ended_at, a.agent_ms, a.gate_ms
     order by m.at, m.task, m.attempt`,
    [run],
  );
  return rows.map((row) => fromRow<MergerAttempt>(row));
}
