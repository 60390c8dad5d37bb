/** Files of a stored tree as texts for a prompt: none that is large, none that is no text. */
import { listTree, printablePath, readBlobs } from '../mainline/git.ts';
import { anyGlob } from '../spec/globs.ts';
import type { NamedText } from '../spec/prompt/index.ts';

/** A larger file is not shown: an agent reads what it needs of it. */
const FILE_BYTES = 256 * 1024;
const FILES = 200;

export interface TreeTexts {
  has(path: string): boolean;
  /** Paths of files that match, at most 200, in the order of the tree. */
  matching(globs: readonly string[], without?: readonly string[]): string[];
  /** Contents; paths that are not there are left out. */
  read(paths: readonly string[]): Promise<NamedText[]>;
}

export async function treeTexts(gitDir: string, treeish: string): Promise<TreeTexts> {
  const entries = await listTree(gitDir, treeish);
  const files = new Map(
    entries
      .filter((entry) => entry.type === 'blob' && entry.mode !== '120000')
      .map((entry) => [printablePath(entry.path).path, { oid: entry.oid, size: entry.size ?? 0 }]),
  );
  return {
    has: (path) => files.has(path),
    matching(globs, without = []) {
      const [matches, excluded] = [anyGlob(globs), anyGlob(without)];
      return [...files.keys()].filter((path) => matches(path) && !excluded(path)).slice(0, FILES);
    },
    async read(paths) {
      const wanted = paths.flatMap((path) => {
        const file = files.get(path);
        return file === undefined ? [] : [{ path, ...file }];
      });
      const blobs = await readBlobs(
        gitDir,
        wanted.filter(({ size }) => size <= FILE_BYTES).map(({ oid }) => oid),
      );
      return wanted.map(({ path, oid, size }) => {
        const blob = blobs.get(oid);
        if (blob === undefined) return { path, content: `(${size} bytes: too large to be shown here)` };
        return { path, content: blob.includes(0) ? `(${size} bytes that are no text)` : blob.toString('utf8') };
      });
    },
  };
}
