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

/** Slots with which `tasks` tasks of any kind can all run: what is reserved for urgent ones comes on top. */
export function slotsToRun(tasks: number): number {
  let slots = tasks;
  while (slots - reservedSlots(slots) < tasks) slots += 1;
  return slots;
}

/** `limit` slots shared out over groups by their sizes: never more than `limit`, at least one for each while they last. */
export function shareSlots(limit: number, sizes: readonly number[]): number[] {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const shares: number[] = [];
  let [left, rest] = [limit, total];
  for (const [index, size] of sizes.entries()) {
    const others = sizes.length - index - 1;
    const share = Math.min(left, Math.max(1, Math.min(Math.round((left * size) / rest), left - others)));
    shares.push(share);
    left -= share;
    rest -= size;
  }
  return shares;
}

/** What one of several groups has of a limit that they share. */
export interface SlotShare {
  /** It may hold so many: its own alone, until it has given them back. */
  readonly slots: number;
  /** It has been asked to give back so many, and has not yet. */
  readonly asked: number;
  /** It could use so many. */
  readonly wants: number;
}
export interface SlotOrder {
  readonly give: number;
  /** To give back as they become free. */
  readonly ask: number;
}

/**
 * How slots should move between groups that share `limit`. What is free goes to whoever lacks some of its fair share. What is missing then
 * is asked of those who have more than they can use, and of those who have more than their share only where another has less than half of
 * its own: shares change with every task that ends, and moving a slot costs two signals.
 */
export function balanceSlots(limit: number, shares: readonly SlotShare[]): SlotOrder[] {
  const fair = fairSlots(
    limit,
    shares.map(({ wants }) => wants),
  );
  let free = limit - sum(shares.map(({ slots }) => slots));
  const lacks = shares.map(({ slots }, index) => Math.max(0, fair[index]! - slots));
  const gives = lacks.map((lack) => {
    const give = Math.max(0, Math.min(lack, free));
    free -= give;
    return give;
  });
  const starved = shares.some(({ slots }, index) => slots + gives[index]! < fair[index]! / 2);
  let missing = sum(lacks) - sum(gives) - sum(shares.map(({ asked }) => asked));
  return shares.map(({ slots, asked, wants }, index) => {
    const spare = slots - asked - (starved ? fair[index]! : wants);
    const ask = Math.max(0, Math.min(spare, missing));
    missing -= ask;
    return { give: gives[index]!, ask };
  });
}

/** What each wants where that is enough for all; else by what they want. */
function fairSlots(limit: number, wants: readonly number[]): number[] {
  if (sum(wants) <= limit) return [...wants];
  const wanting = wants.filter((want) => want > 0);
  const shares = shareSlots(limit, wanting);
  return wants.map((want) => (want > 0 ? shares.shift()! : 0));
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
