/**
 * Forgets attempts of tasks that are over.
 *
 * 1. Only tasks that the caller knows to be final, only attempts older than `keepBefore`.
 * 2. Never one whose change is on the line above main: it may have to be merged again from this very commit. Never one in flight.
 * 3. One transaction. Objects stay where they are: nothing here prunes.
 */
import type { HubPlace } from './hub-place.ts';
import { gitText } from './git-process.ts';
import { entriesBetween, readHeads } from './line.ts';
import { INFLIGHT, TASKS, listRefs, updateRefs } from './refs.ts';

export interface PruneInput {
  /** Attempts committed before this may go. */
  readonly keepBefore: Date;
  /** Ids of tasks whose outcome is final and recorded. */
  readonly finalTasks: Iterable<string>;
}

/** Returns the refs that were deleted. */
export async function pruneTasks(hub: HubPlace, input: PruneInput): Promise<string[]> {
  const { main, next } = await readHeads(hub.dir);
  const needed = new Set((await entriesBetween(hub.dir, main, next)).map((entry) => entry.request));
  for (const ref of (await listRefs(hub.dir, INFLIGHT)).keys()) needed.add(ref.slice(INFLIGHT.length));
  const final = new Set(input.finalTasks);
  const before = Math.floor(input.keepBefore.getTime() / 1000);
  const out = await gitText(hub.dir, [
    'for-each-ref',
    '--format=%(refname) %(objectname) %(committerdate:unix)',
    TASKS,
  ]);
  const gone: { ref: string; from: string; to: null }[] = [];
  for (const line of out.split('\n')) {
    const [ref = '', from = '', seconds = ''] = line.split(' ');
    const id = ref.slice(TASKS.length);
    const task = id.split('/')[0] ?? '';
    if (seconds === '' || !final.has(task) || needed.has(id) || Number(seconds) >= before) continue;
    gone.push({ ref, from, to: null });
  }
  await updateRefs(hub.dir, gone);
  return gone.map(({ ref }) => ref);
}
