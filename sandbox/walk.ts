/**
 * Lists what a command left in a directory. Used only after its container is gone: nothing writes meanwhile.
 *
 * Invariants
 * 1. Only lstat, readdir and readlink: no link is followed, no special file is opened, names are bytes.
 * 2. Bounded: by entries, depth, path length, file size and sum, each refused by the name of its rule before any content is read.
 * 3. What is ignored is not descended into, so it cannot make a tree be refused.
 */
import { lstatSync, opendirSync, readlinkSync } from 'node:fs';
import { setImmediate as breathe } from 'node:timers/promises';
import { isDotGit, isGitControlFile } from './names.ts';

export interface WalkLimits {
  readonly maxEntries: number;
  readonly maxDepth: number;
  readonly maxPathBytes: number;
  readonly maxFileBytes: number;
  readonly maxTotalBytes: number;
}

export const WALK_LIMITS: WalkLimits = {
  maxEntries: 100_000,
  maxDepth: 64,
  maxPathBytes: 3000, // the system's 4096 less the directory's own path
  maxFileBytes: 64 * 2 ** 20,
  maxTotalBytes: 512 * 2 ** 20,
};

export interface Found {
  /** Relative, no leading slash. */
  readonly path: Buffer;
  readonly mode: '100644' | '100755' | '120000';
  readonly size: number;
  /** Of a link. */
  readonly target: Buffer | null;
}

/** What the base tree knows; keys are paths as latin1 strings, which keeps bytes. */
export interface Known {
  readonly sizes: ReadonlyMap<string, number>;
  readonly directories: ReadonlySet<string>;
  readonly submodules: ReadonlySet<string>;
}

export interface Walk {
  readonly files: Found[];
  /** Submodules of the base whose directory is still there and empty. */
  readonly submodules: string[];
}

/** A tree that is not taken. */
export class WalkRefused extends Error {
  override readonly name = 'WalkRefused';
  readonly rule: string;
  readonly path: Buffer;
  constructor(rule: string, path: Buffer, message: string) {
    super(message);
    this.rule = rule;
    this.path = path;
  }
}

interface Entry {
  readonly path: Buffer;
  readonly name: Buffer;
  readonly depth: number;
}

interface Walker {
  readonly root: string;
  readonly limits: WalkLimits;
  readonly known: Known;
  /** Which of these untracked paths are ignored; latin1 keys. */
  readonly ignored: (paths: readonly Buffer[]) => Promise<ReadonlySet<string>>;
}

const SLASH = Buffer.from('/');
const key = (path: Buffer): string => path.toString('latin1');

export async function walkTree(walker: Walker): Promise<Walk> {
  const { limits, known } = walker;
  const walk: Walk = { files: [], submodules: [] };
  let entries = 0;
  let total = 0;
  let level: Entry[] = [{ path: Buffer.alloc(0), name: Buffer.alloc(0), depth: 0 }];
  while (level.length > 0) {
    const found: Entry[] = [];
    for (const directory of level) {
      const before = found.length;
      for (const entry of readDirectory(walker, directory, limits.maxEntries - entries)) found.push(entry);
      entries += found.length - before;
      if ((found.length & 1023) < found.length - before) await breathe();
    }
    // A name like .git is never asked about: it is refused whether or not it is ignored.
    for (const { name, path } of found) {
      if (isDotGit(name))
        throw new WalkRefused('nested-git', path, 'A repository inside the repository is not taken; remove it.');
    }
    const untracked = found.filter(
      ({ path }) =>
        !known.sizes.has(key(path)) && !known.directories.has(key(path)) && !known.submodules.has(key(path)),
    );
    const ignored =
      untracked.length === 0 ? new Set<string>() : await walker.ignored(untracked.map(({ path }) => path));
    level = [];
    for (const entry of found) {
      if (ignored.has(key(entry.path))) continue;
      const taken = examine(walker, entry);
      if (taken === 'directory') {
        if (known.submodules.has(key(entry.path))) keepSubmodule(walker, entry, walk);
        else if (entry.depth > limits.maxDepth) {
          throw new WalkRefused('too-deep', entry.path, `Directories are nested more than ${limits.maxDepth} deep.`);
        } else level.push(entry);
      } else {
        total += taken.size;
        if (total > limits.maxTotalBytes) {
          throw new WalkRefused('too-large', entry.path, `The tree is larger than ${limits.maxTotalBytes} bytes.`);
        }
        walk.files.push(taken);
      }
    }
  }
  return walk;
}

function absolute(walker: Walker, path: Buffer): Buffer {
  return path.length === 0 ? Buffer.from(walker.root) : Buffer.concat([Buffer.from(walker.root), SLASH, path]);
}

function readDirectory(walker: Walker, directory: Entry, room: number): Entry[] {
  const found: Entry[] = [];
  const dir = readable(directory.path, () =>
    opendirSync(absolute(walker, directory.path) as unknown as string, {
      encoding: 'buffer' as BufferEncoding,
      bufferSize: 256,
    }),
  );
  try {
    for (let next = dir.readSync(); next !== null; next = dir.readSync()) {
      const name = next.name as unknown as Buffer;
      if (directory.depth === 0 && key(name) === '.git') continue; // the agent's own scratch repository
      const path = directory.depth === 0 ? name : Buffer.concat([directory.path, SLASH, name]);
      if (path.length > walker.limits.maxPathBytes) {
        throw new WalkRefused('path-too-long', path, `A path is longer than ${walker.limits.maxPathBytes} bytes.`);
      }
      if (found.length >= room) {
        throw new WalkRefused(
          'too-many-files',
          directory.path,
          `There are more than ${walker.limits.maxEntries} files and directories.`,
        );
      }
      found.push({ path, name, depth: directory.depth + 1 });
    }
  } finally {
    dir.closeSync();
  }
  return found;
}

/** A worker that is not root cannot read what a command took its own permissions from. */
function readable<T>(path: Buffer, act: () => T): T {
  try {
    return act();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'EACCES' || code === 'EPERM')
      throw new WalkRefused('unreadable', path, 'The permissions of this path do not let it be read.');
    throw error;
  }
}

function examine(walker: Walker, { path, name }: Entry): Found | 'directory' {
  const { limits, known } = walker;
  const full = absolute(walker, path);
  const stat = readable(path, () => lstatSync(full));
  if (stat.isDirectory()) return 'directory';
  if (stat.isSymbolicLink()) {
    if (isGitControlFile(name))
      throw new WalkRefused('git-file-link', path, 'A file that steers git must not be a symbolic link.');
    const target = readlinkSync(full, { encoding: 'buffer' });
    return { path, mode: '120000', size: target.length, target };
  }
  if (!stat.isFile()) {
    throw new WalkRefused('special-file', path, 'A named pipe, socket or device cannot be part of a commit.');
  }
  // What the base has at exactly this size may be larger than a new file may.
  if (stat.size > limits.maxFileBytes && known.sizes.get(key(path)) !== stat.size) {
    throw new WalkRefused(
      'file-too-large',
      path,
      `The file is ${stat.size} bytes, more than the ${limits.maxFileBytes} that one file may have.`,
    );
  }
  if (process.getuid?.() !== 0 && (stat.mode & 0o400) === 0)
    throw new WalkRefused('unreadable', path, 'The permissions of this file do not let it be read.');
  return { path, mode: (stat.mode & 0o100) === 0 ? '100644' : '100755', size: stat.size, target: null };
}

function keepSubmodule(walker: Walker, entry: Entry, walk: Walk): void {
  if (readDirectory(walker, entry, 1).length > 0) {
    throw new WalkRefused(
      'submodule',
      entry.path,
      'A submodule was filled; its content cannot be part of this commit.',
    );
  }
  walk.submodules.push(key(entry.path));
}
