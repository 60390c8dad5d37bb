/** Who waits: on what, since when, why, and the command that answers. Pure. */
import type { AttemptRow, RunOverview, RunRow, TaskRow } from '../../store/index.ts';

export interface WaitLine {
  /** null: the run itself. */
  readonly task: string | null;
  readonly on: string;
  readonly why: string;
  readonly sinceMs: number | null;
  readonly command: string | null;
}

/**
 * Whoever waits for a person first (with the command), then for the mainline, for a slot, for others.
 * @param missing workers and services that are not there, of a run that has not ended: they come before all
 */
export function waits(overview: RunOverview, missing: readonly WaitLine[] = []): WaitLine[] {
  const { run } = overview;
  const own = runWaits(run.details);
  const first = run.outcome === null ? [...missing, ...own] : own;
  // No task has started: they all wait for the same.
  if (run.outcome === null && run.phase === 'prepare') return own.length > 0 ? first : [...first, baseline(run)];
  const named = new Set(own.map((wait) => wait.on.split(' ').at(-1)));
  const queued = new Map(overview.running.filter((row) => row.phase === 'merge').map((row) => [row.task, row]));
  const states = new Map(overview.tasks.map((task) => [task.id, task]));
  const tasks = overview.run.outcome === null ? overview.tasks : [];
  const lines = tasks
    .filter((task) => !named.has(task.id))
    .map((task) => ({ place: ORDER.indexOf(task.state), line: taskWait(task, states, queued.get(task.id), run, own) }));
  const told = lines.flatMap(({ place, line }) => (line === null ? [] : [{ place, line }]));
  return [...first, ...told.toSorted((a, b) => a.place - b.place).map(({ line }) => line)];
}

const baseline = ({ id, startedAtMs }: RunRow): WaitLine => ({
  task: null,
  on: 'the baseline',
  why: 'the wave gate is tried on the base commit before any task starts',
  sinceMs: startedAtMs,
  command: `./swarmline logs ${id} baseline`,
});

const ORDER = ['blocked', 'merging', 'ready', 'retrying', 'pending'];

function taskWait(
  task: TaskRow,
  states: ReadonlyMap<string, TaskRow>,
  attempt: AttemptRow | undefined,
  run: RunRow,
  own: readonly WaitLine[],
): WaitLine | null {
  const common = { task: task.id, sinceMs: task.waitingSinceMs ?? task.updatedAtMs, command: null };
  if (task.waitingOn !== null) return { ...common, on: task.waitingOn, why: task.waitingWhy ?? task.why ?? '' };
  switch (task.state) {
    case 'merging':
      return typeof attempt?.mergedAtMs === 'number'
        ? { ...common, on: 'verification', why: 'it is merged', sinceMs: attempt.mergedAtMs }
        : {
            ...common,
            on: 'the mainline',
            why: 'its gate was green',
            sinceMs: attempt?.requestedAtMs ?? common.sinceMs,
          };
    case 'ready':
      return { ...common, on: 'a free slot', why: 'everything that it depends on has landed' };
    case 'pending': {
      const missing = task.dependsOn.filter((id) => !['passed', 'skipped'].includes(states.get(id)?.state ?? ''));
      return missing.length > 0
        ? {
            ...common,
            on: missing.join(', '),
            why: missing.map((id) => `${id} is ${states.get(id)?.state}`).join(', '),
          }
        : { ...common, ...waveWait(run, own) };
    }
    default:
      return null;
  }
}

/** What keeps a task from starting whose dependencies have all landed. */
function waveWait(run: RunRow, own: readonly WaitLine[]): { on: string; why: string } {
  if (run.paused) return { on: 'resume', why: 'the run is paused' };
  const approval = own.find(({ on }) => on.startsWith('approval: '));
  if (approval !== undefined) return { on: approval.on, why: approval.why };
  return { on: 'its wave', why: 'the integration point before it is not green yet' };
}

/** `runs.details` is what the workflow wrote: a list of waits for people. Anything else is shown as nothing. */
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
        task: null,
        on: text('on') ?? 'a person',
        why: text('why') ?? '',
        sinceMs: typeof since === 'number' ? since : null,
        command: text('command'),
      },
    ];
  });
}

const MOVING = ['ready', 'running', 'retrying', 'merging'];

/** Nothing runs, nothing waits for the mainline, and somebody is waited for: only a person can move this run. */
export function needsPerson(overview: RunOverview): boolean {
  const { run, running, merges, tasks } = overview;
  if (run.outcome !== null || running.some((row) => row.phase === 'agent' || row.phase === 'gate')) return false;
  if (run.paused) return true;
  const own = runWaits(run.details);
  const named = new Set(own.map((wait) => wait.on.split(' ').at(-1)));
  // Merged or verified, but not green: verification or an integration point is on its way.
  const open = ['merged', 'verified'].some((state) => (merges.byState[state] ?? 0) > 0);
  return own.length > 0 && !open && !tasks.some((task) => MOVING.includes(task.state) && !named.has(task.id));
}
