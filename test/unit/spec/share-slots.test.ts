import { describe, expect, test } from '@jest/globals';
import { balanceSlots, reservedSlots, shareSlots, slotsToRun } from '../../../spec/slots.ts';

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

describe('slots shared out over the parts of a wave', () => {
  test('go by size, so that a small last part keeps none that a full one could use', () => {
    expect(shareSlots(200, [80, 80, 80, 16])).toEqual([63, 62, 63, 12]);
  });

  test('are all of the limit and never more, and one at least for each while they last', () => {
    for (const limit of [1, 2, 3, 7, 64, 200, 1000]) {
      for (const sizes of [[1], [80, 1], [80, 80, 80, 3], Array.from({ length: 13 }, () => 80)]) {
        const shares = shareSlots(limit, sizes);
        expect(Math.min(...shares)).toBeGreaterThanOrEqual(limit >= sizes.length ? 1 : 0);
        expect(sum(shares)).toBe(limit);
      }
    }
  });

  test('there are none to share where there is nobody', () => {
    expect(shareSlots(10, [])).toEqual([]);
  });
});

test('slots to run some tasks leave what is reserved on top', () => {
  for (const tasks of [0, 1, 8, 9, 10, 18, 80, 200]) {
    const slots = slotsToRun(tasks);
    expect(slots - reservedSlots(slots)).toBe(tasks);
  }
});

describe('slots that move between groups', () => {
  const share = (slots: number, wants: number, asked = 0) => ({ slots, wants, asked });

  test('what is free goes to whoever lacks it', () => {
    expect(balanceSlots(20, [share(4, 4), share(0, 6)])).toEqual([
      { give: 0, ask: 0 },
      { give: 6, ask: 0 },
    ]);
  });

  test('what others cannot use is asked for, once', () => {
    expect(balanceSlots(4, [share(4, 1), share(0, 2)])).toEqual([
      { give: 0, ask: 2 },
      { give: 0, ask: 0 },
    ]);
    expect(balanceSlots(4, [share(4, 1, 2), share(0, 2)])).toEqual([
      { give: 0, ask: 0 },
      { give: 0, ask: 0 },
    ]);
  });

  test('a group that has none gets its share of what others use; small differences stay as they are', () => {
    expect(balanceSlots(20, [share(20, 80), share(0, 20)])[0]).toEqual({ give: 0, ask: 4 });
    expect(balanceSlots(20, [share(17, 80), share(3, 20)])[0]).toEqual({ give: 0, ask: 0 });
  });

  test('invariant: whatever the groups want, return and when, together they never have more than the limit, and all get their turn', () => {
    const seed = Date.now() % 100_000;
    let state = seed;
    const faults: string[] = [];
    const dice = (below: number): number => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((state / 2_147_483_648) * below);
    };
    for (let round = 0; round < 200; round++) {
      const limit = 1 + dice(30);
      const groups = Array.from({ length: 1 + dice(6) }, () => ({ slots: 0, asked: 0, wants: dice(40), using: 0 }));
      for (let step = 0; step < 20_000 && groups.some(({ wants }) => wants > 0); step++) {
        for (const [index, { give, ask }] of balanceSlots(limit, groups).entries()) {
          groups[index]!.slots += give;
          groups[index]!.asked += ask;
        }
        const given = sum(groups.map(({ slots }) => slots));
        if (given > limit) faults.push(`${given} of ${limit} slots, seed ${seed}`);
        const group = groups[dice(groups.length)]!;
        if (dice(2) === 0) group.using = Math.min(group.slots, group.wants);
        else [group.wants, group.using] = [Math.max(0, group.wants - group.using), 0]; // they ended
        const back = Math.max(0, Math.min(group.slots - group.using, Math.max(group.asked, group.slots - group.wants)));
        group.slots -= back;
        group.asked = Math.max(0, group.asked - back);
      }
      const left = sum(groups.map(({ wants }) => wants));
      if (left > 0)
        throw new Error(`${left} still want a slot of ${JSON.stringify(groups)}, limit ${limit}, seed ${seed}`);
    }
    expect(faults).toEqual([]);
  });
});
