/**
 * What a run knows of its planners, and what their answers change.
 *
 * Invariant: only what has not begun is dropped or changed. What began before the answer was there goes on, and what should have taken its
 * place does not start.
 */
import type { PlanTaken } from '../activities/contract.ts';
import type { TaskState } from '../spec/model.ts';
import type { RunState } from './run-state.ts';

export interface NodeRecord {
  readonly id: string;
  readonly parent: string | null;
  readonly dependsOn: readonly string[];
  /** `waiting`: for what it depends on. */
  state: 'waiting' | 'planning' | 'idle' | 'failed';
  done: boolean;
  calls: number;
  attempts: number;
  why: string;
  sinceMs: number;
  /** Occasions that it has not been told of. */
  readonly wants: string[];
  /** Tasks of it that landed since its last call. */
  readonly news: string[];
}

export interface CarriedPlanning {
  readonly nodes: readonly NodeRecord[];
  readonly owners: readonly (readonly [string, string])[];
}

export function newNode(id: string, parent: string | null, dependsOn: readonly string[], now: number): NodeRecord {
  const state = dependsOn.length > 0 ? 'waiting' : 'idle';
  return {
    id,
    parent,
    dependsOn,
    state,
    done: false,
    calls: 0,
    attempts: 0,
    why: '',
    sinceMs: now,
    wants: [],
    news: [],
  };
}

const BEFORE: ReadonlySet<TaskState> = new Set(['pending', 'blocked']);

/** @param owners task → planner */
export function applyPlan(
  { tasks, changed, dropped, scopes }: Extract<PlanTaken, { ok: true }>,
  node: string,
  state: RunState,
  nodes: Map<string, NodeRecord>,
  owners: Map<string, string>,
): void {
  const now = Date.now();
  const mayChange = (id: string): boolean => BEFORE.has(state.get(id)?.state ?? 'passed');
  const drop = (id: string, why: string): void => void (mayChange(id) && state.move(id, 'cancel', now, why));
  for (const task of tasks) {
    state.add(task, now);
    owners.set(task.id, node);
  }
  for (const task of changed) if (mayChange(task.id)) state.amend(task);
  for (const { task, why, replacedBy } of dropped) {
    if (mayChange(task)) drop(task, `dropped by its planner: ${why}`);
    else for (const id of replacedBy) drop(id, `${task} had begun when it was to be replaced`);
  }
  for (const { id, dependsOn } of scopes) nodes.set(id, newNode(id, node, dependsOn, now));
}
