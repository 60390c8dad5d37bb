/**
 * A workspace: a plain checkout of a tree, for one step or attempt.
 *
 * Invariants
 * 1. Every file has the bytes of its blob: no attribute, filter, line-ending or ident setting of the tree or of a repository applies.
 * 2. There is no `.git` of ours in it, and nothing of the tree runs while it is made.
 * 3. It lies below directories that only we can write; what it may grow to is limited by its own file system or by a watch.
 * 4. Until `close` it belongs to this process by name, so that a later worker can prove it an orphan.
 */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { GitError, git, listTree } from '../mainline/git.ts';
import { WorkspaceTooSmall } from './faults.ts';
import { loopWorks, mountLoop } from './loop-store.ts';
import { ownedDirectory, removeTree } from './owned-directory.ts';

const run = promisify(execFile);

export interface WorkspaceOptions {
  readonly stateDir: string;
  /** Repository that has the objects. Only its objects are used, neither its configuration nor its attributes. */
  readonly gitDir: string;
  /** A commit or tree. */
  readonly treeish: string;
  /** Most that the checkout and what is written into it may take. */
  readonly diskBytes: number;
  /** Owner of the files; see sandboxUser(). Only root can give files away. */
  readonly uid: number;
  /** For people who look at the disk. */
  readonly name: string;
  /** 'auto' takes a file system of its own where the host can, else a plain directory. */
  readonly store?: 'auto' | 'loop' | 'directory';
}

export interface Workspace {
  readonly dir: string;
  readonly store: 'loop' | 'directory';
  /** Removes everything. Can be repeated. */
  close(): Promise<void>;
}

/** Throws WorkspaceTooSmall when the tree does not fit, GitError when it is not in the repository. */
export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const { stateDir, diskBytes, uid } = options;
  const asked = options.store ?? 'auto';
  const store = asked === 'auto' ? ((await loopWorks(stateDir)) ? 'loop' : 'directory') : asked;
  const base = await ownedDirectory(resolve(stateDir), 'workspaces', options.name);
  try {
    const mount = join(base, 'mnt');
    const dir = join(mount, 'w'); // one level down: the root of an ext4 has lost+found
    await mkdir(mount);
    if (store === 'loop') await mountLoop(base, diskBytes);
    await mkdir(dir);
    await checkout(base, dir, options, store);
    if (process.getuid?.() === 0) await run('chown', ['-R', '-h', '--', `${uid}:${uid}`, dir]);
    return { dir, store, close: () => removeTree(base) };
  } catch (error) {
    await removeTree(base).catch(() => undefined);
    throw error;
  }
}

/**
 * A git directory of its own, with the repository's objects as alternates: so that neither the repository's configuration nor its
 * info/attributes matter, and ours, which wins over every .gitattributes in the tree, switches all conversions off.
 */
async function checkout(
  base: string,
  dir: string,
  options: WorkspaceOptions,
  store: Workspace['store'],
): Promise<void> {
  const { gitDir, treeish, diskBytes } = options;
  const own = join(base, 'git');
  await Promise.all(['objects/info', 'refs', 'info'].map((sub) => mkdir(join(own, sub), { recursive: true })));
  await Promise.all([
    writeFile(join(own, 'HEAD'), 'ref: refs/heads/none\n'),
    writeFile(
      join(own, 'config'),
      '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tautocrlf = false\n\tfilemode = true\n\tsymlinks = true\n',
    ),
    writeFile(join(own, 'objects/info/alternates'), `${resolve(gitDir)}/objects\n`),
    writeFile(join(own, 'info/attributes'), '* -text -eol -crlf -ident -filter -working-tree-encoding\n'),
  ]);
  const oid = /^[0-9a-f]{40}$/.test(treeish)
    ? treeish
    : (await git(gitDir, ['rev-parse', '--verify', '--end-of-options', `${treeish}^{tree}`])).toString().trim();
  const env = { GIT_INDEX_FILE: join(base, 'index'), GIT_WORK_TREE: dir };
  // Nothing stops a checkout into a plain directory, so it is measured first; on a file system of its own only when it failed.
  if (store === 'directory') await checkSize(own, oid, diskBytes);
  await git(own, ['read-tree', oid], { env });
  try {
    await git(own, ['checkout-index', '--all', '--force', '--quiet'], { env });
  } catch (error) {
    if (error instanceof GitError && store === 'loop') await checkSize(own, oid, diskBytes);
    throw error;
  }
}

const BLOCK_BYTES = 4096;
/** As loop-store.ts makes them. */
const BYTES_PER_FILE = 8192;

async function checkSize(gitDir: string, oid: string, diskBytes: number): Promise<void> {
  const entries = await listTree(gitDir, oid);
  const bytes = entries.reduce((sum, { size }) => sum + Math.ceil((size ?? 0) / BLOCK_BYTES) * BLOCK_BYTES, 0);
  if (bytes < diskBytes && entries.length < diskBytes / BYTES_PER_FILE) return;
  throw new WorkspaceTooSmall(
    `The checkout takes ${bytes} bytes in ${entries.length} files and does not fit into sandbox.limits.disk (${diskBytes} bytes). ` +
      'Raise it in the spec, for example limits: {disk: 4g}.',
  );
}
