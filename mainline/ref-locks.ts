/**
 * Lock files of refs, as a killed git leaves them.
 *
 * 1. A lock is removed only when it is older than 10 s: a transaction of ours takes milliseconds, and there is one writer per hub.
 */
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

export const STALE_LOCK_MS = 10_000;
const PAUSE_MS = 250;

/** Whether it is worth trying again: a lock stood in the way, and is gone or may be soon. */
export async function waitForLocks(gitDir: string, refs: readonly { readonly ref: string }[]): Promise<boolean> {
  const paths = ['packed-refs', ...refs.map(({ ref }) => ref)].map((name) => join(gitDir, `${name}.lock`));
  let locked = false;
  for (const path of paths) {
    const info = await stat(path).catch(() => null);
    if (info === null) continue;
    locked = true;
    if (Date.now() - info.mtimeMs > STALE_LOCK_MS) await rm(path, { force: true });
  }
  if (locked) await delay(PAUSE_MS);
  return locked;
}
