/** How fast a run goes and how long it may still take. Pure. */
import type { RunOverview } from '../../store/index.ts';

export interface Pace {
  /** Tasks landed an hour; null before the second one landed. */
  readonly perHour: number | null;
  /** What `perHour` was measured over, ms. */
  readonly windowMs: number;
  /** Tasks that may still land. Those blocked wait for a person and are not counted. */
  readonly remaining: number;
  /** An estimate: `remaining` at that rate. null where there is nothing to go by. */
  readonly leftMs: number | null;
}

/** Longest stretch that counts for the rate: what was long ago says little. */
const WINDOW_MS = 30 * 60_000;
const FINAL = new Set(['passed', 'skipped', 'cancelled', 'blocked']);

export function pace(overview: RunOverview): Pace {
  const { run, tasks, merges, atMs } = overview;
  const until = run.endedAtMs ?? atMs;
  const from = Math.max(run.startedAtMs, until - WINDOW_MS);
  const windowMs = Math.max(1, until - from);
  const landed = merges.landedAtMs.filter((at) => at >= from).length;
  const perHour = landed < 2 ? null : (landed / windowMs) * 3_600_000;
  const remaining = run.outcome === null ? tasks.filter((task) => !FINAL.has(task.state)).length : 0;
  const leftMs = perHour === null || remaining === 0 || run.paused ? null : (remaining / perHour) * 3_600_000;
  return { perHour, windowMs, remaining, leftMs };
}
