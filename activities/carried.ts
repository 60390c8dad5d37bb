/**
 * Work that outlives the execution that asked for it. When Temporal was away for longer than a heartbeat may be missed, it asks for running
 * activities again, often from the very worker that still runs them: the new execution joins the work instead of beginning it anew.
 *
 * 1. The same work (same activity, same input) runs once in a process, whoever asks and however often.
 * 2. A person's word, or the worker's end, stops it at once. An execution that Temporal has merely lost sight of leaves it running for a
 *    while: long enough for the next one to come.
 * 3. Whoever asked last is the holder: what becomes of earlier ones no longer matters to the work.
 */

/** What the work sees of whoever asked for it. */
export interface Running {
  /** Aborted with the CancelledFailure of whoever held it last. */
  readonly signal: AbortSignal;
  /** When it was asked for first, ms since the epoch. */
  readonly scheduledAtMs: number;
  /** What the next heartbeats say. */
  report(details: object): void;
  /** A person or the workflow asked for the end (not: this worker is shutting down, or the heartbeat came too late). */
  cancelRequested(): boolean;
}

/** Temporal asks again within seconds of its return (a backoff of at most 10 s); then nobody wants it, or somebody elsewhere has it. */
export const ORPHANED_MS = 30_000;

/** One execution of an activity, as far as its work has to know. */
export interface Holder {
  readonly signal: AbortSignal;
  readonly scheduledAtMs: number;
  /** Once cancelled: a person or the workflow asked for it; the worker ends; Temporal has lost sight of this execution. */
  why(): 'asked' | 'ending' | 'lost';
}

interface Carried {
  readonly result: Promise<unknown>;
  readonly abort: AbortController;
  details: object;
  holder: Holder;
  orphan: ReturnType<typeof setTimeout> | null;
}

export interface Carrying {
  /**
   * The result of the work, begun now or under way already. Rejects with the signal's reason as soon as this execution is cancelled and the
   * work does not end because of it; else when the work has ended.
   */
  hold<T>(key: string, holder: Holder, work: (running: Running) => Promise<T>): Promise<T>;
  /** What heartbeats say of it. */
  details(key: string): object;
}

export function createCarrying(orphanedMs: number = ORPHANED_MS): Carrying {
  const underWay = new Map<string, Carried>();

  const begin = (key: string, holder: Holder, work: (running: Running) => Promise<unknown>): Carried => {
    const abort = new AbortController();
    const carried: { details: object; holder: Holder } = { details: { phase: 'starting' }, holder };
    const running: Running = {
      signal: abort.signal,
      scheduledAtMs: holder.scheduledAtMs,
      report: (details) => void (carried.details = details),
      cancelRequested: () => abort.signal.aborted && carried.holder.why() === 'asked',
    };
    const result = work(running).finally(() => underWay.delete(key));
    result.catch(() => undefined); // it may have lost everybody who would hear of it
    return Object.assign(carried, { result, abort, orphan: null });
  };

  return {
    details: (key) => underWay.get(key)?.details ?? { phase: 'starting' },
    async hold<T>(key: string, holder: Holder, work: (running: Running) => Promise<T>): Promise<T> {
      // What is being stopped is not joined: its container has to be gone before the next one begins.
      for (let ending = underWay.get(key); ending?.abort.signal.aborted === true; ending = underWay.get(key)) {
        await ending.result.catch(() => undefined);
      }
      const carried = underWay.get(key) ?? begin(key, holder, work);
      underWay.set(key, carried);
      carried.holder = holder;
      if (carried.orphan !== null) clearTimeout(carried.orphan);
      carried.orphan = null;
      const { signal } = holder;
      const lost = new Promise<never>((_, reject) => {
        const cancelled = (): void => {
          const ours = carried.holder === holder;
          if (ours && holder.why() !== 'lost') {
            carried.abort.abort(signal.reason);
            return; // the work says when it has ended
          }
          if (ours) carried.orphan = setTimeout(() => carried.abort.abort(signal.reason), orphanedMs);
          reject(signal.reason as Error);
        };
        if (signal.aborted) cancelled();
        else signal.addEventListener('abort', cancelled, { once: true });
      });
      return Promise.race([carried.result as Promise<T>, lost]);
    },
  };
}
