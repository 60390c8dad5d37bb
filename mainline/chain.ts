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
import { GitError, git, gitText } from './git-process.ts';
import { lineMessage } from './line.ts';
import { mergeTrees } from './merge-trees.ts';
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
  const trees = await resolveTrees(hubDir, env, [request.base, request.commit, `${request.commit}^1`, tip]);
  const [base, theirs, parent, ours] = trees;
  if (!isOid(request.commit) || theirs === null || theirs === undefined) return refused('unknown-commit');
  if (base === null || base === undefined) return refused('unknown-base');
  // With another base a merge would quietly undo whatever lies between the two.
  if (parent !== base) return refused('wrong-base');

  const changes = await diffTrees(hubDir, base, theirs, { env });
  const unsafe = unsafeChanges(changes, Infinity, () => []);
  if (unsafe.length > 0) return refused(unsafe[0]!.rule, pathsOf(unsafe));

  let merged;
  try {
    merged = await mergeTrees(hubDir, { base, ours: ours!, theirs }, env);
  } catch (error) {
    // An entry named `a/b` aborts git; a hostile rename set takes for ever. Both are the task's, not the machine's.
    if (error instanceof GitError && error.end === 'timeout') return refused('merge-time');
    if (error instanceof GitError && error.signalName === 'SIGABRT') return refused('unmergeable');
    throw error;
  }
  if (!merged.clean) return conflict(merged.paths);

  const effect =
    merged.tree === theirs && ours === base ? changes : await diffTrees(hubDir, ours!, merged.tree, { env });
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

  const line =
    subject ?? subjectLine(await gitText(hubDir, ['log', '-1', '--format=%s', request.commit, '--'], { env }));
  const message = lineMessage(run, { ...request, base: request.base }, line);
  const body = commitBody({ tree: merged.tree, parents: [tip], message, atMs: request.atMs });
  return { id, kind: 'merged', commit: await writeCommitObject(quarantine.dir, body) };
}

function isListed(path: string, siblings: (dir: string) => readonly string[]): boolean {
  const parts = path.split('/');
  return parts.every((name, n) => siblings(parts.slice(0, n).join('/')).includes(name));
}

const pathsOf = (violations: readonly Violation[]): string[] => [...new Set(violations.map((v) => v.path))];

/** Tree ids of tree-ishes in one process; null where there is none. */
async function resolveTrees(
  hubDir: string,
  env: Readonly<Record<string, string>>,
  treeishes: readonly string[],
): Promise<(string | null)[]> {
  // A line break would be a second question.
  if (treeishes.some((t) => /[\s\0]/.test(t) || t === '')) return treeishes.map(() => null);
  const input = treeishes.map((t) => `${t}^{tree}\n`).join('');
  const out = (await git(hubDir, ['cat-file', '--batch-check=%(objectname) %(objecttype)'], { env, input })).toString(
    'utf8',
  );
  return out
    .trimEnd()
    .split('\n')
    .map((answer) => /^([0-9a-f]{40}) tree$/.exec(answer)?.[1] ?? null);
}
