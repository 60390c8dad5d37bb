import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Bench, openBench } from './fixture.ts';

jest.setTimeout(30_000);

describe('freezing, stopping and aborting', () => {
  let bench: Bench;
  beforeAll(() => {
    bench = openBench();
  });
  afterEach(() => bench.sandbox.stop('r1'));
  afterAll(() => bench.close());

  const states = async (): Promise<string[]> => (await bench.containers()).map(({ State }) => State);
  async function until(wanted: (states: string[]) => boolean): Promise<void> {
    while (!wanted(await states())) await sleep(20);
  }

  test('the deadline stands still while a run is frozen, and goes on after it is thawed', async () => {
    const running = bench.run('sleep 60', null, { deadlineMs: 2000 });
    await until((all) => all.includes('running'));
    expect(await bench.sandbox.freeze('r1')).toBe(1);
    expect(await states()).toEqual(['paused']);
    expect(await Promise.race([running, sleep(3000, 'still there')])).toBe('still there');
    expect(await bench.sandbox.thaw('r1')).toBe(1);
    const outcome = await running;
    expect(outcome.end).toBe('timeout');
    expect(outcome.durationMs).toBeLessThan(2500);
  });

  test('a step of a frozen run waits to start, holds no slot, and one of another run starts', async () => {
    await bench.sandbox.freeze('r1');
    const waiting = bench.run('echo late');
    const request = bench.request(['true']);
    expect(await bench.sandbox.runStep({ ...request, key: { ...request.key, run: 'r2' } })).toMatchObject({
      exitCode: 0,
    });
    expect(bench.sandbox.slots.taken).toBe(0);
    await bench.sandbox.thaw('r1');
    expect(await waiting).toMatchObject({ end: 'exited', output: 'late\n' });
  });

  test('freezing and thawing at any moment of a start leaves nothing paused', async () => {
    for (let round = 0; round < 6; round += 1) {
      const running = bench.run('sleep 0.2');
      await sleep(40 * round);
      await bench.sandbox.freeze('r1');
      await bench.sandbox.thaw('r1');
      expect(await running).toMatchObject({ end: 'exited', exitCode: 0 });
    }
  });

  test('stop kills within 5 s, also what is frozen, and returns when it is gone', async () => {
    const running = [bench.run('trap "" TERM; sleep 600'), bench.run('sleep 600')];
    await until((all) => all.filter((state) => state === 'running').length === 2);
    await bench.sandbox.freeze('r1');
    const waiting = bench.run('echo never');
    const before = performance.now();
    expect(await bench.sandbox.stop('r1')).toBe(3);
    expect(performance.now() - before).toBeLessThan(5000);
    expect(await bench.containers()).toEqual([]);
    for (const step of [...running, waiting]) expect(await step).toMatchObject({ end: 'killed', exitCode: null });
    expect(await bench.run('echo again')).toMatchObject({ output: 'again\n' });
  });

  test('stop of a task leaves the others of its run', async () => {
    const first = bench.run('sleep 600');
    const key = { ...bench.request(['true']).key, task: 't2' };
    const second = bench.run('sleep 2; echo lives', null, { key });
    await until((all) => all.filter((state) => state === 'running').length === 2);
    expect(await bench.sandbox.stop('r1', 't1')).toBe(1);
    expect((await first).end).toBe('killed');
    expect((await second).output).toBe('lives\n');
  });

  test('after an abort the container is gone when the step settles, at whatever moment it came', async () => {
    for (const delay of [0, 60, 150, 400, 900]) {
      const abort = new AbortController();
      const running = bench.run('sleep 600', null, {}, { signal: abort.signal });
      await sleep(delay);
      abort.abort();
      expect((await running).end).toBe('killed');
      expect(await bench.containers()).toEqual([]);
    }
  });

  test('progress is told about once a second though the step is silent', async () => {
    let beats = 0;
    await bench.run('sleep 3', null, {}, { onProgress: () => (beats += 1) });
    expect(beats).toBeGreaterThanOrEqual(3);
  });

  test('no more steps run at once than there are slots', async () => {
    const small = openBench({ slots: 2 });
    try {
      const all = Promise.all([1, 2, 3, 4].map(() => small.run('sleep 1')));
      let most = 0;
      const refusals: unknown[] = [];
      let done = false;
      void all.finally(() => (done = true));
      while (!done) {
        most = Math.max(most, (await small.containers()).length);
        if (small.sandbox.slots.taken === 2) refusals.push(await small.sandbox.admission());
        await sleep(50);
      }
      expect(most).toBe(2);
      expect(refusals).toContainEqual({ ok: false, why: expect.stringContaining('SWARMLINE_SLOTS') });
      expect(await small.sandbox.admission()).toEqual({ ok: true });
    } finally {
      await small.close();
    }
  });

  test('a host without the memory or disk for another step takes none', async () => {
    expect(await bench.sandbox.admission({ memoryBytes: 2 ** 50, diskBytes: 0 })).toMatchObject({
      ok: false,
      why: expect.stringContaining('memory'),
    });
    expect(await bench.sandbox.admission({ memoryBytes: 0, diskBytes: 2 ** 60 })).toMatchObject({
      ok: false,
      why: expect.stringContaining('disk'),
    });
  });
});
