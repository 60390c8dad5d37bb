/** Tells the store every few seconds who waits at this host's gateway, so that `cost` and `status` can say so from anywhere. */
import type { Gateway } from '../gateway/index.ts';
import { saveWaiting } from '../store/index.ts';
import { every } from './every.ts';
import type { WorkerContext } from './role.ts';

const TELL_MS = 3_000;

export function tellWaiting(
  { db, log, config }: Pick<WorkerContext, 'db' | 'log' | 'config'>,
  waiting: Gateway['waiting'],
): NodeJS.Timeout {
  let told = true; // a gateway that was killed may have left some
  return every(
    TELL_MS,
    async () => {
      const now = Date.now();
      const waiters = waiting().map(({ run, task, refusal, sinceMs }) => ({
        run,
        task,
        refusal: refusal ?? 'places',
        waitedMs: now - sinceMs,
      }));
      if (waiters.length === 0 && !told) return;
      await saveWaiting(db, config.hostId, waiters);
      told = waiters.length > 0;
    },
    log,
  );
}
