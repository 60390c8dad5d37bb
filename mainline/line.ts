/**
 * The line: what is merged, oldest first, read from the commits themselves.
 *
 * 1. The line has one parent per commit. A task's own commit is never a parent: it may descend from a commit that was ejected
 *    later, and would make that an ancestor of main. Where it came from stands in trailers (`Swarmline-Commit`, `-Base`).
 * 2. main ≤ verified ≤ next. main moves forwards only, to something verified.
 */
import type { Line, LineEntry, MergeRequest } from '../spec/model.ts';
import { messageWithTrailers, trailersOf } from './commit.ts';
import { HubError, RefMoved } from './errors.ts';
import { GitError, gitText } from './git-process.ts';
import { knownCommits, walkBack } from './line-cache.ts';
import { BASE, GREEN, MAIN, NEXT, VERIFIED, isAncestor, listRefs, readRefs, updateRefs } from './refs.ts';

/** A commit of the line with everything that is needed to merge the same request again. */
export interface LandedEntry extends LineEntry {
  readonly subject: string;
  readonly asked: MergeRequest;
}

/** Trailer of a task's commit that a merger made, and of the commit of the line that comes of it. */
export const MERGES = 'Swarmline-Merges';

/** Requests that a commit's message says were merged in it. */
export function mergesOf(message: string): string[] {
  const named = trailersOf(message).get(MERGES)?.split(' ') ?? [];
  return named.filter((id) => /^[a-z0-9][a-z0-9._-]*\/[1-9]\d*$/.test(id));
}

export interface Heads {
  readonly base: string;
  readonly main: string;
  readonly verified: string;
  readonly next: string;
}

export async function readHeads(gitDir: string): Promise<Heads> {
  const refs = await readRefs(gitDir, BASE, MAIN, VERIFIED, NEXT);
  const get = (ref: string): string => {
    const oid = refs.get(ref);
    if (oid === undefined) throw new HubError(`The hub has no ${ref}`);
    return oid;
  };
  return { base: get(BASE), main: get(MAIN), verified: get(VERIFIED), next: get(NEXT) };
}

/**
 * The message of a merge commit: the task's goal in one line, then where the change came from.
 * @param merges requests on the line whose conflict with this one a merger resolved
 */
export function lineMessage(
  run: string,
  request: MergeRequest,
  subject: string,
  merges: readonly string[] = [],
): string {
  return messageWithTrailers(subject, [
    ['Swarmline-Request', request.id],
    ['Swarmline-Task', request.task],
    ['Swarmline-Attempt', String(request.attempt)],
    ['Swarmline-Engine', request.engine],
    ...(request.model === null ? [] : [['Swarmline-Model', request.model] as const]),
    ['Swarmline-Base', request.base],
    ['Swarmline-Commit', request.commit],
    ...(merges.length === 0 ? [] : [[MERGES, merges.join(' ')] as const]),
    ['Swarmline-Run', run],
  ]);
}

/** Merge commits after `from` up to `to`, oldest first, by their trailers. Commits without ours (there are none on a sound line) are left out. */
export async function entriesBetween(gitDir: string, from: string, to: string): Promise<LandedEntry[]> {
  if (from === to) return [];
  const known = knownCommits<LandedEntry | null>(gitDir);
  // What is new on top of what was read last; else all of it.
  for (const below of [known.newest, null]) {
    const way = walkBack(known.commits, from, to);
    if ('values' in way) return way.values.filter((entry) => entry !== null);
    if (way.gap === null) break;
    try {
      await readCommits(gitDir, way.gap, below === null ? [from] : [from, below]);
    } catch (error) {
      // Another hub stood here before, of an earlier run of this name.
      if (below === null || !(error instanceof GitError) || error.exitCode !== 128) throw error;
    }
  }
  const way = walkBack(known.commits, from, to);
  if ('values' in way) return way.values.filter((entry) => entry !== null);
  return (await readCommits(gitDir, to, [from])).filter((entry) => entry !== null);
}

/** Reads what `to` has and none of the others, oldest first, and remembers it. */
async function readCommits(gitDir: string, to: string, without: readonly string[]): Promise<(LandedEntry | null)[]> {
  const range = [to, ...without.map((one) => `^${one}`)];
  const format = '--format=%H%n%P%n%at%n%B';
  const out = await gitText(gitDir, ['log', '--first-parent', '--reverse', '-z', format, ...range, '--']);
  const known = knownCommits<LandedEntry | null>(gitDir);
  const entries: (LandedEntry | null)[] = [];
  for (const record of out.split('\0').filter((text) => text !== '')) {
    const [commit = '', parents = '', ...rest] = record.replace(/^\n/, '').split('\n');
    const value = parseEntry(commit, rest);
    const parent = parents.split(' ')[0] ?? '';
    known.commits.set(commit, { value, parent: parent === '' ? null : parent });
    known.newest = commit;
    entries.push(value);
  }
  return entries;
}

function parseEntry(commit: string, [seconds = '', ...rest]: readonly string[]): LandedEntry | null {
  const trailers = trailersOf(rest.join('\n'));
  const id = trailers.get('Swarmline-Request');
  const task = trailers.get('Swarmline-Task');
  const attempt = Number(trailers.get('Swarmline-Attempt'));
  const base = trailers.get('Swarmline-Base');
  const source = trailers.get('Swarmline-Commit');
  if (id === undefined || task === undefined || base === undefined || source === undefined) return null;
  const model = trailers.get('Swarmline-Model') ?? null;
  const engine = trailers.get('Swarmline-Engine') ?? '';
  const asked = { id, task, attempt, commit: source, base, engine, model, atMs: Number(seconds) * 1000 };
  return { commit, request: id, task, attempt, subject: rest[0] ?? '', asked };
}

export const entryOf = (e: LandedEntry): LineEntry => ({
  commit: e.commit,
  request: e.request,
  task: e.task,
  attempt: e.attempt,
});

/** Everything that landed on a ref since the run began, oldest first. */
export async function landedRequests(gitDir: string, ref: string): Promise<LineEntry[]> {
  const { base } = await readHeads(gitDir);
  return (await entriesBetween(gitDir, base, ref)).map(entryOf);
}

export async function readLine(gitDir: string): Promise<Line> {
  const [heads, green] = await Promise.all([readHeads(gitDir), listRefs(gitDir, GREEN)]);
  const entries = await entriesBetween(gitDir, heads.main, heads.next);
  const { main, verified, next } = heads;
  return { main, verified, next, entries: entries.map(entryOf), greenPoints: green.size };
}

/** Whether a is b or before it on the line: as far as the line is known without git, else as git says. */
async function isOnLine(gitDir: string, a: string, b: string): Promise<boolean> {
  const { commits } = knownCommits(gitDir);
  return 'values' in walkBack(commits, a, b) || (await isAncestor(gitDir, a, b));
}

/** Moves verified forwards along the line. Done already: nothing happens. */
export async function advanceVerified(gitDir: string, from: string, to: string): Promise<void> {
  const { verified, next } = await readHeads(gitDir);
  if (verified === to) return;
  if (verified !== from) throw new RefMoved(VERIFIED, `verified is at ${verified}, not at ${from}`);
  if (!(await isOnLine(gitDir, from, to)))
    throw new HubError(`verified only moves forwards: ${to} does not descend from ${from}`);
  if (!(await isOnLine(gitDir, to, next))) throw new RefMoved(NEXT, `${to} is not on the line any more`);
  await updateRefs(gitDir, [{ ref: VERIFIED, from, to }]);
}

/** Moves main forwards to a commit under verified and records the green point n. Done already: the same n. */
export async function advanceMain(gitDir: string, to: string): Promise<{ n: number }> {
  const { main, verified } = await readHeads(gitDir);
  const green = await listRefs(gitDir, GREEN);
  const points = [...green]
    .map(([ref, oid]) => ({ n: Number(ref.slice(GREEN.length)), oid }))
    .toSorted((a, b) => a.n - b.n);
  const last = points[points.length - 1];
  if (main === to && last?.oid === to) return { n: last.n };
  if (!(await isOnLine(gitDir, main, to)))
    throw new HubError(`main only moves forwards: ${to} does not descend from ${main}`);
  if (!(await isOnLine(gitDir, to, verified)))
    throw new HubError(`main only moves to what is verified: ${to} is not under ${verified}`);
  const n = (last?.n ?? 0) + 1;
  const point = { ref: `${GREEN}${n}`, from: null, to };
  await updateRefs(gitDir, main === to ? [point] : [{ ref: MAIN, from: main, to }, point]);
  return { n };
}
