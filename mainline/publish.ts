/**
 * Moves objects from a quarantine into the hub, durably.
 *
 * 1. One pack, fsynced with its index and the directory, before any ref names what is in it.
 * 2. A `.keep` file holds the pack until the refs stand, so that a gc at the wrong moment cannot take it.
 */
import { open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { git, gitText } from './git-process.ts';
import { updateRefs } from './refs.ts';
import type { RefUpdate } from './refs.ts';
import type { Quarantine } from './quarantine.ts';

/** Packs what `tip` needs beyond `have` into the quarantine. Returns the pack's name, null when there is nothing to pack. */
export async function packQuarantine(
  hubDir: string,
  quarantine: Quarantine,
  tip: string,
  have: string,
): Promise<string | null> {
  if (tip === have) return null;
  const name = await gitText(
    hubDir,
    ['pack-objects', '--revs', '--quiet', '--delta-base-offset', join(quarantine.dir, 'pack', 'pack')],
    { env: quarantine.env, input: `${tip}\n^${have}\n` },
  );
  return name === '' ? null : `pack-${name}`;
}

/** Moves packs of the quarantine into the hub, then moves the refs. Throws RefMoved; the objects then stay, unreachable and harmless. */
export async function publish(
  hubDir: string,
  quarantine: Quarantine,
  packs: readonly string[],
  updates: readonly RefUpdate[],
): Promise<void> {
  const target = join(hubDir, 'objects', 'pack');
  const keeps = packs.map((pack) => join(target, `${pack}.keep`));
  try {
    for (const pack of packs) {
      await writeFile(join(target, `${pack}.keep`), 'being published\n');
      // The index last: git looks for packs by their index.
      for (const end of ['pack', 'rev', 'idx'])
        await moveIn(join(quarantine.dir, 'pack', `${pack}.${end}`), join(target, `${pack}.${end}`));
    }
    if (packs.length > 0) await fsync(target);
    await updateRefs(hubDir, updates);
  } finally {
    for (const keep of keeps) await rm(keep, { force: true });
  }
}

async function moveIn(from: string, to: string): Promise<void> {
  try {
    await fsync(from);
    await rename(from, to);
  } catch (error) {
    // Not every git writes a .rev file.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || !from.endsWith('.rev')) throw error;
  }
}

async function fsync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Packs beyond which lookups get slow; each merge and each attempt adds one. */
const PACKS_BEFORE_REPACK = 100;

/** Rolls small packs together when there are many. Never drops an object, reachable or not. Returns whether it did anything. */
export async function repackWhenMany(hubDir: string, most: number = PACKS_BEFORE_REPACK): Promise<boolean> {
  const names = await readdir(join(hubDir, 'objects', 'pack'));
  if (names.filter((name) => name.endsWith('.idx')).length <= most) return false;
  await git(hubDir, ['repack', '-d', '--geometric=2', '--quiet'], { timeoutMs: 600_000 });
  return true;
}
