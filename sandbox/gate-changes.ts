/** What a change touches: files for `{changed}`, lines for the coverage rule. From stored objects only. */
import { diffTrees, git, listTree, printablePath } from '../mainline/git.ts';
import { addedRanges } from '../spec/gate/coverage.ts';
import type { LineRange } from '../spec/gate/coverage.ts';

export const isFileMode = (mode: string | null): boolean => mode === '100644' || mode === '100755';

/**
 * Files that differ between base and commit and are regular files in the tree that is judged. base null: every file of the tree
 * ("everything is judged").
 */
export async function changedFiles(
  gitDir: string,
  base: string | null,
  commit: string,
  judged: string,
): Promise<string[]> {
  const there = new Set(
    (await listTree(gitDir, judged))
      .filter((entry) => isFileMode(entry.mode))
      .map((entry) => printablePath(entry.path))
      .filter((name) => name.validUtf8)
      .map((name) => name.path),
  );
  if (base === null) return [...there].toSorted();
  const changes = await diffTrees(gitDir, base, commit);
  return changes
    .filter((change) => isFileMode(change.newMode) && change.validUtf8 && there.has(change.path))
    .map((change) => change.path)
    .toSorted();
}

/** Lines of `tree` that `base` does not have, for those paths that somebody wants to know of. */
export async function changedLines(
  gitDir: string,
  base: string,
  tree: string,
  wanted: (path: string) => boolean,
): Promise<Map<string, LineRange[]>> {
  const lines = new Map<string, LineRange[]>();
  for (const change of await diffTrees(gitDir, base, tree)) {
    if (!isFileMode(change.newMode) || change.newOid === null || !wanted(change.path)) continue;
    if (change.oldOid === null || !isFileMode(change.oldMode)) {
      lines.set(change.path, [{ from: 1, to: Number.MAX_SAFE_INTEGER }]);
      continue;
    }
    const diff = await git(gitDir, [
      'diff',
      '--no-ext-diff',
      '--no-textconv',
      '--no-color',
      '-U0',
      change.oldOid,
      change.newOid,
    ]);
    lines.set(change.path, addedRanges(diff.toString('utf8')));
  }
  return lines;
}
