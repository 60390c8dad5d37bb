/**
 * What killed processes leave in a hub: quarantines, half-written packs, and holds on packs. Young ones may be in use.
 */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

const LEFTOVER_AGE_MS = 60 * 60_000;
const swept = new Set<string>();

/** Removes leftovers older than an hour; once per hub and process. */
export async function sweepOnce(hubDir: string): Promise<void> {
  if (swept.has(hubDir)) return;
  swept.add(hubDir);
  await sweep(join(hubDir, 'quarantine'), () => true);
  await sweep(join(hubDir, 'objects', 'pack'), (name) => /^(tmp_|\.tmp-)|\.keep$/.test(name));
}

async function sweep(dir: string, isLeftover: (name: string) => boolean): Promise<void> {
  for (const name of await readdir(dir).catch(() => [])) {
    if (!isLeftover(name)) continue;
    const path = join(dir, name);
    const info = await stat(path).catch(() => null);
    if (info !== null && Date.now() - info.mtimeMs > LEFTOVER_AGE_MS) await rm(path, { recursive: true, force: true });
  }
}
