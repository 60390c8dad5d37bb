import { describe, expect, test } from '@jest/globals';
import { budgetRatio, peakInFlight, waitsOf } from '../../../bench/overhead-times.ts';
import { median, row, table } from '../../../bench/row.ts';

describe('rows of a benchmark', () => {
  test('a budget is of the ratio where there is a peer, of the value where there is none', () => {
    expect(row({ name: 'a', value: 150, unit: 'ms', peer: { name: 'p', value: 100 }, budget: 1.5 })).toEqual({
      name: 'a',
      value: 150,
      unit: 'ms',
      peer: 'p',
      peerValue: 100,
      ratio: 1.5,
      budget: 1.5,
      holds: true,
    });
    expect(row({ name: 'b', value: 61, unit: 'events', budget: 60 })).toMatchObject({ ratio: null, holds: false });
  });

  test('without a budget nothing is said to hold', () => {
    expect(row({ name: 'a', value: 1, unit: 'ms' })).toMatchObject({ budget: null, holds: null });
  });

  test('a ratio is judged before it is rounded', () => {
    expect(row({ name: 'a', value: 1.50001, unit: 's', peer: { name: 'p', value: 1 }, budget: 1.5 }).holds).toBe(false);
  });

  test('the table names what does not hold', () => {
    expect(table([row({ name: 'b', value: 61, unit: 'events', budget: 60 })])).toMatch(
      /^b +61 events +≤ 60 +DOES NOT HOLD$/m,
    );
  });

  test('the median of an even number is the mean of the middle two', () => {
    expect([median([3, 1, 2]), median([4, 1, 2, 3])]).toEqual([2, 2.5]);
  });
});

describe('waiting on us', () => {
  const task = {
    claimedMs: 1000,
    agentStartMs: 1500,
    agentEndMs: 3500,
    submittedMs: 4000,
    gateStartMs: 4100,
    gateEndMs: 4200,
    landedMs: 5000,
  };

  test('is the time from startable to landed without the agent’s, and its parts add up to it', () => {
    const { task: whole, agent, waiting, parts } = waitsOf([task, { ...task, landedMs: 6000 }], 0);
    expect({ whole, agent, waiting }).toEqual({ whole: 5.5, agent: 2, waiting: 3.5 });
    expect(Object.values(parts).reduce((a, b) => a + b, 0)).toBeCloseTo(waiting);
  });

  test('agents at once: one that ends when another begins does not count twice', () => {
    expect(
      peakInFlight([
        { agentStartMs: 0, agentEndMs: 10 },
        { agentStartMs: 10, agentEndMs: 20 },
        { agentStartMs: 5, agentEndMs: 15 },
      ]),
    ).toBe(2);
  });

  test('shorter tasks are given the same seconds as tasks of 120 s', () => {
    expect([budgetRatio(64, 120), budgetRatio(256, 120), budgetRatio(1024, 120)]).toEqual([1.03, 1.05, 1.1]);
    expect((budgetRatio(64, 20)! - 1) * 20).toBeCloseTo(3.6);
    expect(budgetRatio(2000, 120)).toBeNull();
  });
});
