/** One process at a time: an `up` or `down` of a state folder, the making of an image. */
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { poll, processIdentity } from './process.ts';

/** A lock made but never signed belongs to a process killed in between; milliseconds until that is certain. */
const UNSIGNED_MS = 5_000;

async function take(dir: string): Promise<true | null> {
  try {
    await mkdir(dir);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (await ownerGone(dir)) {
      // Renaming is atomic: of several that see a dead owner, one removes its lock.
      const dead = `${dir}.dead.${process.pid}`;
      await rename(dir, dead).catch(() => {});
      await rm(dead, { recursive: true, force: true });
    }
    return null;
  }
  await writeFile(join(dir, 'owner'), `${process.pid}\n${await processIdentity(process.pid)}\n`);
  return true;
}

async function ownerGone(dir: string): Promise<boolean> {
  const owner = await readFile(join(dir, 'owner'), 'utf8').catch(() => null);
  if (owner === null) {
    const made = await stat(dir).catch(() => null);
    return made !== null && Date.now() - made.mtimeMs > UNSIGNED_MS;
  }
  const [pid, identity] = owner.split('\n');
  return (await processIdentity(Number(pid))) !== identity;
}

/** Runs the work while holding the lock; `onWait` is called once when somebody else holds it. */
export async function withLock<T>(dir: string, work: () => Promise<T>, onWait: () => void = () => {}): Promise<T> {
  await mkdir(dirname(dir), { recursive: true });
  if ((await take(dir)) === null) {
    onWait();
    const waitMs = 30 * 60_000;
    if ((await poll(() => take(dir), waitMs, 200)) === null) throw new Error(`the lock ${dir} was not released`);
  }
  try {
    return await work();
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
