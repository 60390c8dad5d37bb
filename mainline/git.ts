/** Plumbing for every room that touches git objects: one import. What each part keeps is said in its own file. */
export { git, gitRun, gitText, GitError, redact } from './git-process.ts';
export type { GitEnd, GitOptions, GitResult } from './git-process.ts';
export {
  treeOf,
  listTree,
  listDirectories,
  listFiles,
  readFileAt,
  readBlobs,
  diffTrees,
  printablePath,
  EMPTY_TREE,
} from './tree.ts';
export type { TreeEntry } from './tree.ts';
export type { TreeChange } from '../spec/scope.ts';
export { grepTree } from './grep-tree.ts';
export type { FoundFile } from './grep-tree.ts';
export { openQuarantine } from './quarantine.ts';
export type { Quarantine } from './quarantine.ts';
export { mergeTrees } from './merge-trees.ts';
export type { MergedTrees, MergeInput } from './merge-trees.ts';
export { writeCommit, commitBody, subjectLine } from './commit.ts';
export type { CommitInput } from './commit.ts';
