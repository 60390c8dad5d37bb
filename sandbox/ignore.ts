/**
 * Which untracked paths are left out of a commit: by the `.gitignore` files of the *base* tree, read from our objects.
 *
 * Why the base's: the agent's own could hide a change from the scope check, or make its result depend on what it wrote last. A task that
 * changes .gitignore does so in its commit; the next attempt sees it. Nothing is read from the agent's directory: git works on a copy of
 * the base's .gitignore files in a directory of ours.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TreeEntry } from '../mainline/git.ts';
import { gitRun, readBlobs } from '../mainline/git.ts';

const MAX_RULES_BYTES = 2 ** 20;
const HERE = Buffer.from('./');

export type Ignored = (paths: readonly Buffer[]) => Promise<ReadonlySet<string>>;

/** `scratch` is an empty directory of ours. */
export async function ignoreRules(gitDir: string, base: readonly TreeEntry[], scratch: string): Promise<Ignored> {
  const files = base.filter(
    ({ path, mode, size }) =>
      mode.startsWith('100') &&
      size !== null &&
      size <= MAX_RULES_BYTES &&
      /(^|\/)\.gitignore$/.test(path.toString('latin1')),
  );
  if (files.length === 0) return async () => new Set();
  const work = join(scratch, 'rules');
  const own = join(scratch, 'rules.git');
  await mkdir(work, { recursive: true });
  await Promise.all(['objects', 'refs', 'info'].map((sub) => mkdir(join(own, sub), { recursive: true })));
  await writeFile(join(own, 'HEAD'), 'ref: refs/heads/none\n');
  const blobs = await readBlobs(
    gitDir,
    files.map(({ oid }) => oid),
  );
  for (const { path, oid } of files) {
    const target = Buffer.concat([Buffer.from(`${work}/`), path]);
    await mkdir(target.subarray(0, target.lastIndexOf(47)), { recursive: true });
    await writeFile(target, blobs.get(oid) ?? Buffer.alloc(0));
  }
  return async (paths) => {
    // `./` before each: a name that starts with a colon would be read as pathspec magic.
    const input = Buffer.concat(paths.flatMap((path) => [HERE, path, Buffer.from([0])]));
    const env = { GIT_WORK_TREE: work, GIT_INDEX_FILE: join(own, 'index') };
    // Exit code 1: none of them is ignored.
    const { stdout } = await gitRun(own, ['check-ignore', '--no-index', '-z', '--stdin'], { input, env }, [0, 1]);
    const named = stdout
      .toString('latin1')
      .split('\0')
      .filter((path) => path !== '');
    return new Set(named.map((path) => path.slice(HERE.length)));
  };
}
