import type { WorkerContext } from './role.ts';

/** Housekeeping at an interval; a failure is logged, and tried again the next time. */
export function every(ms: number, act: () => Promise<void>, log: WorkerContext['log']): NodeJS.Timeout {
  return setInterval(() => {
    act().catch((error: unknown) => log.warn({ error: String(error) }, 'housekeeping failed; it is tried again'));
  }, ms);
}
