/**
 * From timelines to shares. Pure.
 *
 * A task's time runs from the moment at which it could have started (its wave began, and a slot was there) to the moment at which its
 * commit is under `verified`. What of that is not the agent's own duration, it waited for us.
 */
import { mean } from './row.ts';

/** Milliseconds since the epoch. */
export interface Timeline {
  /** Its activity began on a host. */
  readonly claimedMs?: number;
  readonly agentStartMs?: number;
  readonly agentEndMs?: number;
  /** Its commit is in the hub. */
  readonly submittedMs?: number;
  readonly gateStartMs?: number;
  readonly gateEndMs?: number;
}
export type Complete = Required<Timeline> & { readonly landedMs: number };

/** Seconds, means over tasks. */
export interface Waits {
  /** From startable to landed. */
  readonly task: number;
  /** What of it the agents took. */
  readonly agent: number;
  /** task − agent. */
  readonly waiting: number;
  /** Parts of `waiting`, in order. */
  readonly parts: {
    readonly claim: number;
    readonly prepare: number;
    readonly collect: number;
    readonly queueForGate: number;
    readonly gate: number;
    readonly land: number;
  };
}

/** @param startableMs when the wave began: every task had a slot from then on */
export function waitsOf(tasks: readonly Complete[], startableMs: number): Waits {
  const seconds = (of: (task: Complete) => number): number => mean(tasks.map(of)) / 1000;
  const task = seconds(({ landedMs }) => landedMs - startableMs);
  const agent = seconds(({ agentStartMs, agentEndMs }) => agentEndMs - agentStartMs);
  return {
    task,
    agent,
    waiting: task - agent,
    parts: {
      claim: seconds(({ claimedMs }) => claimedMs - startableMs),
      prepare: seconds(({ claimedMs, agentStartMs }) => agentStartMs - claimedMs),
      collect: seconds(({ agentEndMs, submittedMs }) => submittedMs - agentEndMs),
      queueForGate: seconds(({ submittedMs, gateStartMs }) => gateStartMs - submittedMs),
      gate: seconds(({ gateStartMs, gateEndMs }) => gateEndMs - gateStartMs),
      land: seconds(({ gateEndMs, landedMs }) => landedMs - gateEndMs),
    },
  };
}

/** The most tasks whose agents ran at the same moment. */
export function peakInFlight(tasks: readonly Pick<Complete, 'agentStartMs' | 'agentEndMs'>[]): number {
  const edges = tasks.flatMap(({ agentStartMs, agentEndMs }) => [
    { at: agentStartMs, step: 1 },
    { at: agentEndMs, step: -1 },
  ]);
  let now = 0;
  let peak = 0;
  for (const { step } of edges.toSorted((a, b) => a.at - b.at || a.step - b.step)) peak = Math.max(peak, (now += step));
  return peak;
}

/** DESIGN.md section 8: per cent of the time of a task of 120 s, by tasks in flight. null above 1,024. */
export function budgetPercent(inFlight: number): number | null {
  if (inFlight <= 64) return 3;
  if (inFlight <= 256) return 5;
  return inFlight <= 1024 ? 10 : null;
}

/**
 * The budget of the ratio (task time / the peer's) for tasks of another duration: the same seconds of waiting that a task of 120 s may
 * have. Shorter tasks are the harder case, for as much work comes in less time.
 */
export function budgetRatio(inFlight: number, seconds: number): number | null {
  const percent = budgetPercent(inFlight);
  return percent === null ? null : 1 + (percent / 100) * (120 / seconds);
}
