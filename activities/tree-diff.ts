/** What changed between two stored trees, as text for a prompt: one unified diff a file. */
import { diffTrees, git } from '../mainline/git.ts';

/** Of one file; the rest is cut, with a line that says so. */
const DIFF_BYTES = 256 * 1024;
const FILES = 500;
const EMPTY_BLOB = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391';

export interface FileDiff {
  readonly path: string;
  readonly diff: string;
}

/** @param options.paths only these */
export async function treeDiff(
  gitDir: string,
  base: string,
  treeish: string,
  options: { readonly paths?: ReadonlySet<string>; readonly context?: number } = {},
): Promise<FileDiff[]> {
  const { paths, context = 3 } = options;
  const changes = (await diffTrees(gitDir, base, treeish)).filter(({ path }) => paths?.has(path) ?? true);
  const diffs: FileDiff[] = [];
  for (const { path, oldOid, newOid, oldMode, newMode } of changes.slice(0, FILES)) {
    const what = oldOid === null ? `new file (${newMode})` : newOid === null ? 'deleted' : modes(oldMode, newMode);
    const text = await blobDiff(gitDir, oldOid ?? EMPTY_BLOB, newOid ?? EMPTY_BLOB, context);
    diffs.push({ path, diff: `${what === '' ? '' : `${what}\n`}${text}` });
  }
  if (changes.length > FILES)
    diffs.push({ path: '(more)', diff: `${changes.length - FILES} more files changed that are not shown` });
  return diffs;
}

const modes = (from: string | null, to: string | null): string => (from === to ? '' : `mode ${from} → ${to}`);

/** Without the names of the blobs, which nobody asked for. No driver, filter or configuration of the repository takes part. */
export async function blobDiff(gitDir: string, from: string, to: string, context: number): Promise<string> {
  if (from === to) return '';
  const both = [from, to];
  if (both.includes(EMPTY_BLOB)) await git(gitDir, ['hash-object', '-w', '--stdin'], { input: '' });
  const flags = ['--no-ext-diff', '--no-textconv', '--no-color', `-U${context}`];
  const out = (await git(gitDir, ['diff', ...flags, from, to])).toString('utf8');
  const start = out.search(/^@@ /m);
  const text = start < 0 ? (out.includes('Binary files') ? 'binary files differ\n' : '') : out.slice(start);
  return text.length <= DIFF_BYTES ? text : `${text.slice(0, DIFF_BYTES)}\n… (${text.length - DIFF_BYTES} more)\n`;
}
