/**
 * Who gets a free slot. A slot is held only while an agent or a gate runs, never while a task waits for the mainline or a person.
 *
 * Invariants:
 * 1. Never more than `limit` slots are held.
 * 2. `fix`, `merge` and `split` tasks find a slot kept for them: others take all but the reserved ones.
 * 3. At most one `dependency-update` task runs at a time.
 */
import type { TaskKind } from './model.ts';

export interface SlotSeeker {
  readonly task: string;
  readonly kind: TaskKind;
}

const URGENT: ReadonlySet<TaskKind> = new Set(['fix', 'merge', 'split']);

/** Slots kept free for urgent kinds: one in ten, none where there are fewer than ten. */
export const reservedSlots = (limit: number): number => Math.floor(limit / 10);

/** The seekers, in their given order, that get a slot now. */
export function grantSlots(seekers: readonly SlotSeeker[], held: readonly SlotSeeker[], limit: number): SlotSeeker[] {
  const granted: SlotSeeker[] = [];
  let updating = held.some(({ kind }) => kind === 'dependency-update');
  for (const seeker of seekers) {
    const ceiling = URGENT.has(seeker.kind) ? limit : limit - reservedSlots(limit);
    if (held.length + granted.length >= ceiling) continue;
    if (seeker.kind === 'dependency-update') {
      if (updating) continue;
      updating = true;
    }
    granted.push(seeker);
  }
  return granted;
}

/** `limit` slots shared out over groups by their sizes, each at least one; the sum is `limit` where that is enough for one each. */
export function shareSlots(limit: number, sizes: readonly number[]): number[] {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const shares: number[] = [];
  let [left, rest] = [limit, total];
  for (const [index, size] of sizes.entries()) {
    const others = sizes.length - index - 1;
    const share = Math.max(1, Math.min(Math.round((left * size) / rest), left - others));
    shares.push(share);
    left -= share;
    rest -= size;
  }
  return shares;
}
