/**
 * Containers left behind by workers that died.
 *
 * Invariant: a container goes only when its owner is provably gone, or is this process and no longer busy with it. What belongs to another
 * host or pid namespace goes a day after its deadline, unless paused: nothing that lives is that late.
 */
import type Docker from 'dockerode';
import { LABEL, liveNonces } from './identity.ts';
import { type Owner, ownerState, parseOwner } from './owner.ts';
import { removeContainer } from './remove.ts';
import type { Log } from './types.ts';

const LATE_MS = 24 * 3600 * 1000;
/** Removals at once: 40 containers went in 4.6 s with 8 (research: crash recovery). */
const AT_ONCE = 8;

interface Reaping {
  readonly docker: Docker;
  readonly containers: readonly Docker.ContainerInfo[];
  readonly owner: Owner;
  readonly log: Log;
}

/** Whether a container may be removed, seen from `self` now. */
export function isOrphan(
  container: Pick<Docker.ContainerInfo, 'Labels' | 'State'>,
  self: Owner,
  nowMs: number,
): boolean {
  const { Labels: labels, State: state } = container;
  switch (ownerState(parseOwner(labels[LABEL.owner] ?? ''), self)) {
    case 'gone':
      return true;
    case 'alive':
      return false;
    case 'self':
      return !liveNonces.has(labels[LABEL.nonce] ?? '');
    case 'unprovable': {
      const deadline = Number(labels[LABEL.deadline] ?? Number.NaN);
      return Number.isFinite(deadline) && nowMs > deadline + LATE_MS && state !== 'paused';
    }
  }
}

export async function reapContainers({ docker, containers, owner, log }: Reaping): Promise<number> {
  const orphans = containers.filter((container) => isOrphan(container, owner, Date.now()));
  let removed = 0;
  for (let at = 0; at < orphans.length; at += AT_ONCE) {
    await Promise.all(
      orphans.slice(at, at + AT_ONCE).map(async ({ Id, Labels }) => {
        try {
          await removeContainer(docker, Id, 30_000);
          removed += 1;
          log.info(
            { container: Id, run: Labels[LABEL.run], task: Labels[LABEL.task], owner: Labels[LABEL.owner] },
            'removed an orphaned container',
          );
        } catch (error) {
          log.warn({ container: Id, error }, 'could not remove an orphaned container');
        }
      }),
    );
  }
  return removed;
}
