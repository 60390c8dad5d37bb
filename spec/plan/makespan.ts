/** How long a plan takes with so many agents: the schedules of the run, simulated with equal tasks that never fail. Pure. */
import type { DagTask } from '../dag.ts';

export interface StepTimes {
  readonly workMs: number;
  readonly landMs: number;
  readonly waveMs: number;
  readonly schedule: 'waves' | 'frontier';
}

/** @param layers indices of the tasks by the length of the longest chain above them */
export function makespanMs(
  tasks: readonly DagTask[],
  layers: readonly (readonly number[])[],
  agents: number,
  { workMs, landMs, waveMs, schedule }: StepTimes,
): number {
  if (schedule === 'waves')
    return layers.reduce((ms, layer) => ms + Math.ceil(layer.length / agents) * workMs + landMs + waveMs, 0);
  return tasks.length === 0 ? 0 : frontierMs(tasks, layers, agents, workMs, landMs) + waveMs;
}

/** List scheduling, the longest path below first. A task ready at t starts at the first whole free agent; all last equally long. */
function frontierMs(
  tasks: readonly DagTask[],
  layers: readonly (readonly number[])[],
  agents: number,
  workMs: number,
  landMs: number,
): number {
  const index = new Map(tasks.map(({ id }, i) => [id, i]));
  const dependants: number[][] = tasks.map(() => []);
  const missing = tasks.map(({ dependsOn }, i) => {
    const deps = new Set(dependsOn.flatMap((id) => index.get(id) ?? []));
    for (const dep of deps) dependants[dep]!.push(i);
    return deps.size;
  });
  const below = tasks.map(() => 1);
  for (const i of layers.flat().toReversed())
    for (const dependant of dependants[i]!) below[i] = Math.max(below[i]!, 1 + below[dependant]!);

  const ready = new Set(missing.flatMap((count, i) => (count === 0 ? [i] : [])));
  const ends: { at: number; task: number; frees: boolean }[] = [];
  let free = agents;
  let now = 0;
  let last = 0;
  while (ready.size > 0 || ends.length > 0) {
    const next = [...ready].toSorted((a, b) => below[b]! - below[a]! || a - b).slice(0, free);
    for (const task of next) {
      ready.delete(task);
      free -= 1;
      // The agent is free when its work is done; what waits for the task, when it has landed.
      ends.push({ at: now + workMs, task, frees: true }, { at: now + workMs + landMs, task, frees: false });
    }
    now = Math.min(...ends.map(({ at }) => at));
    for (let i = ends.length - 1; i >= 0; i--) {
      const end = ends[i]!;
      if (end.at > now) continue;
      ends.splice(i, 1);
      if (end.frees) free += 1;
      else {
        last = now;
        for (const dependant of dependants[end.task]!) if (--missing[dependant]! === 0) ready.add(dependant);
      }
    }
  }
  return last;
}
