/** Who is missing for a run to go on, whatever its record says: Temporal itself, or a worker that polls one of its queues. */
import type { Context } from './context.ts';
import { MissingError } from './exit.ts';
import type { WaitLine } from './render/waiting.ts';
import type { PollingWorker } from './temporal.ts';

/** What stands still without it. */
const WITHOUT: Readonly<Record<PollingWorker, string>> = {
  orchestrator: 'none is running; nothing of the run moves',
  mainline: 'none is running; nothing is admitted, merged or delivered',
  sandbox: 'none is running; no agent and no gate runs',
};

/** The waits to show first; none when every queue is polled. A worker that was killed is missed after 90 s: so long it counts as polling. */
export async function standstills(context: Context): Promise<WaitLine[]> {
  try {
    const { missingWorkers } = await import('./temporal.ts');
    const missing = await missingWorkers(await context.temporal());
    return missing.map((worker) => line(`the ${worker} worker`, WITHOUT[worker], './swarmline up'));
  } catch (error) {
    if (!(error instanceof MissingError)) throw error;
    const { what, command } = error.explanation;
    const first = typeof command === 'string' ? command : (command?.[0] ?? null);
    return [line('Temporal', what, first)];
  }
}

const line = (on: string, why: string, command: string | null): WaitLine => ({
  task: null,
  on,
  why,
  sinceMs: null,
  command,
});
