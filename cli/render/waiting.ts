/** Who waits: on what, since when, why, and the command that answers. Pure. */
import type { RunOverview } from '../../store/index.ts';

export interface WaitLine {
  /** null: the run itself. */
  readonly task: string | null;
  readonly on: string;
  readonly why: string;
  readonly sinceMs: number | null;
  readonly command: string | null;
}

/** The run's own waits first (they carry a command), then the tasks', in the order of the run. */
export function waits(overview: RunOverview): WaitLine[] {
  const own = runWaits(overview.run.details);
  const told = new Set(own.map((wait) => `${wait.on}\0${wait.why}`));
  const tasks = overview.tasks
    .filter((task) => task.waitingOn !== null)
    .map((task) => ({
      task: task.id,
      on: task.waitingOn ?? '',
      why: task.waitingWhy ?? '',
      sinceMs: task.waitingSinceMs,
      command: null,
    }))
    .filter((wait) => !told.has(`${wait.on}\0${wait.why}`));
  return [...own, ...tasks];
}

/** `runs.details` is what the workflow wrote: a list of waits. Anything else is shown as nothing. */
export function runWaits(details: unknown): WaitLine[] {
  if (!Array.isArray(details)) return [];
  return details.flatMap((wait: unknown): WaitLine[] => {
    if (typeof wait !== 'object' || wait === null) return [];
    const text = (name: string): string | null => {
      const value: unknown = Reflect.get(wait, name);
      return typeof value === 'string' && value !== '' ? value : null;
    };
    const since: unknown = Reflect.get(wait, 'sinceMs');
    return [
      {
        task: text('task'),
        on: text('on') ?? 'a person',
        why: text('why') ?? '',
        sinceMs: typeof since === 'number' ? since : null,
        command: text('command'),
      },
    ];
  });
}

const MOVING = new Set(['ready', 'running', 'retrying', 'merging']);

/** Nothing runs, nothing waits for the mainline, and somebody is waited for: only a person can move this run. */
export function needsPerson(overview: RunOverview): boolean {
  const { run, running, merges, tasks } = overview;
  if (run.outcome !== null || running.length > 0 || runWaits(run.details).length === 0) return false;
  // Verified, but not green: an integration point is on its way.
  const open = ['queued', 'merged', 'verified'].some((state) => (merges.byState[state] ?? 0) > 0);
  return run.paused || (!open && !tasks.some((task) => MOVING.has(task.state) && task.waitingOn === null));
}
