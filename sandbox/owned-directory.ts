/**
 * Directories that belong to a process and go with it: workspaces, scratch, sockets.
 *
 * Invariant: the owner stands in the directory's name, so there is no instant at which a directory has none.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ownerTag, thisOwner } from './owner.ts';

const run = promisify(execFile);
const SEPARATOR = '~';

/** Makes `<stateDir>/sandbox/<kind>/<name>~<owner>~<random>`, mode 0700 (the engine, being root, still mounts what is in it). */
export async function ownedDirectory(stateDir: string, kind: string, name: string): Promise<string> {
  const parent = join(stateDir, 'sandbox', kind);
  await mkdir(parent, { recursive: true, mode: 0o711 });
  const safe = name.replace(/[^A-Za-z0-9._-]/g, '_').slice(0, 80);
  // The host's part of the tag is not needed for a proof here: a state directory belongs to one host, and boot id and pid namespace tell the rest.
  return mkdtemp(join(parent, `${safe}${SEPARATOR}${ownerTag(thisOwner('local'))}${SEPARATOR}`));
}

/** The owner's tag in a directory's name, or null when it is not one of ours. */
export function tagOfDirectory(name: string): string | null {
  return name.split(SEPARATOR)[1] ?? null;
}

/** Mount points at or below a path, deepest first. */
export async function mountsBelow(dir: string): Promise<string[]> {
  const table = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '');
  return table
    .split('\n')
    .map((line) =>
      (line.split(' ')[4] ?? '').replace(/\\(\d{3})/g, (_, octal: string) =>
        String.fromCharCode(Number.parseInt(octal, 8)),
      ),
    )
    .filter((point) => point === dir || point.startsWith(`${dir}/`))
    .sort((a, b) => b.length - a.length);
}

/** Unmounts what is mounted below and removes everything, links not followed. `rm` and not fs.rm, which fails on a tree 3,000 deep. */
export async function removeTree(dir: string): Promise<void> {
  for (const point of await mountsBelow(dir)) {
    // Lazily when busy: the name goes now, the file system when its last user does.
    await run('umount', ['--', point]).catch(() => run('umount', ['-l', '--', point]));
  }
  try {
    await run('rm', ['-rf', '--one-file-system', '--', dir]);
  } catch {
    // Not root, and a command took permissions from its own directories: they are ours, so give them back first.
    await run('chmod', ['-R', 'u+rwX', '--', dir]).catch(() => undefined);
    await run('rm', ['-rf', '--one-file-system', '--', dir]);
  }
}

/** Entries of `<stateDir>/sandbox/*`, as full paths. */
export async function listOwned(stateDir: string): Promise<{ path: string; name: string }[]> {
  const root = join(stateDir, 'sandbox');
  const kinds = await readdir(root).catch(() => []);
  const all = await Promise.all(
    kinds.map(async (kind) =>
      (await readdir(join(root, kind)).catch(() => [])).map((name) => ({ path: join(root, kind, name), name })),
    ),
  );
  return all.flat();
}
