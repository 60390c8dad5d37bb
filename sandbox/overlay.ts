/** Trees with some of their entries replaced: preset tests put over what an agent did, protected files put back. Objects only, no work tree. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { diffTrees, git, gitText } from '../mainline/git.ts';
import { anyGlob } from '../spec/globs.ts';

export interface TreeEdit {
  readonly path: string;
  /** null: not there. */
  readonly entry: { readonly mode: string; readonly oid: string } | null;
}

/** The tree with the edits made; where an edit's path runs through a file, or is a directory, the edit wins. */
export async function editTree(gitDir: string, tree: string, edits: readonly TreeEdit[]): Promise<string> {
  if (edits.length === 0) return tree;
  const dir = await mkdtemp(join(tmpdir(), 'swarmline-index-'));
  try {
    const env = { GIT_INDEX_FILE: join(dir, 'index') };
    await git(gitDir, ['read-tree', tree], { env });
    const lines = edits
      .map(({ path, entry }) =>
        entry === null ? `0 ${'0'.repeat(40)}\t${path}\0` : `${entry.mode} ${entry.oid}\t${path}\0`,
      )
      .join('');
    await git(gitDir, ['update-index', '-z', '--add', '--replace', '--index-info'], { env, input: lines });
    return await gitText(gitDir, ['write-tree'], { env });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** The tree with files of given content (mode 100644). */
export async function putFiles(gitDir: string, tree: string, files: Readonly<Record<string, string>>): Promise<string> {
  const edits: TreeEdit[] = [];
  for (const [path, content] of Object.entries(files)) {
    const oid = await gitText(gitDir, ['hash-object', '-w', '--no-filters', '--stdin'], { input: content });
    edits.push({ path, entry: { mode: '100644', oid } });
  }
  return editTree(gitDir, tree, edits);
}

/** `tree` with every file that the globs match as it is in `base`: changed ones back, added ones gone, deleted ones there again. */
export async function restoreFrom(
  gitDir: string,
  tree: string,
  base: string,
  globs: readonly string[],
): Promise<string> {
  if (globs.length === 0) return tree;
  const isProtected = anyGlob(globs);
  const changes = (await diffTrees(gitDir, base, tree)).filter(
    (change) => change.validUtf8 && isProtected(change.path),
  );
  return editTree(
    gitDir,
    tree,
    changes.map((change) => ({
      path: change.path,
      entry: change.oldMode === null || change.oldOid === null ? null : { mode: change.oldMode, oid: change.oldOid },
    })),
  );
}
