import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { type Bench, openBench } from './fixture.ts';

/** The 300 run in `npm run chaos`. */
const STARTS = Number(process.env['SWARMLINE_TEST_STARTS'] ?? 100);
jest.setTimeout(STARTS * 3000);

describe('many short steps', () => {
  let bench: Bench;
  beforeAll(() => {
    bench = openBench({ slots: 16 });
  });
  afterAll(() => bench.close());

  test(`${STARTS} times true, 16 at once: none hangs, none is lost`, async () => {
    const outcomes = await Promise.all(
      Array.from({ length: STARTS }, () => bench.sandbox.runStep(bench.request(['true']))),
    );
    expect(outcomes.filter(({ end, exitCode }) => end !== 'exited' || exitCode !== 0)).toEqual([]);
    expect(Math.max(...outcomes.map(({ durationMs }) => durationMs))).toBeLessThan(30_000);
    expect(await bench.containers()).toEqual([]);
  });
});
