import { describe, expect, test } from '@jest/globals';
import { shareSlots } from '../../../spec/slots.ts';

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

describe('slots shared out over the parts of a wave', () => {
  test('go by size, so that a small last part keeps none that a full one could use', () => {
    expect(shareSlots(200, [80, 80, 80, 16])).toEqual([63, 62, 63, 12]);
  });

  test('are all of the limit, and one at least for each', () => {
    for (const limit of [1, 2, 3, 7, 64, 200, 1000]) {
      for (const sizes of [[1], [80, 1], [80, 80, 80, 3], Array.from({ length: 13 }, () => 80)]) {
        const shares = shareSlots(limit, sizes);
        expect(Math.min(...shares)).toBeGreaterThanOrEqual(1);
        expect(sum(shares)).toBe(Math.max(limit, sizes.length));
      }
    }
  });

  test('there are none to share where there is nobody', () => {
    expect(shareSlots(10, [])).toEqual([]);
  });
});
