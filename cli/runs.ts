/** Runs and tasks by the names that people type, and the nearest ones when there is none. */
import { listRuns } from '../store/index.ts';
import type { Context } from './context.ts';
import { UserError } from './exit.ts';
import { nearest } from './nearest.ts';

/** Runs among which the nearest are sought. */
const SOUGHT = 500;

/** The error for a run that nobody knows. The store is asked for the nearest ids, and forgiven when it does not answer. */
export async function unknownRun(context: Context, run: string): Promise<UserError> {
  const ids = await context
    .store()
    .then((pool) => listRuns(pool, SOUGHT))
    .then((runs) => runs.map((row) => row.id))
    .catch(() => null);
  if (ids === null) return new UserError({ what: `There is no run ${run}.` });
  const near = nearest(run, ids);
  return new UserError({
    what: `There is no run ${run}.`,
    why: near.length === 0 ? 'No run has been recorded yet.' : `The nearest: ${near.join(', ')}.`,
    command: near.length === 0 ? './swarmline run SPEC' : './swarmline status',
  });
}

export function unknownTask(run: string, task: string, tasks: readonly string[]): UserError {
  return new UserError({
    what: `Run ${run} has no task ${task}.`,
    why: tasks.length === 0 ? 'It has no tasks yet.' : `The nearest: ${nearest(task, tasks).join(', ')}.`,
    command: `./swarmline status ${run}`,
  });
}
