/**
 * Commits of lines that were read before, by hub and id. What a commit says never changes, so each is read from git once; the way
 * from one commit to another, which is asked for after every merge, is then walked in memory.
 *
 * 1. A way that does not lead from `to` back to `from` over known commits is not answered here.
 */

export interface Known<T> {
  readonly value: T;
  /** First parent; null: none. */
  readonly parent: string | null;
}

export interface KnownCommits<T> {
  readonly commits: Map<string, Known<T>>;
  /** The one that was read last: what is asked for next is usually on top of it. */
  newest: string | null;
}

/** Commits kept for one hub; a run has at most 5,000 tasks. Beyond, all of them are forgotten and read again. */
const COMMITS = 20_000;
const HUBS = 32;
const hubs = new Map<string, KnownCommits<unknown>>();

export function knownCommits<T>(gitDir: string): KnownCommits<T> {
  let known = hubs.get(gitDir);
  if (known === undefined || known.commits.size > COMMITS) {
    if (hubs.size >= HUBS) hubs.clear();
    known = { commits: new Map(), newest: null };
    hubs.set(gitDir, known);
  }
  return known as KnownCommits<T>;
}

/** What lies after `from` up to `to`, oldest first, or the first commit on the way that is not known (null: the way misses `from`). */
export function walkBack<T>(
  commits: ReadonlyMap<string, Known<T>>,
  from: string,
  to: string,
): { readonly values: T[] } | { readonly gap: string | null } {
  const values: T[] = [];
  for (let at: string | null = to; at !== from;) {
    const commit: Known<T> | undefined = at === null ? undefined : commits.get(at);
    if (commit === undefined) return { gap: at };
    values.push(commit.value);
    at = commit.parent;
  }
  return { values: values.toReversed() };
}
