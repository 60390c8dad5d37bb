/** Random numbers that can be had again: the seed is printed, SWARMLINE_CHAOS_SEED sets it. */
export interface Dice {
  readonly seed: number;
  /** A whole number from 0 to below `limit`. */
  below(limit: number): number;
  pick<T>(of: readonly T[]): T;
}

/** mulberry32: small, good enough for choosing instants. */
export function rollFrom(seed: number): Dice {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return { seed, below, pick: (of) => of[below(of.length)]! };
}

export function throwDice(): Dice {
  const given = process.env['SWARMLINE_CHAOS_SEED'];
  return rollFrom(given === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(given));
}
