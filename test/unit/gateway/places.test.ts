import { describe, expect, it } from '@jest/globals';
import { createBackoff, retryAfterMs } from '../../../gateway/backoff.ts';
import { createPlaces } from '../../../gateway/places.ts';
import type { CallResult, Ledger, Reserved, WantedCall } from '../../../gateway/types.ts';
import { NO_USAGE } from '../../../gateway/types.ts';

let ids = 0;
const call = (task: string, run = 'r'): WantedCall => ({
  id: `c${++ids}`,
  caller: { run, task, attempt: 1, role: 'worker', model: null },
  upstream: 'anthropic',
  model: 'm',
  limits: { requestsPerMinute: null, tokensPerMinute: null },
  estimate: NO_USAGE,
});

/** So many at once; everything else is refused for want of a place. */
function ledgerOf(most: number) {
  const open = new Set<string>();
  const settled: { id: string; result: CallResult }[] = [];
  let budget: string | null = null;
  const ledger: Ledger = {
    async reserve({ id }): Promise<Reserved> {
      await Promise.resolve();
      if (budget !== null) return { ok: false, refusal: 'budget', why: budget, retryMs: 10 };
      if (open.size >= most) return { ok: false, refusal: 'places', why: 'full', retryMs: 10_000 };
      open.add(id);
      return { ok: true };
    },
    async settle({ id }, result) {
      await Promise.resolve();
      open.delete(id);
      settled.push({ id, result });
    },
  };
  return { ledger, open, settled, limit: (why: string | null) => (budget = why) };
}
const never = new AbortController().signal;

describe('places', () => {
  it('are given to whose task has fewest calls under way, then to who came first', async () => {
    const { ledger, open } = ledgerOf(2);
    const places = createPlaces({ ledger });
    const admitted: string[] = [];
    const enter = async (wanted: WantedCall): Promise<void> => {
      await places.enter(wanted, never);
      admitted.push(wanted.caller.task);
    };
    const greedy = [call('greedy'), call('greedy')];
    await Promise.all(greedy.map(enter));
    const waits = [call('greedy'), call('greedy'), call('modest')].map(enter);
    open.delete(greedy[0]!.id);
    places.leave(greedy[0]!);
    await Promise.race(waits);
    expect(admitted).toEqual(['greedy', 'greedy', 'modest']);
    places.close();
    await Promise.allSettled(waits);
  });

  it('who leaves while waiting waits no longer, and holds nothing', async () => {
    const { ledger, settled, open } = ledgerOf(0);
    const places = createPlaces({ ledger });
    const leaving = new AbortController();
    const waiting = places.enter(call('a'), leaving.signal);
    leaving.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    expect(places.waiting()).toEqual([]);
    expect([open.size, settled.length]).toEqual([0, 0]);
    places.close();
  });

  it('a reservation that comes when its caller has left is given back', async () => {
    const { ledger, open, settled } = ledgerOf(1);
    const places = createPlaces({ ledger });
    const leaving = new AbortController();
    const waiting = places.enter(call('a'), leaving.signal);
    await Promise.resolve(); // the ledger has been asked, and has not answered
    leaving.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    await places.enter(call('b'), never);
    expect(settled.map(({ result }) => result.end)).toEqual(['aborted']);
    expect(open.size).toBe(1);
    places.close();
  });

  it('at its limit a run is told of once, its callers wait, and go on when the limit was raised', async () => {
    const { ledger, limit } = ledgerOf(5);
    const told: string[] = [];
    const places = createPlaces({ ledger, onBudget: (run, why) => told.push(`${run}: ${why}`) });
    limit('spent');
    const waits = [call('a'), call('b')].map((wanted) => places.enter(wanted, never));
    while (told.length === 0) await Promise.resolve();
    expect(places.waiting().every(({ run }) => run === 'r')).toBe(true);
    limit(null);
    places.wake();
    await Promise.all(waits);
    expect(told).toEqual(['r: spent']);
    places.close();
  });

  it('a run without places holds up no other run', async () => {
    const full = ledgerOf(9);
    const ledger: Ledger = {
      ...full.ledger,
      reserve: async (wanted) =>
        wanted.caller.run === 'full'
          ? { ok: false, refusal: 'places', why: 'full', retryMs: 10_000 }
          : full.ledger.reserve(wanted),
    };
    const places = createPlaces({ ledger });
    const held = places.enter(call('a', 'full'), never);
    await places.enter(call('b', 'free'), never);
    places.close();
    await expect(held).rejects.toThrow('stopping');
  });
});

describe('back-off', () => {
  it('honours Retry-After in seconds and as a date', () => {
    expect(retryAfterMs('2', 0)).toBe(2_000);
    expect(retryAfterMs('0.5', 0)).toBe(500);
    expect(retryAfterMs('Thu, 01 Jan 1970 00:00:09 GMT', 4_000)).toBe(5_000);
    expect(retryAfterMs('soon', 0)).toBeNull();
    expect(retryAfterMs(null, 0)).toBeNull();
  });

  it('doubles from a second to a minute without one, and begins anew after an answer', () => {
    let nowMs = 0;
    const backoff = createBackoff(() => nowMs);
    const waits: number[] = [];
    for (let i = 0; i < 8; i++) {
      waits.push(backoff.refused(null) - nowMs);
      nowMs += 10 * 60_000;
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    backoff.accepted();
    expect(backoff.refused(null) - nowMs).toBe(1_000);
  });

  it('many that are refused together count as one refusal, and nobody shortens the wait', () => {
    const backoff = createBackoff(() => 0);
    expect(backoff.refused('10')).toBe(10_000);
    for (let i = 0; i < 20; i++) expect(backoff.refused(null)).toBe(10_000);
  });

  it('who leaves stops waiting', async () => {
    const backoff = createBackoff();
    backoff.refused('600');
    const leaving = new AbortController();
    const caller = { run: 'r', task: 't' };
    const waiting = backoff.wait(leaving.signal, caller);
    expect(backoff.waiting()).toEqual([{ ...caller, sinceMs: expect.any(Number) }]);
    leaving.abort();
    await expect(waiting).rejects.toThrow(/abort/);
  });
});
