/**
 * A scratch place for one activity: a bare repository of its own in front of the run's (so that trees can be made without writing
 * into the hub or its mirror), and directories for what goes into containers and for what they print.
 *
 * 1. Nothing is ever written into the repository behind it.
 * 2. It is gone when the activity ends; what a killed worker left is reaped with its other directories.
 */
import { chmod, copyFile, mkdir, mkdtemp, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ownedDirectory, removeTree } from './owned-directory.ts';

export interface Scratch {
  /** Bare repository that reads the run's objects and writes its own. */
  readonly gitDir: string;
  readonly objectDir: string;
  /** Fresh directory, readable by the sandbox's user, for files that are mounted read-only. */
  inputDir(files: Readonly<Record<string, string>>): Promise<string>;
  /** Path of a file for a step's output. */
  outputFile(name: string): string;
  close(): Promise<void>;
}

export interface ScratchOptions {
  readonly stateDir: string;
  /** Git directory that holds the run's objects. */
  readonly source: string;
  /** Files that merge by union, as the hub merges them. */
  readonly union: readonly string[];
}

export async function openScratch({ stateDir, source, union }: ScratchOptions): Promise<Scratch> {
  const root = await ownedDirectory(stateDir, 'scratch', 'activity');
  const gitDir = join(root, 'repo.git');
  const objectDir = join(gitDir, 'objects');
  for (const dir of ['objects/info', 'objects/pack', 'refs/heads', 'info'])
    await mkdir(join(gitDir, dir), { recursive: true });
  await mkdir(join(root, 'out'));
  await writeFile(join(gitDir, 'HEAD'), 'ref: refs/heads/none\n');
  await writeFile(join(gitDir, 'config'), '[core]\n\trepositoryformatversion = 0\n\tbare = true\n[gc]\n\tauto = 0\n');
  await writeFile(join(objectDir, 'info', 'alternates'), `${await realpath(join(source, 'objects'))}\n`);
  await writeAttributes(source, gitDir, union);
  return {
    gitDir,
    objectDir,
    inputDir: async (files) => {
      const dir = await mkdtemp(join(root, 'in-'));
      for (const [name, content] of Object.entries(files)) {
        await writeFile(join(dir, name), content);
        await chmod(join(dir, name), 0o644); // whatever our umask: the sandbox's user reads it
      }
      await chmod(dir, 0o755);
      return dir;
    },
    outputFile: (name) => join(root, 'out', name.replaceAll('/', '_')),
    close: () => removeTree(root),
  };
}

/** The hub's own attributes where they can be seen, so that a file merges here as it will merge there. */
async function writeAttributes(source: string, gitDir: string, union: readonly string[]): Promise<void> {
  const target = join(gitDir, 'info', 'attributes');
  const copied = await copyFile(join(source, 'info', 'attributes'), target).then(
    () => true,
    () => false,
  );
  if (!copied && union.length > 0)
    await writeFile(target, union.map((glob) => `"${glob.replace(/["\\]/g, '\\$&')}" merge=union\n`).join(''));
}
