/**
 * Tasks that could run together and may write the same file.
 *
 * "Could run together": neither depends on the other, directly or through others. "May write the same file": a glob of one and a
 * glob of the other can match a common path that neither task forbids; files that do not exist yet count, because a scope is a
 * permission to make them. Two tasks may both write a file of `repository.union`, whose lines git keeps from both.
 *
 * Cost. Literal paths meet in a map; a glob is compared only with globs whose literal beginning and end agree with its own, and
 * every pair of different globs once, however many tasks have them.
 */
import { BitSet, topologicalOrder } from './dag.ts';
import { anyGlob, globMatcher, isLiteral, unescapeGlob } from './globs.ts';
import { globsIntersect, literalPrefix, literalSuffix } from './globs-meet.ts';
import type { TaskKind } from './model.ts';

export interface OverlapTask {
  readonly id: string;
  readonly kind: TaskKind;
  readonly files: { readonly allow: readonly string[]; readonly forbid: readonly string[] };
  readonly dependsOn: readonly string[];
}

export interface Overlap {
  /** Indices; `later` comes after `earlier` in an order that respects dependencies and, in doubt, that of the spec. */
  readonly earlier: number;
  readonly later: number;
  readonly earlierGlob: string;
  readonly laterGlob: string;
  /** A file of the base commit that both may write, where one is known. */
  readonly example: string | null;
}

export interface Overlaps {
  /** Not ordered, in a spec that refuses overlaps. At most `limit`, one for each pair of tasks. */
  readonly found: Overlap[];
  readonly total: number;
  /** Edges that put overlapping tasks one after the other: `later` depends on `earlier`. */
  readonly edges: { readonly earlier: number; readonly later: number }[];
}

/**
 * Finds overlaps between tasks without cycles. With `serialise` each is answered with an edge instead; between two
 * dependency-update tasks always, since those run one at a time anyway.
 */
export function findOverlaps(
  tasks: readonly OverlapTask[],
  options: { serialise: boolean; union: readonly string[]; files: readonly string[] | null; limit: number },
): Overlaps {
  const neighbours = meetingGlobs(tasks.map((task) => task.files.allow));
  const union = anyGlob(options.union);
  const order = topologicalOrder(tasks);
  const position = new Map(order.map((task, at) => [task, at]));
  const index = new Map(tasks.map((task, i) => [task.id, i]));
  const ancestors = new Map<number, BitSet>();
  const owners = new Map<string, number[]>();
  tasks.forEach((task, i) =>
    new Set(task.files.allow).forEach((glob) => owners.set(glob, [...(owners.get(glob) ?? []), i])),
  );

  const found: Overlap[] = [];
  const edges: { earlier: number; later: number }[] = [];
  let total = 0;
  for (const later of order) {
    const task = tasks[later] as OverlapTask;
    const before = new BitSet(tasks.length);
    ancestors.set(later, before);
    const follow = (earlier: number): void => {
      before.add(earlier);
      before.addAll(ancestors.get(earlier) as BitSet);
    };
    for (const dep of task.dependsOn) {
      const i = index.get(dep);
      if (i !== undefined && ancestors.has(i) && i !== later) follow(i);
    }
    const meetings = new Map<number, { mine: string; theirs: string }>();
    for (const mine of task.files.allow) {
      for (const theirs of neighbours.get(mine) ?? []) {
        for (const other of owners.get(theirs) ?? []) {
          if (ancestors.has(other) && other !== later && !before.has(other) && !meetings.has(other)) {
            if (harmless(task, tasks[other] as OverlapTask, mine, theirs, union)) continue;
            meetings.set(other, { mine, theirs });
          }
        }
      }
    }
    const nearestFirst = [...meetings].toSorted(
      (a, b) => (position.get(b[0]) as number) - (position.get(a[0]) as number),
    );
    for (const [earlier, { mine, theirs }] of nearestFirst) {
      if (before.has(earlier)) continue;
      if (options.serialise || (task.kind === 'dependency-update' && tasks[earlier]?.kind === 'dependency-update')) {
        edges.push({ earlier, later });
        follow(earlier);
        continue;
      }
      total++;
      if (found.length < options.limit) {
        const example = options.files?.find((file) => globMatcher(mine)(file) && globMatcher(theirs)(file)) ?? null;
        found.push({ earlier, later, earlierGlob: theirs, laterGlob: mine, example });
      }
    }
  }
  return { found, total, edges };
}

/** The common paths of two globs are all forbidden to one of the tasks, or all of the kind that may be written twice. */
function harmless(a: OverlapTask, b: OverlapTask, x: string, y: string, union: (path: string) => boolean): boolean {
  const narrow = isLiteral(x) ? x : isLiteral(y) ? y : null;
  if (narrow !== null && union(unescapeGlob(narrow))) return true;
  return [...a.files.forbid, ...b.files.forbid].some((forbid) => covers(forbid, x) || covers(forbid, y));
}

/** Does every path of `glob` surely lie under `cover`? (No for some that do.) */
export function covers(cover: string, glob: string): boolean {
  if (cover === glob || cover === '**') return true;
  if (isLiteral(glob)) return globMatcher(cover)(unescapeGlob(glob));
  if (!cover.endsWith('/**')) return false;
  const directory = cover.slice(0, -3);
  return isLiteral(directory) && literalPrefix(glob).startsWith(`${unescapeGlob(directory)}/`);
}

/** For every glob of the tasks, all globs (itself included) that may share a path with it. */
function meetingGlobs(scopes: readonly (readonly string[])[]): Map<string, string[]> {
  const all = [...new Set(scopes.flat())];
  const out = new Map<string, string[]>(all.map((glob) => [glob, [glob]]));
  const wild = all
    .filter((glob) => !isLiteral(glob))
    .map((glob) => ({ glob, prefix: literalPrefix(glob), suffix: literalSuffix(glob) }));
  const meet = (a: string, b: string): void => {
    if (!globsIntersect(a, b)) return;
    (out.get(a) as string[]).push(b);
    (out.get(b) as string[]).push(a);
  };

  // Globs by the beginning of what they match: one can meet another only if its prefix begins with the other's.
  const byPrefix = new Map<string, typeof wild>();
  for (const one of wild) byPrefix.set(one.prefix, [...(byPrefix.get(one.prefix) ?? []), one]);
  const lengths = [...new Set([...byPrefix.keys()].map((prefix) => prefix.length))].toSorted((a, b) => a - b);
  const startingLike = (text: string): typeof wild =>
    lengths.filter((length) => length <= text.length).flatMap((length) => byPrefix.get(text.slice(0, length)) ?? []);

  for (const glob of all) {
    if (!isLiteral(glob)) continue;
    const path = unescapeGlob(glob);
    for (const other of startingLike(path)) if (path.endsWith(other.suffix)) meet(glob, other.glob);
  }
  for (const one of wild) {
    for (const other of startingLike(one.prefix)) {
      if (other.glob === one.glob || (other.prefix === one.prefix && other.glob < one.glob)) continue;
      if (one.suffix.endsWith(other.suffix) || other.suffix.endsWith(one.suffix)) meet(one.glob, other.glob);
    }
  }
  return out;
}
