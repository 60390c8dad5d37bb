/**
 * Tables `model_calls` and `spend`: what agents asked models, and what it cost.
 *
 * 1. A call is reserved in one transaction that holds the run's row of `spend`: two hosts cannot both take the last place or the last dollar.
 * 2. A call is settled once; the sums change with it, in the same transaction.
 * 3. A call whose host died is counted as reserved, never as nothing.
 */
import { mayCall, scopesOf } from '../spec/budget.ts';
import type { CallCost, Spend } from '../spec/budget.ts';
import type { Budget } from '../spec/model.ts';
import { fromRow, inTransaction } from './db.ts';
import type { Db, Pool } from './db.ts';

export interface NewCall extends CallCost {
  readonly id: string;
  readonly run: string;
  readonly task: string;
  readonly attempt: number;
  readonly role: string;
  /** Tells several of one role and attempt apart; absent: there is one. */
  readonly seat?: string;
  readonly upstream: string;
  readonly host: string;
  /** Of the upstream's key, over all hosts. */
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
}

export type Reservation =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly refusal: 'places' | 'rate' | 'budget' | 'denied';
      readonly why: string;
      readonly retryMs: number;
    };

/** How soon it is worth asking again: places elsewhere free at any moment, a budget when a person has raised it. */
const PLACES_MS = 500;
const BUDGET_MS = 2_000;
const WINDOW_MS = 60_000;

/** Reserves the call, or says why not. Reserved already: the same answer. */
export async function reserveCall(pool: Pool, call: NewCall): Promise<Reservation> {
  return inTransaction(pool, async (db) => {
    const rate = await rateRefusal(db, call);
    if (rate !== null) return rate;
    const budget = await budgetOf(db, call.run);
    const scopes = scopesOf(budget, call).map(({ scope }) => scope);
    await db.query('insert into spend (run, scope) select $1, unnest($2::text[]) on conflict do nothing', [call.run, scopes]);
    const { rows } = await db.query<Record<string, unknown>>(
      `select scope, microusd, tokens, open, reserved_microusd, reserved_tokens from spend
       where run = $1 and scope = any ($2) order by scope = 'run' desc, scope for update`,
      [call.run, scopes],
    );
    const sums = new Map(rows.map((row) => [String(row['scope']), fromRow<Spend>(row)]));
    const verdict = mayCall(budget, call, sums, call);
    if (!verdict.ok) {
      return verdict.refusal === 'places'
        ? { ok: false, refusal: 'places', why: `${budget.modelCalls} model calls at once (budget.modelCalls)`, retryMs: PLACES_MS }
        : { ok: false, refusal: verdict.refusal, why: verdict.why, retryMs: BUDGET_MS };
    }
    const reserved = call.microusd ?? 0;
    const { rowCount } = await db.query(
      `insert into model_calls (id, run, task, attempt, role, upstream, model, host, reserved_microusd, reserved_tokens, seat)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) on conflict (id) do nothing`,
      [call.id, call.run, call.task, call.attempt, call.role, call.upstream, call.model, call.host, reserved, call.tokens, call.seat ?? ''],
    );
    if (rowCount === 1) await addToSpend(db, call.run, scopes, { open: 1, reservedMicrousd: reserved, reservedTokens: call.tokens });
    return { ok: true };
  }); // prettier-ignore
}

/** Requests and tokens of the last minute under the upstream's key; only asked when it has a limit. */
async function rateRefusal(db: Db, call: NewCall): Promise<Reservation | null> {
  const { requestsPerMinute, tokensPerMinute, upstream } = call;
  if (requestsPerMinute === null && tokensPerMinute === null) return null;
  await db.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`swarmline upstream ${upstream}`]);
  const { rows } = await db.query<{ requests: number; tokens: number; oldest: number | null }>(
    `select count(*) as requests,
       coalesce(sum(case when state = 'open' then reserved_tokens
                         else input_tokens + cached_tokens + cache_write_tokens + output_tokens end), 0)::bigint as tokens,
       (extract(epoch from clock_timestamp() - min(started_at)) * 1000)::bigint as oldest
     from model_calls where upstream = $1 and started_at > clock_timestamp() - make_interval(secs => $2 / 1000.0)`,
    [upstream, WINDOW_MS],
  );
  const { requests = 0, tokens = 0, oldest = null } = rows[0] ?? {};
  const requestsFull = requestsPerMinute !== null && requests >= requestsPerMinute;
  // One call alone goes out however large it is: it would wait for ever.
  const tokensFull = tokensPerMinute !== null && requests > 0 && tokens + call.tokens > tokensPerMinute;
  if (!requestsFull && !tokensFull) return null;
  const why = requestsFull
    ? `${requestsPerMinute} requests a minute of the ${upstream} key`
    : `${tokensPerMinute} tokens a minute of the ${upstream} key`;
  return { ok: false, refusal: 'rate', why, retryMs: Math.max(50, Math.min(5_000, WINDOW_MS - (oldest ?? 0))) };
}

/** As it stands: the spec's, or what a person has made of it. */
export async function budgetOf(db: Db, run: string): Promise<Budget> {
  const { rows } = await db.query<{ budget: Budget }>(
    `select coalesce(budget, spec -> 'budget') as budget from runs where id = $1`,
    [run],
  );
  const budget = rows[0]?.budget;
  if (budget === undefined) throw new Error(`there is no run ${run}`);
  return { ...budget, roles: budget.roles ?? {}, task: budget.task ?? { usd: null, tokens: null } };
}

/** Sums by scope: `run`, `role:<role>`, `task:<task>`. */
export async function spendOf(db: Db, run: string): Promise<ReadonlyMap<string, Spend>> {
  const { rows } = await db.query<Record<string, unknown>>(
    'select scope, microusd, tokens, open, reserved_microusd, reserved_tokens from spend where run = $1',
    [run],
  );
  return new Map(rows.map((row) => [String(row['scope']), fromRow<Spend>(row)]));
}

interface SpendChange {
  readonly open: number;
  readonly reservedMicrousd: number;
  readonly reservedTokens: number;
  readonly microusd?: number;
  readonly tokens?: number;
}

async function addToSpend(db: Db, run: string, scopes: readonly string[], change: SpendChange): Promise<void> {
  await db.query(
    `update spend set open = open + $3, reserved_microusd = reserved_microusd + $4, reserved_tokens = reserved_tokens + $5,
       microusd = microusd + $6, tokens = tokens + $7
     where run = $1 and scope = any ($2)`,
    [run, scopes, change.open, change.reservedMicrousd, change.reservedTokens, change.microusd ?? 0, change.tokens ?? 0],
  ); // prettier-ignore
}

export interface CallEnded {
  readonly state: 'done' | 'failed' | 'aborted' | 'lost';
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  readonly microusd: number;
  readonly estimated: boolean;
  readonly status: number | null;
  readonly retries: number;
  readonly waitedMs: number;
}

/** Settled already: nothing happens. */
export async function settleCall(pool: Pool, id: string, end: CallEnded): Promise<void> {
  await inTransaction(pool, async (db) => {
    const found = await db.query<{ run: string; task: string; role: string }>('select run, task, role from model_calls where id = $1', [id]);
    const call = found.rows[0];
    if (call === undefined) return;
    const scopes = ['run', `role:${call.role}`, `task:${call.task}`];
    // The run's row first, as a reservation takes it: two transactions cannot wait for each other.
    await db.query(`select 1 from spend where run = $1 and scope = any ($2) order by scope = 'run' desc, scope for update`, [call.run, scopes]);
    const { rows } = await db.query<{ reserved_microusd: number; reserved_tokens: number }>(
      `update model_calls set state = $2, input_tokens = $3, cached_tokens = $4, cache_write_tokens = $5, output_tokens = $6,
         microusd = $7, estimated = $8, status = $9, retries = $10, waited_ms = $11, ended_at = clock_timestamp()
       where id = $1 and state = 'open' returning reserved_microusd, reserved_tokens`,
      [id, end.state, end.inputTokens, end.cachedTokens, end.cacheWriteTokens, end.outputTokens, end.microusd, end.estimated, end.status, end.retries, Math.round(end.waitedMs)],
    );
    const reserved = rows[0];
    if (reserved === undefined) return;
    await addToSpend(db, call.run, scopes, {
      open: -1,
      reservedMicrousd: -reserved.reserved_microusd,
      reservedTokens: -reserved.reserved_tokens,
      microusd: end.microusd,
      tokens: end.inputTokens + end.cachedTokens + end.cacheWriteTokens + end.outputTokens,
    });
  }); // prettier-ignore
}

/** Calls that a host's gateway had under way when it ended: what became of them nobody knows, so they are counted as reserved. Returns how many. */
export async function settleLostCalls(pool: Pool, host: string): Promise<number> {
  const { rows } = await pool.query<{ id: string; reserved_microusd: number; reserved_tokens: number }>(
    `select id, reserved_microusd, reserved_tokens from model_calls where host = $1 and state = 'open'`,
    [host],
  );
  for (const row of rows) {
    await settleCall(pool, row.id, {
      state: 'lost',
      inputTokens: row.reserved_tokens,
      cachedTokens: 0,
      cacheWriteTokens: 0,
      outputTokens: 0,
      microusd: row.reserved_microusd,
      estimated: true,
      status: null,
      retries: 0,
      waitedMs: 0,
    });
  }
  return rows.length;
}

export async function setBudget(db: Db, run: string, budget: Budget): Promise<void> {
  await db.query('update runs set budget = $2, updated_at = now() where id = $1', [run, JSON.stringify(budget)]);
}
