/** Tables `gate_runs` (one whole result each) and `gate_results` (one row a step). */
import type { GateLevel, GateResult, GateStepResult } from '../spec/model.ts';
import { fromRow } from './db.ts';
import type { Db } from './db.ts';
import { cap, FAILURES_KEPT, json, message, MESSAGE_BYTES } from './text.ts';

/** Which gate run. `key`: `<task>/<attempt>`, `mainline`, `wave-3`, `baseline`, `probe`. */
export interface GateRef {
  readonly run: string;
  readonly key: string;
  readonly level: GateLevel;
  readonly commit: string;
  /** Tree that was tested, where it is known. */
  readonly tree?: string | null;
}

export interface GateStepRow {
  readonly key: string;
  readonly level: GateLevel;
  readonly commit: string;
  readonly tree: string | null;
  readonly step: string;
  readonly ok: boolean;
  readonly end: string;
  readonly exitCode: number | null;
  readonly ms: number;
  readonly failures: readonly string[];
  readonly flaky: boolean;
  readonly waived: boolean;
  readonly tail: string;
  readonly artifact: string | null;
  readonly atMs: number;
}

export interface GateStepExtras {
  /** Steps that count as green because a person said so. */
  readonly waived?: readonly string[];
  /** Step → name of the artifact that holds its whole output. */
  readonly artifacts?: Readonly<Record<string, string>>;
}

/** Steps as they end, or all of them; the same step written again replaces its row. */
export async function recordGateSteps(
  db: Db,
  ref: GateRef,
  steps: readonly GateStepResult[],
  extras: GateStepExtras = {},
): Promise<void> {
  if (steps.length === 0) return;
  const rows = steps.map((step, position) => ({
    ...capStep(step),
    position,
    waived: extras.waived?.includes(step.step) ?? false,
    artifact: extras.artifacts?.[step.step] ?? null,
  }));
  await db.query(
    `insert into gate_results (run, key, level, commit, tree, step, position, ok, "end", exit_code, ms, failures, flaky, waived, tail, artifact)
     select $1, $2, $3, $4, $5, x.step, x.position, x.ok, x."end", x."exitCode", round(x."durationMs")::bigint,
       array(select jsonb_array_elements_text(x.failures)), x.flaky, x.waived, x.tail, x.artifact
     from jsonb_to_recordset($6::jsonb) as x (step text, position integer, ok boolean, "end" text, "exitCode" integer,
       "durationMs" numeric, failures jsonb, flaky boolean, waived boolean, tail text, artifact text)
     on conflict (run, key, level, commit, step) do update set
       tree = excluded.tree, position = excluded.position, ok = excluded.ok, "end" = excluded."end",
       exit_code = excluded.exit_code, ms = excluded.ms, failures = excluded.failures, flaky = excluded.flaky,
       waived = excluded.waived, tail = excluded.tail, artifact = coalesce(excluded.artifact, gate_results.artifact), at = now()`,
    [ref.run, ref.key, ref.level, ref.commit, ref.tree ?? null, json(rows)],
  );
}

/** The whole result, and its steps. */
export async function saveGateResult(
  db: Db,
  ref: GateRef,
  result: GateResult,
  extras: GateStepExtras = {},
): Promise<void> {
  const kept = result.outcome === 'conflict' ? result : { ...result, steps: result.steps.map(capStep) };
  if (kept.outcome !== 'conflict') await recordGateSteps(db, ref, kept.steps, extras);
  await db.query(
    `insert into gate_runs (run, key, level, commit, tree, result) values ($1, $2, $3, $4, $5, $6)
     on conflict (run, key, level, commit) do update set tree = excluded.tree, result = excluded.result, at = now()`,
    [ref.run, ref.key, ref.level, ref.commit, ref.tree ?? null, json(kept)],
  );
}

/** null: that gate has not finished. */
export async function loadGateResult(
  db: Db,
  run: string,
  key: string,
  level: GateLevel,
  commit: string,
): Promise<GateResult | null> {
  const { rows } = await db.query<{ result: GateResult }>(
    'select result from gate_runs where run = $1 and key = $2 and level = $3 and commit = $4',
    [run, key, level, commit],
  );
  return rows[0]?.result ?? null;
}

/** Every step that was run under a key, and under `<key>~<round>` when the same commit was judged again in a later round; oldest first. */
export async function gateSteps(db: Db, run: string, key: string): Promise<GateStepRow[]> {
  const { rows } = await db.query(
    `select key, level, commit, tree, step, ok, "end", exit_code, ms, failures, flaky, waived, tail, artifact, at
     from gate_results where run = $1 and (key = $2 or starts_with(key, $2 || '~')) order by at, position`,
    [run, key],
  );
  return rows.map((row) => fromRow<GateStepRow>(row));
}

const capStep = (step: GateStepResult): GateStepResult => ({
  ...step,
  tail: cap(step.tail, MESSAGE_BYTES).text,
  failures: step.failures.slice(0, FAILURES_KEPT).map((name) => message(name) ?? ''),
});
