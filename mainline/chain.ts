/**
 * Makes line commits in a quarantine: one request after the other on top of a tip. Touches no ref.
 *
 * 1. The base is the request's own, explicitly (merge-trees.ts).
 * 2. A merge changes only paths that the task itself changed. Where git's rename detection would carry a change to another path,
 *    that is a conflict: nobody asked for that file.
 * 3. The same requests on the same tip give the same commits.
 */
import type { MergeOutcome, MergeRequest } from '../spec/model.ts';
import { commitBody, subjectLine } from './commit.ts';
import { HubError } from './errors.ts';
import { GitError, git } from './git-process.ts';
import { lineMessage, mergesOf } from './line.ts';
import { mergeTreeIds } from './merge-trees.ts';
import { directoriesOfAdded, unsafeChanges } from './path-rules.ts';
import type { Violation } from './path-rules.ts';
import { writeCommitObject } from './quarantine.ts';
import type { Quarantine } from './quarantine.ts';
import { isOid, isSafeId } from './refs.ts';
import type { TreeChange } from '../spec/scope.ts';
import { diffTrees, listDirectories } from './tree.ts';

/**
 * The rules of a request's task (its scope, say), asked once per request. null: only the hub's own rules. The function gets what
 * the task changed against its base, and the names in a directory of the merged tree.
 */
export type MergeRules = (
  request: MergeRequest,
) => ((changes: readonly TreeChange[], siblings: (dir: string) => readonly string[]) => readonly Violation[]) | null;

export const NO_RULES: MergeRules = () => null;

type Link = Exclude<MergeOutcome, { kind: 'already' }>;

/** Merges one request onto `tip`. The new commit is in the quarantine. */
export async function addLink(
  hubDir: string,
  run: string,
  quarantine: Quarantine,
  tip: string,
  request: MergeRequest,
  rules: MergeRules,
  subject?: string,
): Promise<Link> {
  const { id } = request;
  const env = quarantine.env;
  const refused = (rule: string, paths: readonly string[] = []): Link => ({ id, kind: 'refused', rule, paths });
  const conflict = (paths: readonly string[]): Link => ({ id, kind: 'conflict', paths });

  if (!isSafeId(request.task) || id !== `${request.task}/${request.attempt}`) return refused('bad-request');
  const found = await resolve(hubDir, env, request, tip);
  if (!isOid(request.commit) || found.theirs === null) return refused('unknown-commit');
  if (found.base === null) return refused('unknown-base');
  const { base, theirs, ours, parent } = found;
  // With another base a merge would quietly undo whatever lies between the two.
  if (parent !== base) return refused('wrong-base');

  const changes = await diffTrees(hubDir, base, theirs, { env });
  const unsafe = unsafeChanges(changes, Infinity, () => []);
  if (unsafe.length > 0) return refused(unsafe[0]!.rule, pathsOf(unsafe));

  let merged;
  try {
    merged = await mergeTreeIds(hubDir, { base, ours, theirs }, env);
  } catch (error) {
    // An entry named `a/b` aborts git; a hostile rename set takes for ever. Both are the task's, not the machine's.
    if (error instanceof GitError && error.end === 'timeout') return refused('merge-time');
    if (error instanceof GitError && error.signalName === 'SIGABRT') return refused('unmergeable');
    throw error;
  }
  if (!merged.clean) return conflict(merged.paths);

  const effect =
    merged.tree === theirs && ours === base
      ? changes
      : await diffTrees(hubDir, ours, merged.tree, { env, sizes: false });
  const own = new Set(changes.map((change) => change.path));
  const carried = effect.filter((change) => !own.has(change.path)).map((change) => change.path);
  if (carried.length > 0) return conflict(carried);

  const names = await listDirectories(hubDir, merged.tree, directoriesOfAdded([...changes, ...effect]), { env });
  const siblings = (dir: string): readonly string[] => names.get(dir) ?? [];
  // The same `a/b`, where nothing had to be merged: some directory on the way is no entry of its parent.
  const lost = effect.find((change) => change.oldMode === null && !isListed(change.path, siblings));
  if (lost !== undefined) return refused('unmergeable', [lost.path]);
  const unsafeEffect = unsafeChanges(effect, Infinity, siblings);
  if (unsafeEffect.length > 0) return refused(unsafeEffect[0]!.rule, pathsOf(unsafeEffect));
  const violations = rules(request)?.(changes, siblings) ?? [];
  if (violations.length > 0) return refused(violations[0]!.rule, pathsOf(violations));

  const message = lineMessage(run, request, subject ?? subjectLine(found.message), mergesOf(found.message));
  const body = commitBody({ tree: merged.tree, parents: [tip], message, atMs: request.atMs });
  return { id, kind: 'merged', commit: await writeCommitObject(quarantine.dir, body) };
}

function isListed(path: string, siblings: (dir: string) => readonly string[]): boolean {
  const parts = path.split('/');
  return parts.every((name, n) => siblings(parts.slice(0, n).join('/')).includes(name));
}

const pathsOf = (violations: readonly Violation[]): string[] => [...new Set(violations.map((v) => v.path))];

interface Found {
  /** Trees; null: not in the hub. */
  readonly base: string | null;
  readonly theirs: string | null;
  readonly parent: string | null;
  readonly ours: string;
  /** Of the task's commit. */
  readonly message: string;
}

/** All that a merge asks of the hub before it starts, in one process. */
async function resolve(
  hubDir: string,
  env: Readonly<Record<string, string>>,
  request: MergeRequest,
  tip: string,
): Promise<Found> {
  // A blank or a line break in a name would be another question.
  const names = [tip, request.base, request.commit, `${request.commit}^1`].map((n) =>
    /^[\w./^~-]+$/.test(n) ? n : '-',
  );
  const asked = [...names.map((name) => `info ${name}^{tree}`), `contents ${names[2]!}`];
  const input = `${asked.join('\n')}\n`;
  const format = '--batch-command=%(objecttype) %(objectname)';
  const answers = (await git(hubDir, ['cat-file', format], { env, input })).toString('utf8').split('\n');
  const [ours, base, theirs, parent] = answers.map((answer) => /^tree ([0-9a-f]{40})$/.exec(answer)?.[1] ?? null);
  if (ours === null || ours === undefined) throw new HubError(`The tip ${tip} of the line is not in the hub`);
  const commit = answers.slice(names.length).join('\n');
  const message = commit.startsWith('commit ') ? commit.slice(commit.indexOf('\n\n') + 2) : '';
  return { ours, base: base ?? null, theirs: theirs ?? null, parent: parent ?? null, message };
}
