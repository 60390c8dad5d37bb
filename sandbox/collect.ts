/**
 * What a command left in its workspace, as a tree in our object store. git never runs *on* the directory: it is given a list of plain
 * files to hash and a list of entries to write.
 *
 * Invariants
 * 1. The tree of an untouched checkout is the tree that was checked out, whatever attributes it has.
 * 2. A file's bytes are what is stored: no filter, no attribute.
 * 3. A path that the base tracks is recorded even when ignored; an untracked one only when neither ignored (by the base) nor left out.
 * 4. Every refusal has the name of its rule and the first path; nothing is written for it that anyone refers to.
 */
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { GitError, git, listTree, printablePath } from '../mainline/git.ts';
import { ignoreRules } from './ignore.ts';
import { removeTree } from './owned-directory.ts';
import { type Found, type Known, WALK_LIMITS, type Walk, type WalkLimits, WalkRefused, walkTree } from './walk.ts';

export interface CollectOptions {
  /** The workspace. No container may have it mounted any more. */
  readonly dir: string;
  /** Repository whose objects the base is in; it is only read. */
  readonly gitDir: string;
  /** New objects go here (made if absent); with gitDir's objects as alternates the tree is complete. */
  readonly objectDir: string;
  /** The commit or tree that was checked out. */
  readonly baseTree: string;
  /** `diskBytes` caps the sum of file sizes (512 MiB at most unless maxTotalBytes says otherwise); the rest overrides WALK_LIMITS. */
  readonly limits: { readonly diskBytes: number } & Partial<WalkLimits>;
  /** Paths that are never recorded unless the base tracks something in them: what `setup` provides, for example node_modules. */
  readonly leaveOut?: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

export type Collected =
  { readonly tree: string } | { readonly refused: string; readonly path: string; readonly message: string };

export async function collectTree(options: CollectOptions): Promise<Collected> {
  const { dir, gitDir, objectDir, baseTree, signal } = options;
  await mkdir(objectDir, { recursive: true });
  const scratch = await mkdtemp(join(dirname(resolve(objectDir)), '.collect-'));
  try {
    const base = await listTree(gitDir, baseTree, { signal });
    const known: Known = {
      sizes: new Map(
        base.flatMap(({ path, size }) => (size === null ? [] : [[path.toString('latin1'), size] as const])),
      ),
      directories: parents(base.map(({ path }) => path)),
      submodules: new Set(base.filter(({ mode }) => mode === '160000').map(({ path }) => path.toString('latin1'))),
    };
    const rules = await ignoreRules(gitDir, base, scratch);
    const left = new Set(
      (options.leaveOut ?? []).map((path) => Buffer.from(path.replace(/^\.?\/+|\/+$/g, '')).toString('latin1')),
    );
    const walk = await walkTree({
      root: resolve(dir),
      limits: limitsOf(options.limits),
      known,
      ignored: async (paths) => {
        const set = new Set(paths.map((path) => path.toString('latin1')).filter((path) => left.has(path)));
        const asked = paths.filter((path) => !set.has(path.toString('latin1')));
        for (const path of asked.length === 0 ? [] : await rules(asked)) set.add(path);
        return set;
      },
    });
    const submodules = base.filter(({ path }) => walk.submodules.includes(path.toString('latin1')));
    return {
      tree: await store(
        options,
        scratch,
        walk,
        submodules.map(({ path, oid }) => entryLine('160000', oid, path)),
      ),
    };
  } catch (error) {
    if (error instanceof WalkRefused) {
      return { refused: error.rule, path: printablePath(error.path).path, message: error.message };
    }
    throw error;
  } finally {
    await removeTree(scratch);
  }
}

function limitsOf({ diskBytes, ...own }: CollectOptions['limits']): WalkLimits {
  const pick = (name: keyof WalkLimits): number => own[name] ?? WALK_LIMITS[name];
  return {
    maxEntries: pick('maxEntries'),
    maxDepth: pick('maxDepth'),
    maxPathBytes: pick('maxPathBytes'),
    maxFileBytes: pick('maxFileBytes'),
    maxTotalBytes: Math.min(diskBytes, pick('maxTotalBytes')),
  };
}

/** Every directory that has something of the tree in it. */
function parents(paths: readonly Buffer[]): Set<string> {
  const found = new Set<string>();
  for (const path of paths) {
    const text = path.toString('latin1');
    for (let slash = text.lastIndexOf('/'); slash > 0; slash = text.lastIndexOf('/', slash - 1)) {
      const parent = text.slice(0, slash);
      if (found.has(parent)) break;
      found.add(parent);
    }
  }
  return found;
}

function entryLine(mode: string, oid: string, path: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${mode} ${oid}\t`), path, Buffer.from([0])]);
}

async function store(
  options: CollectOptions,
  scratch: string,
  walk: Walk,
  submodules: readonly Buffer[],
): Promise<string> {
  const { gitDir, objectDir, signal } = options;
  const env = {
    GIT_OBJECT_DIRECTORY: resolve(objectDir),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: `${resolve(gitDir)}/objects`,
    GIT_INDEX_FILE: join(scratch, 'index'),
  };
  const oids = await hash(options, scratch, walk.files, env);
  const entries = walk.files.map((file, at) => entryLine(file.mode, oids[at] as string, file.path));
  try {
    await git(gitDir, ['update-index', '-z', '--index-info'], {
      env,
      signal,
      input: Buffer.concat([...entries, ...submodules]),
    });
  } catch (error) {
    // Our own rules cover git's; should a git version know more, its word is a refusal and not a fault of ours.
    if (error instanceof GitError && error.end === 'exited') {
      throw new WalkRefused(
        'unsafe-path',
        Buffer.alloc(0),
        `git does not take one of the paths: ${error.stderrTail.trim().slice(-300)}`,
      );
    }
    throw error;
  }
  return (await git(gitDir, ['write-tree'], { env, signal })).toString().trim();
}

/** Ids of the files, in order. Links are hashed through files of ours that hold their targets. */
async function hash(
  options: CollectOptions,
  scratch: string,
  files: readonly Found[],
  env: Record<string, string>,
): Promise<string[]> {
  if (files.length === 0) return [];
  const root = Buffer.from(`${resolve(options.dir)}/`);
  const paths = await Promise.all(
    files.map(async ({ path, target }, at) => {
      if (target === null) return quoted(Buffer.concat([root, path]));
      const link = join(scratch, `link-${at}`);
      await writeFile(link, target);
      return quoted(Buffer.from(link));
    }),
  );
  const args = ['hash-object', '-w', '--no-filters', '--stdin-paths'];
  const out = await git(options.gitDir, args, {
    env,
    signal: options.signal,
    input: Buffer.concat(paths),
    timeoutMs: 600_000,
  });
  const oids = out.toString('latin1').trim().split('\n');
  if (oids.length !== files.length)
    throw new Error(`hash-object answered ${oids.length} ids for ${files.length} files.`);
  return oids;
}

/** A line for --stdin-paths in git's C quoting: every byte that is not plain ASCII as octal. */
function quoted(path: Buffer): Buffer {
  let text = '"';
  for (const byte of path) {
    if (byte === 0x22 || byte === 0x5c) text += `\\${String.fromCharCode(byte)}`;
    else if (byte < 0x20 || byte >= 0x7f) text += `\\${byte.toString(8).padStart(3, '0')}`;
    else text += String.fromCharCode(byte);
  }
  return Buffer.from(`${text}"\n`, 'latin1');
}
