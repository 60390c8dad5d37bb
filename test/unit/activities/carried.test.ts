import { describe, expect, it } from '@jest/globals';
import { createCarrying } from '../../../activities/carried.ts';
import type { Holder } from '../../../activities/carried.ts';
import type { Running } from '../../../activities/running.ts';

/** An execution that can be cancelled, for one reason or the other. */
function execution(scheduledAtMs = 1) {
  const abort = new AbortController();
  let why: ReturnType<Holder['why']> = 'ending';
  const holder: Holder = { signal: abort.signal, scheduledAtMs, why: () => why };
  return {
    holder,
    cancel(reason: typeof why) {
      why = reason;
      abort.abort(new Error(reason));
    },
  };
}
/** Work that ends when it is told to, or when it is stopped. */
function work() {
  const begun: Running[] = [];
  let finish: (value: string) => void = () => undefined;
  return {
    begun,
    finish: (value: string) => finish(value),
    run: (running: Running): Promise<string> => {
      begun.push(running);
      return new Promise((resolve, reject) => {
        finish = resolve;
        running.signal.addEventListener('abort', () => reject(running.signal.reason as Error));
      });
    },
  };
}
const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

describe('work that Temporal lost sight of', () => {
  it('is joined by the execution that asks for it again, and not begun anew', async () => {
    const carrying = createCarrying();
    const [one, two, job] = [execution(1), execution(2), work()];
    const first = carrying.hold('k', one.holder, job.run);
    one.cancel('lost');
    await expect(first).rejects.toThrow('lost');
    const second = carrying.hold('k', two.holder, job.run);
    job.finish('done');
    expect(await second).toBe('done');
    expect(job.begun.map(({ scheduledAtMs }) => scheduledAtMs)).toEqual([1]);
  });

  it('goes on when the new execution comes before the old one hears that it is lost', async () => {
    const carrying = createCarrying(10);
    const [one, two, job] = [execution(), execution(), work()];
    const first = carrying.hold('k', one.holder, job.run);
    const second = carrying.hold('k', two.holder, job.run);
    one.cancel('lost');
    await expect(first).rejects.toThrow('lost');
    await soon();
    expect(job.begun[0]!.signal.aborted).toBe(false);
    job.finish('done');
    expect(await second).toBe('done');
  });

  it('is stopped when nobody asks for it again', async () => {
    const carrying = createCarrying(5);
    const [one, job] = [execution(), work()];
    const first = carrying.hold('k', one.holder, job.run);
    one.cancel('lost');
    await expect(first).rejects.toThrow('lost');
    await soon();
    expect(job.begun[0]!.signal.aborted).toBe(true);
    expect(job.begun[0]!.cancelRequested()).toBe(false);
    const [again, anew] = [execution(), work()];
    const second = carrying.hold('k', again.holder, anew.run);
    anew.finish('done');
    expect(await second).toBe('done');
  });
});

it('work that is being stopped is not joined: the next begins when it has ended', async () => {
  const carrying = createCarrying();
  const [one, two] = [execution(), execution()];
  let gone: () => void = () => undefined;
  const slow = carrying.hold(
    'k',
    one.holder,
    () => new Promise<string>((_, reject) => (gone = () => reject(new Error('gone')))),
  );
  one.cancel('ending');
  const anew = work();
  const second = carrying.hold('k', two.holder, anew.run);
  await soon();
  expect(anew.begun).toEqual([]);
  gone();
  await expect(slow).rejects.toThrow('gone');
  await soon();
  anew.finish('done');
  expect(await second).toBe('done');
});

describe('work that is cancelled', () => {
  it.each(['asked', 'ending'] as const)(
    '%s: is stopped at once, and the execution ends when the work has',
    async (why) => {
      const carrying = createCarrying();
      const [one, job] = [execution(), work()];
      const first = carrying.hold('k', one.holder, job.run);
      one.cancel(why);
      await expect(first).rejects.toThrow(why);
      expect(job.begun[0]!.signal.aborted).toBe(true);
      expect(job.begun[0]!.cancelRequested()).toBe(why === 'asked');
    },
  );

  it('before it has begun does not leave it running', async () => {
    const carrying = createCarrying();
    const [one, job] = [execution(), work()];
    one.cancel('asked');
    await expect(carrying.hold('k', one.holder, job.run)).rejects.toThrow('asked');
    expect(job.begun[0]!.signal.aborted).toBe(true);
  });

  it('by the holder counts also for an earlier execution that still waits', async () => {
    const carrying = createCarrying();
    const [one, two, job] = [execution(), execution(), work()];
    const first = carrying.hold('k', one.holder, job.run);
    const second = carrying.hold('k', two.holder, job.run);
    two.cancel('asked');
    await expect(second).rejects.toThrow('asked');
    await expect(first).rejects.toThrow('asked');
  });
});

it('other work is other work; what failed is tried anew; heartbeats say what the work reports', async () => {
  const carrying = createCarrying();
  const [a, b] = [work(), work()];
  const one = carrying.hold('a', execution().holder, a.run);
  const two = carrying.hold('b', execution().holder, b.run);
  a.begun[0]!.report({ phase: 'agent' });
  expect([carrying.details('a'), carrying.details('b')]).toEqual([{ phase: 'agent' }, { phase: 'starting' }]);
  a.finish('A');
  b.finish('B');
  expect([await one, await two]).toEqual(['A', 'B']);
  const failing = carrying.hold('a', execution().holder, () => Promise.reject(new Error('broken')));
  await expect(failing).rejects.toThrow('broken');
  expect(await carrying.hold('a', execution().holder, async () => 'anew')).toBe('anew');
});
