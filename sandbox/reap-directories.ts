/** Workspaces, mounts and scratch directories left behind by workers that died: same proof as for containers. */
import { listOwned, removeTree, tagOfDirectory } from './owned-directory.ts';
import { ownerStateOfTag, thisOwner } from './owner.ts';
import type { Log } from './types.ts';

export async function reapDirectories(stateDir: string, log: Log): Promise<number> {
  const self = thisOwner('local');
  let removed = 0;
  for (const { path, name } of await listOwned(stateDir)) {
    const tag = tagOfDirectory(name);
    if (tag === null || ownerStateOfTag(tag, self) !== 'gone') continue;
    try {
      await removeTree(path);
      removed += 1;
      log.info({ path }, 'removed an orphaned directory');
    } catch (error) {
      log.warn({ path, error }, 'could not remove an orphaned directory');
    }
  }
  return removed;
}
