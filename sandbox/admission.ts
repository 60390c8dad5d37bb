/** Whether this host can take another step now. Asked before work is claimed: an idle host takes work, a full one takes none. */
import { readFile, statfs } from 'node:fs/promises';
import type { Limits } from '../spec/model.ts';
import type { Semaphore } from './semaphore.ts';
import type { Admission } from './types.ts';

/** Kept free for the host itself and for pages that a running step is about to touch. */
const MEMORY_RESERVE_BYTES = 256 * 2 ** 20;
/** Free space below which nothing starts: images, logs and the hub live on the same disk. */
const DISK_WATERMARK_BYTES = 2 * 2 ** 30;

interface Asked {
  readonly stateDir: string;
  readonly slots: Semaphore;
  readonly limits: Pick<Limits, 'memoryBytes' | 'diskBytes'> | undefined;
}

export async function admit({ stateDir, slots, limits }: Asked): Promise<Admission> {
  if (slots.taken >= slots.size) {
    return { ok: false, why: `All ${slots.size} slots of this host are taken (SWARMLINE_SLOTS).` };
  }
  const memory = await availableBytes();
  const memoryNeeded = (limits?.memoryBytes ?? 0) + MEMORY_RESERVE_BYTES;
  if (memory !== null && memory < memoryNeeded) {
    return {
      ok: false,
      why: `${mib(memory)} of memory are free, ${mib(memoryNeeded)} are needed (sandbox.limits.memory and a reserve).`,
    };
  }
  const { bavail, bsize } = await statfs(stateDir);
  const disk = bavail * bsize;
  const diskNeeded = (limits?.diskBytes ?? 0) + DISK_WATERMARK_BYTES;
  if (disk < diskNeeded) {
    return {
      ok: false,
      why: `${mib(disk)} of disk are free in ${stateDir}, ${mib(diskNeeded)} are needed (sandbox.limits.disk and a reserve).`,
    };
  }
  return { ok: true };
}

/** MemAvailable: what can be had without swapping. null where the kernel does not say. */
async function availableBytes(): Promise<number | null> {
  const found = /^MemAvailable:\s+(\d+) kB/m.exec(await readFile('/proc/meminfo', 'utf8').catch(() => ''));
  return found === null ? null : Number(found[1]) * 1024;
}

function mib(bytes: number): string {
  return `${Math.floor(bytes / 2 ** 20)} MiB`;
}
