/**
 * Which tasks may start, and in what order. Pure: the workflow asks, this decides.
 *
 * Invariants:
 * 1. A task is startable only when every dependency has landed, or was skipped by a person who released its dependants.
 * 2. Order: priority, then the longest path that still depends on it, then age (place in the spec). (DESIGN.md section 4.)
 */
import type { PlanTask, TaskState } from './model.ts';
import { isClosed, isFinal } from './task-state.ts';

export interface TaskStanding {
  readonly state: TaskState;
  /** Skipped by a person with its dependants released. */
  readonly releasesDependants: boolean;
}
export type Standings = ReadonlyMap<string, TaskStanding>;

/** Its work is under `verified`, or a person skipped it so that others go on. */
export const hasLanded = (standing: TaskStanding | undefined): boolean =>
  standing !== undefined &&
  (standing.state === 'passed' || (standing.state === 'skipped' && standing.releasesDependants));

/** Dependencies of `task` that have not landed. */
export function unmetDependencies(task: PlanTask, standings: Standings): string[] {
  return task.dependsOn.filter((id) => !hasLanded(standings.get(id)));
}

/** Everything in a scope has been planned, and none of its tasks is still to come. @param tasks of the scope and of those below it */
export function scopeHasLanded(
  planners: readonly { readonly state: string; readonly calls: number }[],
  tasks: readonly string[],
  standings: Standings,
): boolean {
  return (
    planners.every(({ state, calls }) => state === 'idle' && calls > 0) &&
    tasks.every((id) => isFinal(standings.get(id)?.state ?? 'pending'))
  );
}

/** Number of tasks on the longest chain of unfinished dependants below each task, itself included. */
export function longestPaths(plan: readonly PlanTask[], standings: Standings): Map<string, number> {
  const dependants = dependantsOf(plan);
  const lengths = new Map<string, number>();
  const measure = (id: string): number => {
    const known = lengths.get(id);
    if (known !== undefined) return known;
    const below = (dependants.get(id) ?? [])
      .filter((child) => !isClosed(standings.get(child)?.state ?? 'pending'))
      .map(measure);
    const length = 1 + Math.max(0, ...below);
    lengths.set(id, length);
    return length;
  };
  for (const { id } of plan) measure(id);
  return lengths;
}

/** Direct dependants by task id. */
export function dependantsOf(plan: readonly PlanTask[]): Map<string, string[]> {
  const dependants = new Map<string, string[]>();
  for (const task of plan) {
    for (const id of task.dependsOn) dependants.set(id, [...(dependants.get(id) ?? []), task.id]);
  }
  return dependants;
}

/** Every task that depends on one of `ids`, directly or through others; `ids` themselves excluded. */
export function allDependants(plan: readonly PlanTask[], ids: readonly string[]): Set<string> {
  const dependants = dependantsOf(plan);
  const found = new Set<string>();
  const queue = [...ids];
  for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
    for (const child of dependants.get(id) ?? []) {
      if (!found.has(child)) {
        found.add(child);
        queue.push(child);
      }
    }
  }
  return found;
}

/** Pending tasks whose dependencies have landed, in the order in which they take slots. */
export function startableTasks(plan: readonly PlanTask[], standings: Standings): PlanTask[] {
  const startable = plan.filter(
    (task) => standings.get(task.id)?.state === 'pending' && unmetDependencies(task, standings).length === 0,
  );
  return inOrder(startable, plan, standings);
}

/** Sorts by priority (larger first), longest path (longer first), age (older first). */
export function inOrder(tasks: readonly PlanTask[], plan: readonly PlanTask[], standings: Standings): PlanTask[] {
  const paths = longestPaths(plan, standings);
  return tasks.toSorted(
    (a, b) => b.priority - a.priority || (paths.get(b.id) ?? 0) - (paths.get(a.id) ?? 0) || a.index - b.index,
  );
}

/** The waves that would form if nothing ever failed: layer k holds the tasks whose longest chain of dependencies is k long. */
export function layersOf(plan: readonly PlanTask[]): string[][] {
  const byId = new Map(plan.map((task) => [task.id, task]));
  const depths = new Map<string, number>();
  const depth = (id: string): number => {
    const known = depths.get(id);
    if (known !== undefined) return known;
    const value = 1 + Math.max(-1, ...(byId.get(id)?.dependsOn ?? []).filter((dep) => byId.has(dep)).map(depth));
    depths.set(id, value);
    return value;
  };
  const layers: string[][] = [];
  for (const { id } of plan) (layers[depth(id)] ??= []).push(id);
  return layers;
}

/** Tasks a wave workflow holds at most, so that its history stays under some 500 events (research: parents under 500). */
export const WAVE_PART_SIZE = 80;

/** Cuts a wave's ordered tasks into parts. */
export function waveParts<T>(tasks: readonly T[], size: number = WAVE_PART_SIZE): T[][] {
  const parts: T[][] = [];
  for (let start = 0; start < tasks.length; start += size) parts.push(tasks.slice(start, start + size));
  return parts;
}
