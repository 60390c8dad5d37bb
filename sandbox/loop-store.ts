/**
 * A file system of its own for a workspace: a sparse file, ext4, loop-mounted (about 0.1 s). The only limit on bytes and files together
 * that every Linux has; needs root and loop devices, which one probe per process finds out.
 */
import { execFile } from 'node:child_process';
import { mkdir, open } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ownedDirectory, removeTree } from './owned-directory.ts';

const run = promisify(execFile);

/** ext4's own tables on top of what may be used, and its least size. */
function imageBytes(diskBytes: number): number {
  return Math.ceil((diskBytes + diskBytes / 32 + 8 * 2 ** 20) / 4096) * 4096;
}

/** Makes `<base>/image` and mounts it at `<base>/mnt`. No journal: nothing here outlives a crash of the host. */
export async function mountLoop(base: string, diskBytes: number): Promise<void> {
  const image = join(base, 'image');
  const file = await open(image, 'w', 0o600);
  await file.truncate(imageBytes(diskBytes));
  await file.close();
  const features = ['-O', '^has_journal,^resize_inode', '-E', 'lazy_itable_init=1,nodiscard', '-m', '0', '-i', '8192'];
  await run('mkfs.ext4', ['-q', '-F', ...features, image]);
  await run('mount', ['-o', 'loop,nosuid,nodev', image, join(base, 'mnt')]);
}

type Sees = (path: string) => Promise<boolean>;
const engines = new Map<string, Sees>();
const probes = new Map<string, Promise<boolean>>();

/** Tells the probe how to ask the engine whether it sees a path: mounts made in a container or a private mount namespace stay invisible to it. */
export function engineSees(stateDir: string, sees: Sees): void {
  engines.set(resolve(stateDir), sees);
}

/** Whether mountLoop works for this state directory, and the engine sees the result. Tried once per process. */
export async function loopWorks(stateDir: string): Promise<boolean> {
  const place = resolve(stateDir);
  let probe = probes.get(place);
  if (probe === undefined) {
    probe = tryLoop(place);
    probes.set(place, probe);
    probe.catch(() => probes.delete(place)); // the engine did not answer: nothing was learned
  }
  return probe;
}

async function tryLoop(stateDir: string): Promise<boolean> {
  if (process.getuid?.() !== 0) return false;
  const base = await ownedDirectory(stateDir, 'scratch', 'loop-probe');
  const inside = join(base, 'mnt', 'w');
  try {
    try {
      await mkdir(join(base, 'mnt'));
      await mountLoop(base, 8 * 2 ** 20);
      await mkdir(inside);
    } catch {
      return false;
    }
    return (await engines.get(stateDir)?.(inside)) ?? true;
  } finally {
    await removeTree(base).catch(() => undefined);
  }
}
