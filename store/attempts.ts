/** Table `attempts`: one agent run and one gate run, from the claim to its end. */
import type { AgentResult, AttemptKey, FailureCause } from '../spec/model.ts';
import { fromRow, time } from './db.ts';
import type { Db } from './db.ts';
import { json, message } from './text.ts';

export type AttemptPhase = 'agent' | 'gate' | 'merge' | 'done';
export type AttemptOutcome = 'passed' | 'cancelled' | FailureCause;

export interface AttemptRow extends AttemptKey {
  readonly round: number;
  readonly host: string | null;
  readonly phase: AttemptPhase;
  readonly base: string | null;
  readonly commit: string | null;
  readonly outcome: AttemptOutcome | null;
  readonly why: string | null;
  readonly startedAtMs: number;
  readonly agentStartedAtMs: number | null;
  readonly agentMs: number | null;
  readonly gateMs: number | null;
  /** Time that it waited for a slot and for the mainline: on us. */
  readonly queuedMs: number | null;
  /** When its gate was green and it asked to be merged; mergedAtMs null: it still waits for that. */
  readonly requestedAtMs: number | null;
  readonly mergedAtMs: number | null;
  readonly landedAtMs: number | null;
  readonly endedAtMs: number | null;
  readonly failureArtifact: string | null;
}

const COLUMNS = `run, task, attempt, round, host, phase, base, commit, outcome, why, started_at, agent_started_at, agent_ms,
  gate_ms, queued_ms, requested_at, merged_at, landed_at, ended_at, failure_artifact`;

/** Claims it for a host, and counts it with its task. Repeated on another host it moves there; one that has ended stays as it is. */
export async function startAttempt(
  db: Db,
  key: AttemptKey,
  start: {
    readonly round?: number;
    readonly host?: string | null;
    readonly base?: string | null;
    readonly queuedMs?: number | null;
    readonly startedAtMs?: number;
  } = {},
): Promise<void> {
  await db.query(
    `with counted as (update tasks set attempts = greatest(attempts, $3) where run = $1 and id = $2)
     insert into attempts as a (run, task, attempt, round, host, base, queued_ms, started_at)
     values ($1, $2, $3, coalesce($4, 1), $5, $6, $7, coalesce($8, now()))
     on conflict (run, task, attempt) do update set
       round = coalesce($4, a.round), host = coalesce(excluded.host, a.host), base = coalesce(excluded.base, a.base),
       queued_ms = coalesce(a.queued_ms, excluded.queued_ms)
     where a.ended_at is null`,
    [
      key.run,
      key.task,
      key.attempt,
      start.round ?? null,
      start.host ?? null,
      start.base ?? null,
      start.queuedMs ?? null,
      time(start.startedAtMs),
    ],
  );
}

/** What is known of an attempt on its way. Absent: as it was. */
export interface AttemptChange {
  readonly phase?: AttemptPhase;
  readonly host?: string;
  readonly base?: string;
  readonly commit?: string;
  readonly agentStartedAtMs?: number;
  readonly agentMs?: number;
  readonly gateMs?: number;
  readonly queuedMs?: number;
  readonly mergedAtMs?: number;
  readonly landedAtMs?: number;
}

/**
 * Does nothing for an attempt that was never started. `phase: merge` without `mergedAtMs` means that it asks to be merged now
 * (again, after an ejection).
 */
export async function markAttempt(db: Db, key: AttemptKey, change: AttemptChange): Promise<void> {
  await db.query(
    `update attempts set
       phase = coalesce($4, phase), host = coalesce($5, host), base = coalesce($6, base), commit = coalesce($7, commit),
       agent_started_at = coalesce($8, agent_started_at), agent_ms = coalesce($9, agent_ms),
       gate_ms = coalesce($10, gate_ms), queued_ms = coalesce($11, queued_ms),
       requested_at = case when $4 = 'merge' and $12::timestamptz is null and (phase <> 'merge' or requested_at is null)
                           then now() else requested_at end,
       merged_at = case when $4 = 'merge' and $12::timestamptz is null and phase <> 'merge' then null
                        else coalesce($12, merged_at) end,
       landed_at = coalesce($13, landed_at)
     where run = $1 and task = $2 and attempt = $3`,
    [
      key.run,
      key.task,
      key.attempt,
      change.phase ?? null,
      change.host ?? null,
      change.base ?? null,
      change.commit ?? null,
      time(change.agentStartedAtMs),
      whole(change.agentMs),
      whole(change.gateMs),
      whole(change.queuedMs),
      time(change.mergedAtMs),
      time(change.landedAtMs),
    ],
  );
}

/**
 * Records how the agent's part ended, and returns what is recorded: the first result told stays, so that two executions of
 * one attempt agree on one commit.
 * @param ms how long the agent ran
 */
export async function recordAgent(db: Db, key: AttemptKey, result: AgentResult, ms: number): Promise<AgentResult> {
  const { rows } = await db.query<{ agent_result: AgentResult }>(
    `insert into attempts as a (run, task, attempt, phase, started_at, agent_result, agent_ms, base, commit)
     values ($1, $2, $3, $4, now() - make_interval(secs => $6::bigint / 1000.0), $5, $6, $7, $8)
     on conflict (run, task, attempt) do update set
       phase = case when a.agent_result is null and a.phase = 'agent' then excluded.phase else a.phase end,
       agent_ms = case when a.agent_result is null then excluded.agent_ms else a.agent_ms end,
       base = case when a.agent_result is null then coalesce(excluded.base, a.base) else a.base end,
       commit = case when a.agent_result is null then coalesce(excluded.commit, a.commit) else a.commit end,
       agent_result = coalesce(a.agent_result, excluded.agent_result)
     returning agent_result`,
    [
      key.run,
      key.task,
      key.attempt,
      result.ok ? 'gate' : 'agent',
      json(result.ok ? result : { ...result, why: message(result.why) }),
      whole(ms),
      result.ok ? result.base : null,
      result.ok ? result.commit : null,
    ],
  );
  return rows[0]?.agent_result ?? result;
}

/** null: the agent has not finished, so it may run. */
export async function loadAgentResult(db: Db, key: AttemptKey): Promise<AgentResult | null> {
  const { rows } = await db.query<{ agent_result: AgentResult | null }>(
    'select agent_result from attempts where run = $1 and task = $2 and attempt = $3',
    [key.run, key.task, key.attempt],
  );
  return rows[0]?.agent_result ?? null;
}

/** Whoever has a socket: an agent, or one of several of its role and attempt. */
export interface Seated extends AttemptKey {
  readonly role: string;
  readonly seat?: string;
}

/**
 * Of these, those that have nothing more to do. A reviewer comes when the attempt's agent is long done, and goes when its verdict stands or
 * the attempt has ended for good; one that is judged again (a person lands it anyway) has an end already that means nothing to it.
 */
export async function agentsDone<T extends Seated>(db: Db, callers: readonly T[]): Promise<T[]> {
  const { rows } = await db.query<{ n: number }>(
    `select c.n::int as n from unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::text[]) with ordinality as c (run, task, attempt, role, seat, n)
     where exists (select from runs u where u.id = c.run and u.ended_at is not null)
       or exists (select from attempts a where a.run = c.run and a.task = c.task and a.attempt = c.attempt
         and case when c.role = 'reviewer' then a.outcome in ('passed', 'rejected', 'cancelled')
                  else a.ended_at is not null or a.agent_result is not null end)
       or c.role = 'reviewer' and exists (select from reviews r where r.run = c.run and r.task = c.task and r.attempt = c.attempt
         and r.verdict is not null and 'review-' || (r.reviewer + 1) = c.seat)`,
    [
      callers.map(({ run }) => run),
      callers.map(({ task }) => task),
      callers.map(({ attempt }) => attempt),
      callers.map(({ role }) => role),
      callers.map(({ seat }) => seat ?? ''),
    ],
  );
  return rows.flatMap(({ n }) => callers[n - 1] ?? []);
}

/** How it ended. May be told again with another outcome (passed, later ejected); the time of the first end stays. */
export async function endAttempt(
  db: Db,
  key: AttemptKey,
  end: AttemptChange & {
    readonly outcome: AttemptOutcome;
    readonly why?: string | null;
    /** Name of the artifact that lastFailure gives to the next attempt. */
    readonly failureArtifact?: string | null;
  },
): Promise<void> {
  await db.query(
    `insert into attempts as a (run, task, attempt, phase, started_at, ended_at, outcome, why, failure_artifact)
     values ($1, $2, $3, 'done', now(), now(), $4, $5, $6)
     on conflict (run, task, attempt) do update set
       phase = 'done', outcome = excluded.outcome, why = excluded.why,
       failure_artifact = coalesce(excluded.failure_artifact, a.failure_artifact),
       ended_at = coalesce(a.ended_at, excluded.ended_at)`,
    [key.run, key.task, key.attempt, end.outcome, message(end.why), end.failureArtifact ?? null],
  );
  await markAttempt(db, key, { ...end, phase: 'done' });
}

export interface LastFailure {
  readonly attempt: number;
  readonly cause: FailureCause;
  readonly why: string;
  /** Content of the failure's artifact, else the tail of its red gate step, else ''. */
  readonly log: string;
}

/**
 * The newest red attempt of a task: what the next attempt is told.
 * @param mergerOf a merger is told of those that merged the same attempt's work; a worker (null) of those that were no merger's
 */
export async function lastFailure(
  db: Db,
  run: string,
  task: string,
  mergerOf: number | null = null,
): Promise<LastFailure | null> {
  const { rows } = await db.query<LastFailure>(
    `select a.attempt, a.outcome as cause, coalesce(a.why, '') as why,
       coalesce(
         (select f.content from artifacts f
          where f.run = a.run and f.task = a.task and f.attempt = a.attempt and f.name = a.failure_artifact),
         (select g.tail from gate_results g where g.run = a.run and g.key = a.task || '/' || a.attempt and not g.ok
          order by g.at desc, g.position limit 1),
         '') as log
     from attempts a
     where a.run = $1 and a.task = $2 and a.outcome not in ('passed', 'cancelled')
       and (select m.of_attempt from merger_attempts m where m.run = a.run and m.task = a.task and m.attempt = a.attempt)
         is not distinct from $3::int
     order by a.attempt desc limit 1`,
    [run, task, mergerOf],
  );
  return rows[0] ?? null;
}

/** Those that have not ended, oldest first; of every run when none is named. */
export async function runningAttempts(db: Db, run?: string): Promise<AttemptRow[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from attempts where ended_at is null and ($1::text is null or run = $1) order by started_at, task`,
    [run ?? null],
  );
  return rows.map((row) => fromRow<AttemptRow>(row));
}

/** Of one task, oldest first. */
export async function listAttempts(db: Db, run: string, task: string): Promise<AttemptRow[]> {
  const { rows } = await db.query(`select ${COLUMNS} from attempts where run = $1 and task = $2 order by attempt`, [
    run,
    task,
  ]);
  return rows.map((row) => fromRow<AttemptRow>(row));
}

const whole = (ms: number | null | undefined): number | null =>
  ms === null || ms === undefined ? null : Math.round(ms);

/** Attempts that a run left open when it ended: nothing of them runs any more. What they ended with, where that is known, stays. */
export async function closeOpenAttempts(db: Db, run: string): Promise<void> {
  await db.query(
    `update attempts set phase = 'done', ended_at = now(), outcome = coalesce(outcome, 'cancelled') where run = $1 and ended_at is null`,
    [run],
  );
}
