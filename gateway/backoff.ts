/**
 * One back-off for all who call an upstream with the same key: when it asks for patience, nobody calls until then.
 *
 * 1. Retry-After is honoured, in seconds or as a date. Without one: 1 s, doubled with each refusal in a row, at most 60 s.
 * 2. After the wait they do not all come at once: each adds up to a fifth of the wait, by chance.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Caller } from './types.ts';

const FIRST_MS = 1_000;
const MOST_MS = 60_000;
/** A Retry-After beyond this is taken for a mistake of the upstream; it is asked again then. */
const LONGEST_MS = 15 * 60_000;

export interface Backoff {
  /** Returns at once when nobody has to wait. Rejects when the caller leaves. */
  wait(signal: AbortSignal, caller: Pick<Caller, 'run' | 'task'>): Promise<void>;
  waiting(): { readonly run: string; readonly task: string; readonly sinceMs: number }[];
  /** The upstream refused for now. @param retryAfter its header, null: none. Returns until when nobody calls, ms since the epoch. */
  refused(retryAfter: string | null): number;
  accepted(): void;
}

export function createBackoff(now: () => number = Date.now, chance: () => number = Math.random): Backoff {
  let untilMs = 0;
  let inARow = 0;
  const waiters = new Set<ReturnType<Backoff['waiting']>[number]>();
  return {
    async wait(signal, { run, task }) {
      const waiter = { run, task, sinceMs: now() };
      waiters.add(waiter);
      try {
        for (let left = untilMs - now(); left > 0; left = untilMs - now()) {
          await delay(Math.ceil(left * (1 + chance() / 5)), undefined, { signal });
        }
      } finally {
        waiters.delete(waiter);
      }
    },
    waiting: () => [...waiters],
    refused(retryAfter) {
      const own = Math.min(MOST_MS, FIRST_MS * 2 ** inARow);
      // Many calls that were under way together are refused together: that is one refusal.
      if (untilMs <= now()) inARow += 1;
      untilMs = Math.max(untilMs, now() + Math.min(LONGEST_MS, retryAfterMs(retryAfter, now()) ?? own));
      return untilMs;
    },
    accepted() {
      inARow = 0;
    },
  };
}

/** RFC 9110, section 10.2.3: seconds or an HTTP date. null: neither. */
export function retryAfterMs(header: string | null, nowMs: number): number | null {
  if (header === null) return null;
  if (/^\d+(?:\.\d+)?$/.test(header.trim())) return Math.ceil(Number(header) * 1000);
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs);
}
