/**
 * Callers wait here for a reservation: for a place among the run's calls, for the key's rate, for money.
 *
 * 1. Fair between tasks: whoever has fewest calls under way is asked for first, then who came first.
 * 2. A refusal makes a caller wait, never fail; only leaving ends the wait. (But a task that has spent its own budget: it is told.)
 * 3. The ledger is asked in one pass at a time, again as soon as a place is freed here, and in any case after the time that the
 *    refusal named (places on other hosts, a raised budget).
 */
import { BUDGET_SPENT } from '../spec/budget.ts';
import { RequestRefused } from './refused.ts';
import type { Ledger, Refusal, WantedCall } from './types.ts';

interface Waiter {
  readonly call: WantedCall;
  readonly sinceMs: number;
  readonly admit: () => void;
  readonly fail: (error: unknown) => void;
}

export interface Waiting {
  readonly run: string;
  readonly task: string;
  readonly sinceMs: number;
  /** `patience`: the upstream asked for it (429, 529). null: the ledger has not answered yet. */
  readonly refusal: Refusal | 'patience' | null;
}

export interface Places {
  /** Resolves when the call is reserved; rejects with the signal's reason when the caller leaves first. */
  enter(call: WantedCall, signal: AbortSignal): Promise<void>;
  /** A call has ended. */
  leave(call: WantedCall): void;
  /** Something has changed elsewhere (a budget was raised): ask again now. */
  wake(): void;
  waiting(): Waiting[];
  close(): void;
}

export interface PlacesOptions {
  readonly ledger: Ledger;
  readonly now?: () => number;
  /** Told once each time that a run comes to its limit. */
  readonly onBudget?: (run: string, why: string) => void;
  readonly onError?: (error: unknown) => void;
}

/** After an error of the ledger (the database is away): callers wait on. */
const RETRY_MS = 1_000;

export function createPlaces({ ledger, now = Date.now, onBudget, onError }: PlacesOptions): Places {
  const waiters = new Map<string, Waiter>();
  const refusals = new Map<string, Refusal>();
  const underWay = new Map<string, number>();
  const overBudget = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | null = null;
  let asking = false;
  let again = false;
  let closed = false;

  const taskOf = ({ caller }: WantedCall): string => `${caller.run}/${caller.task}`;
  const inTurn = (): Waiter[] =>
    [...waiters.values()].toSorted(
      (a, b) => (underWay.get(taskOf(a.call)) ?? 0) - (underWay.get(taskOf(b.call)) ?? 0) || a.sinceMs - b.sinceMs,
    );

  /** One pass over who waits. Returns when to ask again; null: nobody waits. */
  const pass = async (): Promise<number | null> => {
    let next: number | null = null;
    const full = new Set<string>();
    const tried = new Set<string>();
    for (;;) {
      // In turn anew after each admission: it changes whose turn it is.
      const waiter = inTurn().find(
        ({ call }) => !tried.has(call.id) && !full.has(call.caller.run) && !full.has(`rate:${call.upstream}`),
      );
      if (waiter === undefined) return waiters.size === 0 ? null : (next ?? RETRY_MS);
      const { call } = waiter;
      tried.add(call.id);
      const answer = await ledger.reserve(call);
      if (answer.ok) {
        overBudget.delete(call.caller.run);
        if (waiters.delete(call.id)) {
          underWay.set(taskOf(call), (underWay.get(taskOf(call)) ?? 0) + 1);
          waiter.admit();
        } else {
          await ledger.settle(call, gone(waiter, now()));
        }
        continue;
      }
      if (answer.refusal === 'denied') {
        waiters.delete(call.id);
        waiter.fail(new RequestRefused(403, `${BUDGET_SPENT} ${answer.why}`));
        continue;
      }
      refusals.set(call.id, answer.refusal);
      next = Math.min(next ?? answer.retryMs, answer.retryMs);
      if (answer.refusal === 'places') full.add(call.caller.run);
      if (answer.refusal === 'rate') full.add(`rate:${call.upstream}`);
      if (answer.refusal === 'budget' && !overBudget.has(call.caller.run)) {
        overBudget.add(call.caller.run);
        onBudget?.(call.caller.run, answer.why);
      }
    }
  };

  const ask = async (): Promise<void> => {
    if (asking) {
      again = true;
      return;
    }
    asking = true;
    if (timer !== null) clearTimeout(timer);
    timer = null;
    let next: number | null;
    do {
      again = false;
      next = await pass().catch((error: unknown) => {
        onError?.(error);
        return RETRY_MS;
      });
    } while (again && !closed);
    asking = false;
    if (next !== null && !closed) timer = setTimeout(() => void ask(), next);
  };

  return {
    enter: (call, signal) =>
      new Promise<void>((resolve, reject) => {
        const leave = (): void => {
          waiters.delete(call.id);
          refusals.delete(call.id);
          reject(signal.reason as Error);
        };
        if (signal.aborted) return leave();
        const done = (): void => {
          signal.removeEventListener('abort', leave);
          refusals.delete(call.id);
        };
        signal.addEventListener('abort', leave, { once: true });
        waiters.set(call.id, {
          call,
          sinceMs: now(),
          admit: () => (done(), resolve()),
          fail: (error) => (done(), reject(error as Error)),
        });
        void ask();
      }),
    leave(call) {
      const task = taskOf(call);
      const left = (underWay.get(task) ?? 1) - 1;
      if (left > 0) underWay.set(task, left);
      else underWay.delete(task);
      if (waiters.size > 0) void ask();
    },
    wake: () => void ask(),
    waiting: () =>
      [...waiters.values()].map(({ call, sinceMs }) => ({
        run: call.caller.run,
        task: call.caller.task,
        sinceMs,
        refusal: refusals.get(call.id) ?? null,
      })),
    close() {
      closed = true;
      if (timer !== null) clearTimeout(timer);
      for (const { fail } of waiters.values()) fail(new Error('The gateway is stopping'));
      waiters.clear();
    },
  };
}

/** Reserved at the moment at which its caller left: nothing was sent. */
const gone = (waiter: Waiter, nowMs: number) =>
  ({
    end: 'aborted',
    status: null,
    usage: { inputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 0 },
    estimated: false,
    waitedMs: nowMs - waiter.sinceMs,
    retries: 0,
  }) as const;
