/**
 * One setup at a time per key over all processes of a host. Only saves work: that a half-made result is never seen comes from renaming the
 * finished directory, not from this lock.
 */
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatOwner, ownerState, parseOwner, thisOwner } from './owner.ts';

const POLL_MS = 250;

/** Waits until the lock is ours or `done` says that it is no longer needed (null). Its holder may die: a dead one's lock is taken over. */
export async function lockSetup(
  path: string,
  signal: AbortSignal,
  done: () => Promise<boolean>,
): Promise<(() => Promise<void>) | null> {
  const self = thisOwner('local');
  const mine = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  await writeFile(mine, formatOwner(self));
  try {
    for (;;) {
      signal.throwIfAborted();
      if (await done()) return null;
      if (await linked(mine, path)) return () => rm(path, { force: true });
      const holder = await readFile(path, 'utf8').catch(() => null);
      // A link has its content from the first moment, so an unreadable holder means: just released.
      if (holder !== null && ownerState(parseOwner(holder), self) === 'gone') {
        const away = `${mine}.stale`;
        await rename(path, away).catch(() => undefined);
        await rm(away, { force: true });
      } else if (holder !== null) await sleep(POLL_MS, undefined, { signal });
    }
  } finally {
    await rm(mine, { force: true });
  }
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
