/** Text files of a tree that contain a text, found by git itself: some 50,000 files take it about a second. */
import { gitRun } from './git-process.ts';
import type { GitOptions } from './git-process.ts';
import { listTree, printablePath, readBlobs } from './tree.ts';

export interface FoundFile {
  readonly path: string;
  readonly text: string;
}

/** Upper and lower case are the same. Files above `maxBytes` and files with NUL bytes are left out, links too. */
export async function grepTree(
  gitDir: string,
  tree: string,
  text: string,
  maxBytes: number,
  options: Pick<GitOptions, 'signal'> = {},
): Promise<FoundFile[]> {
  const flags = ['-I', '-i', '-l', '-z', '-F', '--full-name', '-e', text];
  // Exit code 1: there are none.
  const { stdout, exitCode } = await gitRun(gitDir, ['grep', ...flags, tree, '--'], options, [0, 1]);
  if (exitCode === 1) return [];
  // Each as `<tree>:<path>`. Bytes, not text: names need not be UTF-8.
  const names = new Set(
    stdout
      .toString('latin1')
      .split('\0')
      .map((name) => name.slice(tree.length + 1)),
  );
  const entries = (await listTree(gitDir, tree, options)).filter(
    ({ path, mode, size }) => mode !== '120000' && (size ?? Infinity) <= maxBytes && names.has(path.toString('latin1')),
  );
  const blobs = await readBlobs(
    gitDir,
    entries.map(({ oid }) => oid),
    options,
  );
  return entries.flatMap(({ oid, path }) => {
    const blob = blobs.get(oid);
    return blob === undefined || blob.includes(0)
      ? []
      : [{ path: printablePath(path).path, text: blob.toString('utf8') }];
  });
}
