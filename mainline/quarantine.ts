/**
 * A private object directory in front of a repository's own: what is written goes there, what is read comes from both.
 * Failed merges leave conflict-marker blobs and trees behind (2 objects each), refused packs whatever they held: none of it
 * reaches the repository unless it is published.
 */
import { mkdir, mkdtemp, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { createHash, randomBytes } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { join } from 'node:path';

export interface Quarantine {
  /** The object directory. */
  readonly dir: string;
  /** Environment for git(): write here, read here and in the repository. */
  readonly env: { readonly GIT_OBJECT_DIRECTORY: string };
  close(): Promise<void>;
}

/** Opens a private object directory. `parent` must be on the repository's file system when its packs are to be moved in (default: inside the git directory). */
export async function openQuarantine(gitDir: string, parent: string = join(gitDir, 'quarantine')): Promise<Quarantine> {
  await mkdir(parent, { recursive: true });
  const dir = await realpath(await mkdtemp(join(parent, 'q-')));
  await mkdir(join(dir, 'info'));
  await mkdir(join(dir, 'pack'));
  // The file, not GIT_ALTERNATE_OBJECT_DIRECTORIES: that one splits at colons.
  await writeFile(join(dir, 'info', 'alternates'), `${await realpath(join(gitDir, 'objects'))}\n`);
  return {
    dir,
    env: { GIT_OBJECT_DIRECTORY: dir },
    close: () => rm(dir, { recursive: true, force: true, maxRetries: 3 }),
  };
}

/** Writes a commit as a loose object (no process, no fsync: for quarantines only). Returns its id. */
export async function writeCommitObject(objectDir: string, body: string): Promise<string> {
  const content = Buffer.from(body, 'utf8');
  const object = Buffer.concat([Buffer.from(`commit ${content.length}\0`), content]);
  const oid = createHash('sha1').update(object).digest('hex');
  const dir = join(objectDir, oid.slice(0, 2));
  await mkdir(dir, { recursive: true });
  // Whole or not at all; the same name always has the same bytes.
  const temporary = join(dir, `tmp_obj_${randomBytes(6).toString('hex')}`);
  await writeFile(temporary, deflateSync(object, { level: 1 }), { mode: 0o444 });
  await rename(temporary, join(dir, oid.slice(2)));
  return oid;
}
