/**
 * The slots of a sandbox host. A host polls for work only while its memory and disk can hold another container: what it cannot take
 * stays on the queue for a host that can. (Claiming is pull; DESIGN.md section 3.)
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { ActivitySlotInfo, CustomSlotSupplier } from '@temporalio/worker';
import type { Sandbox } from '../sandbox/types.ts';

const LOOK_AGAIN_MS = 500;

/** @param slots most activities at once. */
export function admissionSlots(
  sandbox: Pick<Sandbox, 'admission'>,
  slots: number,
  refused: (why: string) => void,
): CustomSlotSupplier<ActivitySlotInfo> {
  let taken = 0;
  return {
    type: 'custom',
    async reserveSlot(_context, abortSignal) {
      for (let last = ''; ;) {
        abortSignal.throwIfAborted();
        if (taken < slots) {
          taken += 1;
          const admission = await sandbox
            .admission()
            .catch((error: unknown) => ({ ok: false as const, why: String(error) }));
          if (admission.ok) return {};
          taken -= 1;
          if (admission.why !== last) refused(admission.why);
          last = admission.why;
        }
        await delay(LOOK_AGAIN_MS, undefined, { signal: abortSignal });
      }
    },
    tryReserveSlot: () => null, // eager start would pass the look at memory and disk by
    markSlotUsed: () => undefined,
    releaseSlot: () => {
      taken -= 1;
    },
  };
}
