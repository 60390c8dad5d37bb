import { describe, expect, jest, test } from '@jest/globals';
import { Deadline } from '../../../sandbox/deadline.ts';
import { Semaphore } from '../../../sandbox/semaphore.ts';
import { shared } from '../../../sandbox/shared-work.ts';

describe('a semaphore', () => {
  test('lets as many in as it has places, the others in the order in which they came', async () => {
    const semaphore = new Semaphore(2);
    const order: number[] = [];
    const first = await semaphore.acquire();
    const second = await semaphore.acquire();
    const later = [3, 4].map(async (n) => {
      const release = await semaphore.acquire();
      order.push(n);
      release();
    });
    expect([semaphore.taken, semaphore.waiting]).toEqual([2, 2]);
    first();
    first(); // twice is once
    await Promise.all(later);
    expect(order).toEqual([3, 4]);
    second();
    expect(semaphore.taken).toBe(0);
  });

  test('one that gives up leaves its place in the queue to the next', async () => {
    const semaphore = new Semaphore(1);
    const release = await semaphore.acquire();
    const abort = new AbortController();
    const quitter = semaphore.acquire(abort.signal);
    const patient = semaphore.acquire();
    abort.abort(new Error('enough'));
    await expect(quitter).rejects.toThrow('enough');
    release();
    (await patient)();
    expect([semaphore.taken, semaphore.waiting]).toEqual([0, 0]);
  });
});

describe('a deadline', () => {
  test('counts only the time in which it runs', () => {
    jest.useFakeTimers();
    try {
      const expired = jest.fn();
      const deadline = new Deadline(1000, expired);
      deadline.run();
      jest.advanceTimersByTime(600);
      deadline.hold();
      jest.advanceTimersByTime(60_000);
      expect(deadline.elapsedMs()).toBe(600);
      deadline.run();
      deadline.run();
      jest.advanceTimersByTime(399);
      expect(expired).not.toHaveBeenCalled();
      jest.advanceTimersByTime(2);
      expect(expired).toHaveBeenCalledTimes(1);
    } finally {
      jest.useRealTimers();
    }
  });
});

describe('shared work', () => {
  test('is done once for all who wait at the same time, and again for who comes later', async () => {
    let times = 0;
    const work = (): Promise<void> => {
      times += 1;
      return Promise.resolve();
    };
    await Promise.all([shared('a', undefined, work), shared('a', undefined, work)]);
    expect(times).toBe(1);
    await shared('a', undefined, work);
    expect(times).toBe(2);
  });

  test('goes on when one of two leaves, and stops when the last one does', async () => {
    let stopped = false;
    const work = (signal: AbortSignal): Promise<void> =>
      new Promise((_, reject) =>
        signal.addEventListener('abort', () => ((stopped = true), reject(new Error('stopped')))),
      );
    const [one, two] = [new AbortController(), new AbortController()];
    const first = shared('b', one.signal, work);
    const second = shared('b', two.signal, work);
    one.abort(new Error('one left'));
    await expect(first).rejects.toThrow('one left');
    expect(stopped).toBe(false);
    two.abort(new Error('two left'));
    await expect(second).rejects.toThrow('two left');
    expect(stopped).toBe(true);
  });

  test('a failure reaches everyone and is not kept', async () => {
    const failing = (): Promise<void> => Promise.reject(new Error('no'));
    const both = [shared('c', undefined, failing), shared('c', undefined, failing)];
    for (const one of both) await expect(one).rejects.toThrow('no');
    await shared('c', undefined, () => Promise.resolve());
  });
});
