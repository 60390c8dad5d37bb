/** When a merger is called, how often, and what a conflict cost. Pure. */

/** A conflict that a merger works on. */
export interface Merging<W> {
  /** The work that did not merge. */
  readonly work: W;
  /** Attempts of the merger that came to nothing. */
  readonly red: number;
}

/** Attempts of a merger at one conflict. Then the worker's next attempt starts from `next`, as it does where nobody merges. */
export const MERGER_ATTEMPTS = 2;

/**
 * What the next attempt of a task merges, after a red one; null: the worker makes it.
 * @param conflicted the work of that attempt, where it was red because it conflicts. Of a merger's own result that is a new conflict: others
 *   have landed meanwhile
 */
export function nextMerging<W>(before: Merging<W> | null, conflicted: W | null): Merging<W> | null {
  if (conflicted !== null) return { work: conflicted, red: 0 };
  return before === null || before.red + 1 >= MERGER_ATTEMPTS ? null : { ...before, red: before.red + 1 };
}

/** One attempt of a merger as it stands in the store. */
export interface MergerAttempt {
  readonly task: string;
  readonly attempt: number;
  /** The attempt whose work did not merge. */
  readonly ofAttempt: number;
  readonly paths: readonly string[];
  /** Requests on the line that it was merged with. */
  readonly merges: readonly string[];
  /** null: it has not ended. */
  readonly outcome: string | null;
  readonly startedAtMs: number;
  readonly endedAtMs: number | null;
  /** Agent and gate, without waiting for us. */
  readonly workMs: number;
  readonly microusd: number;
  readonly tokens: number;
}

export interface ConflictRecord {
  /** `<task>/<attempt>` whose work did not merge. */
  readonly request: string;
  readonly merges: readonly string[];
  readonly paths: readonly string[];
  readonly attempts: number;
  readonly outcome: 'merged' | 'given up' | 'under way';
  readonly workMs: number;
  readonly microusd: number;
  readonly tokens: number;
}

/** One for each conflict, in the order in which they were met. */
export function conflictRecords(attempts: readonly MergerAttempt[]): ConflictRecord[] {
  const conflicts = new Map<string, MergerAttempt[]>();
  for (const attempt of attempts) {
    const request = `${attempt.task}/${attempt.ofAttempt}`;
    conflicts.set(request, [...(conflicts.get(request) ?? []), attempt]);
  }
  return [...conflicts].map(([request, tries]) => {
    const sum = (of: (one: MergerAttempt) => number): number => tries.reduce((total, one) => total + of(one), 0);
    const landed = tries.some(({ outcome }) => outcome === 'passed');
    const open = tries.at(-1)?.outcome === null;
    return {
      request,
      merges: [...new Set(tries.flatMap(({ merges }) => merges))],
      paths: [...new Set(tries.flatMap(({ paths }) => paths))],
      attempts: tries.length,
      outcome: landed ? 'merged' : open ? 'under way' : 'given up',
      workMs: sum(({ workMs }) => workMs),
      microusd: sum(({ microusd }) => microusd),
      tokens: sum(({ tokens }) => tokens),
    };
  });
}
