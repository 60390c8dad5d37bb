/**
 * The hubs that this mainline worker has open, each under a Postgres advisory lock.
 *
 * 1. A hub is written only by the process that holds its lock (as well as by the queue): a second mainline worker is told who has it.
 */
import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/activity';
import { openHub } from '../mainline/hub.ts';
import type { Hub } from '../mainline/hub.ts';
import { holdHubLock, LockBusy } from '../store/index.ts';
import type { HeldLock, Pool } from '../store/index.ts';

export interface Hubs {
  /** Throws a retryable failure while another process holds the hub. */
  readonly open: (run: string) => Promise<Hub>;
  readonly close: () => Promise<void>;
}

export function createHubs(pool: Pool, root: string): Hubs {
  const held = new Map<string, Promise<{ hub: Hub; lock: HeldLock }>>();
  const take = async (run: string): Promise<{ hub: Hub; lock: HeldLock }> => {
    try {
      const lock = await holdHubLock(pool, run, { waitMs: 5_000 });
      lock.lost.addEventListener('abort', () => held.delete(run));
      return { hub: await openHub(join(root, `${run}.git`)), lock };
    } catch (error) {
      held.delete(run);
      if (!(error instanceof LockBusy)) throw error;
      throw ApplicationFailure.create({
        message: `Another mainline worker holds the hub of ${run}; this one waits. Run one mainline worker per hub directory. (${error.message})`,
        type: 'HubBusy',
        cause: error,
      });
    }
  };
  return {
    async open(run) {
      let entry = held.get(run);
      if (entry === undefined) {
        entry = take(run);
        held.set(run, entry);
      }
      return (await entry).hub;
    },
    async close() {
      const entries = await Promise.allSettled(held.values());
      held.clear();
      for (const entry of entries) if (entry.status === 'fulfilled') await entry.value.lock.release();
    },
  };
}
