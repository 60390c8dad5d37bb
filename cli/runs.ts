/** Finding runs, and saying which one may have been meant. */
import { distance } from 'fastest-levenshtein';
import { listRuns } from '../store/index.ts';
import type { Context } from './context.ts';
import { UserError } from './exit.ts';

const SHOWN = 3;
/** Runs among which the nearest are sought. */
const SOUGHT = 500;

/** The ids nearest to what was typed: those it is a part of first, then by edits, then by age. Pure. */
export function nearest(typed: string, ids: readonly string[], shown: number = SHOWN): string[] {
  return ids
    .map((id, age) => ({ id, age, part: id.includes(typed) ? 0 : 1, edits: distance(typed, id) }))
    .toSorted((a, b) => a.part - b.part || a.edits - b.edits || a.age - b.age)
    .slice(0, shown)
    .map((found) => found.id);
}

/** The error for a run that nobody knows. The store is asked for the nearest ids, and forgiven when it does not answer. */
export async function unknownRun(context: Context, run: string): Promise<UserError> {
  const ids = await context
    .store()
    .then((pool) => listRuns(pool, SOUGHT))
    .then((runs) => runs.map((row) => row.id))
    .catch(() => []);
  const near = nearest(run, ids);
  return new UserError({
    what: `There is no run ${run}.`,
    why: near.length === 0 ? 'No run has been recorded yet.' : `The nearest: ${near.join(', ')}.`,
    command: near.length === 0 ? './swarmline run SPEC' : './swarmline status',
  });
}
