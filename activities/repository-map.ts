/** The map of a repository that a planner is shown: every file of its scope with what others see of it. */
import { listTree, printablePath, readBlobs } from '../mainline/git.ts';
import { anyGlob } from '../spec/globs.ts';
import { signaturesOf } from '../spec/prompt/index.ts';
import type { MappedFile } from '../spec/prompt/index.ts';
import { isTestPath } from '../spec/suspicious-tests.ts';

/** Files whose signatures are read, and how large one may be: a prompt has no room for more. */
const READ_FILES = 2_000;
const READ_BYTES = 128 * 1024;
/** Files that are listed at all. */
const LISTED = 10_000;
const HAS_SIGNATURES = /\.(?:[cm]?[jt]sx?|py)$/;

/** @param globs the scope: files outside it are listed without signatures, after those inside */
export async function mapOf(gitDir: string, tree: string, globs: readonly string[]): Promise<MappedFile[]> {
  const isInside = anyGlob(globs);
  const files = (await listTree(gitDir, tree))
    .filter((entry) => entry.type === 'blob' && entry.mode !== '120000')
    .map((entry) => ({ path: printablePath(entry.path).path, oid: entry.oid, bytes: entry.size ?? 0 }))
    .map((file) => ({ ...file, inside: isInside(file.path) }))
    .toSorted((a, b) => Number(b.inside) - Number(a.inside) || (a.path < b.path ? -1 : 1))
    .slice(0, LISTED);
  const read = files
    .filter(({ inside, bytes, path }) => inside && bytes <= READ_BYTES && HAS_SIGNATURES.test(path))
    .slice(0, READ_FILES);
  const blobs = await readBlobs(
    gitDir,
    read.map(({ oid }) => oid),
  );
  const wanted = new Set(read.map(({ path }) => path));
  return files.map(({ path, oid, bytes }) => {
    const blob = wanted.has(path) ? blobs.get(oid) : undefined;
    const isText = blob !== undefined && !blob.includes(0);
    return {
      path,
      bytes,
      isTest: isTestPath(path),
      signatures: isText ? signaturesOf(path, blob.toString('utf8')) : '',
    };
  });
}
