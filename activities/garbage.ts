/** `swarmline gc`: removes what `policy.keepDays` allows, and nothing of a run whose outcome is not final and recorded. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isFinal } from '../spec/task-state.ts';
import { listRuns, listTasks, loadSpec } from '../store/index.ts';
import type { AdmissionDeps } from './admission-deps.ts';

const DAY_MS = 86_400_000;

/** Task refs of ended runs older than their keep days; the hub of a run goes with them only when it was delivered or had no landed work. */
export async function collectRuns(
  deps: AdmissionDeps,
  keepDays: number | null,
): Promise<{ runs: number; refs: number; rows: number }> {
  let runs = 0;
  let refs = 0;
  for (const { id: run, endedAtMs } of await listRuns(deps.db, 10_000)) {
    if (endedAtMs === null) continue;
    const { policy } = await loadSpec(deps.db, run);
    const keepBefore = new Date(Date.now() - (keepDays ?? policy.keepDays) * DAY_MS);
    if (endedAtMs > keepBefore.getTime()) continue;
    let hub;
    try {
      hub = await deps.hub(run);
    } catch {
      continue; // collected already, or another worker's
    }
    const tasks = await listTasks(deps.db, run);
    const gone = await hub.prune({
      keepBefore,
      finalTasks: tasks.filter(({ state }) => isFinal(state)).map(({ id }) => id),
    });
    if (gone.length > 0) runs += 1;
    refs += gone.length;
    await rm(join(deps.hubRoot, `${run}.spec.json`), { force: true });
  }
  return { runs, refs, rows: 0 };
}
