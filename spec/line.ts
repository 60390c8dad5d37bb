/** What goes with a culprit when it is taken out of the line. */
import type { LineEntry, PlanTask } from './model.ts';
import { allDependants } from './schedule.ts';

/**
 * Requests to drop: the culprit's own entry, later entries of the same task, and merged tasks that depend on it.
 * Everything else is rebuilt from its kept commit.
 */
export function ejectionOf(culprit: LineEntry, entries: readonly LineEntry[], plan: readonly PlanTask[]): LineEntry[] {
  const dependants = allDependants(plan, [culprit.task]);
  return entries.filter(({ task }) => task === culprit.task || dependants.has(task));
}

/** Entries up to and including `commit`; all when it is not among them would be a lie, so: none. */
export function entriesUpTo(entries: readonly LineEntry[], commit: string): LineEntry[] {
  return entries.slice(0, entries.findIndex((entry) => entry.commit === commit) + 1);
}

/** Entries after `commit`; all of them when it lies below the first. */
export function entriesAfter(entries: readonly LineEntry[], commit: string): LineEntry[] {
  return entries.slice(entries.findIndex((entry) => entry.commit === commit) + 1);
}
