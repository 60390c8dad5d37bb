/**
 * As much of a work as merges by itself, on top of what has landed.
 *
 * 1. Only paths that the work changed take part. Elsewhere git may follow a file that others moved and carry the change there, to a file
 *    that the work was never given: here that is a conflict at the path that the work changed.
 */
import { diffTrees, EMPTY_TREE, listTree, mergeTrees, printablePath, treeOf } from '../mainline/git.ts';
import type { MergeInput } from '../mainline/git.ts';
import { editTree } from '../sandbox/overlay.ts';
import type { TreeEdit } from '../sandbox/overlay.ts';

export interface MergedUpTo {
  /** What has landed, with the work's changes that merge; conflicting files as they landed. */
  readonly tree: string;
  readonly paths: readonly string[];
  /** What would change though the work did not change it (a file where it has a directory, say): there is no merging file by file. */
  readonly foreign: readonly string[];
}

/** @param sides `ours` is what has landed, `theirs` the work */
export async function mergedUpTo(
  gitDir: string,
  sides: MergeInput,
  options: { readonly signal: AbortSignal },
): Promise<MergedUpTo> {
  const changes = await diffTrees(gitDir, sides.base, sides.theirs);
  const own = new Set(changes.filter(({ validUtf8 }) => validUtf8).map(({ path }) => path));
  const only = async (treeish: string): Promise<string> => {
    const entries = await entriesOf(gitDir, treeish);
    return editTree(
      gitDir,
      EMPTY_TREE,
      [...entries.values()].filter(({ path }) => own.has(path)),
    );
  };
  const [base, ours, theirs] = [await only(sides.base), await only(sides.ours), await only(sides.theirs)];
  const merged = await mergeTrees(gitDir, { base, ours, theirs }, {}, options);
  const paths = merged.clean ? [] : merged.paths;
  const result = await entriesOf(gitDir, merged.tree);
  const inConflict = new Set(paths);
  const edits = [...own]
    .filter((path) => !inConflict.has(path))
    .map((path) => result.get(path) ?? { path, entry: null });
  const tree = await editTree(gitDir, await treeOf(gitDir, sides.ours), edits);
  const foreign = [
    ...changes.filter(({ validUtf8 }) => !validUtf8).map(({ path }) => path),
    ...[...result.keys(), ...paths].filter((path) => !own.has(path)),
    ...(await diffTrees(gitDir, sides.ours, tree)).filter(({ path }) => !own.has(path)).map(({ path }) => path),
  ];
  return { tree, paths, foreign: [...new Set(foreign)] };
}

async function entriesOf(gitDir: string, treeish: string): Promise<Map<string, TreeEdit>> {
  const entries = await listTree(gitDir, treeish, { sizes: false });
  return new Map(
    entries.map(({ path: bytes, mode, oid }) => {
      const { path } = printablePath(bytes);
      return [path, { path, entry: { mode, oid } }];
    }),
  );
}
