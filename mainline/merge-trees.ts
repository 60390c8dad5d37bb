/**
 * Three-way merge of trees with a base that is given, never computed.
 *
 * 1. The base is what the caller says. git before 2.40 has no option for it (and before 2.45 none that takes trees), so three
 *    synthetic commits are made: one without parents that holds the base, and one child of it for each side. Their only merge
 *    base is the one given, with every git version.
 * 2. No driver, filter or hook of a repository runs: the repository is bare and its configuration ours.
 * 3. Bounded: inexact renames only among 400 files (3,000 moved files took 731 ms, with the limit 28 ms), 30 s at most.
 */
import { join } from 'node:path';
import { commitBody } from './commit.ts';
import { gitRun } from './git-process.ts';
import type { GitOptions } from './git-process.ts';
import { writeCommitObject } from './quarantine.ts';
import { printablePath, treeOf } from './tree.ts';

export interface MergeInput {
  /** Any tree-ish each. */
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
}

export type MergedTrees =
  | { readonly clean: true; readonly tree: string }
  /** `tree`: what merged did, what did not stands in it with conflict markers. */
  | { readonly clean: false; readonly paths: string[]; readonly tree: string };

const RENAME_LIMIT = 400;
const TIMEOUT_MS = 30_000;
const SETTINGS = [
  `merge.renameLimit=${RENAME_LIMIT}`,
  'merge.directoryRenames=false',
  'merge.renormalize=false',
].flatMap((setting) => ['-c', setting]);

/**
 * Merges. `env.GIT_OBJECT_DIRECTORY` (a quarantine's) says where new objects go; without it, into the repository. Throws
 * GitError: `end` 'timeout' for a merge that takes too long, 'signal' for one that makes git abort.
 */
export async function mergeTrees(
  gitDir: string,
  input: MergeInput,
  env: Readonly<Record<string, string>> = {},
  options: Pick<GitOptions, 'timeoutMs' | 'signal'> = {},
): Promise<MergedTrees> {
  const [base, ours, theirs] = await Promise.all(
    [input.base, input.ours, input.theirs].map((t) => treeOf(gitDir, t, { env })),
  );
  return mergeTreeIds(gitDir, { base: base!, ours: ours!, theirs: theirs! }, env, options);
}

/** As mergeTrees, of tree ids. */
export async function mergeTreeIds(
  gitDir: string,
  { base, ours, theirs }: MergeInput,
  env: Readonly<Record<string, string>> = {},
  options: Pick<GitOptions, 'timeoutMs' | 'signal'> = {},
): Promise<MergedTrees> {
  if (ours === theirs || theirs === base) return { clean: true, tree: ours };
  if (ours === base) return { clean: true, tree: theirs };
  const objectDir = env['GIT_OBJECT_DIRECTORY'] ?? join(gitDir, 'objects');
  const synthetic = (tree: string, parents: string[], message: string): Promise<string> =>
    writeCommitObject(objectDir, commitBody({ tree, parents, message, atMs: 0 }));
  const root = await synthetic(base, [], 'base');
  const left = await synthetic(ours, [root], 'ours');
  const right = await synthetic(theirs, [root], 'theirs');
  const { exitCode, stdout } = await gitRun(
    gitDir,
    [...SETTINGS, 'merge-tree', '--write-tree', '-z', '--no-messages', '--name-only', left, right],
    { env, timeoutMs: options.timeoutMs ?? TIMEOUT_MS, signal: options.signal },
    [0, 1],
  );
  const fields = stdout
    .toString('latin1')
    .split('\0')
    .filter((field) => field !== '');
  if (exitCode === 0) return { clean: true, tree: fields[0]! };
  const paths = fields.slice(1).map((path) => printablePath(Buffer.from(path, 'latin1')).path);
  return { clean: false, paths: [...new Set(paths)].toSorted(), tree: fields[0]! };
}
