/**
 * Is a workspace full? Two kinds: one with a file system of its own (the kernel refuses; we only ask why a step failed) and a plain
 * directory (nobody refuses; we look every few seconds and the step is stopped).
 */
import { execFile } from 'node:child_process';
import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';

/** A look takes as long as the tree is large, so looks are at least 2 s and ten looks' time apart. */
const PERIOD_MS = 2000;
/** A full ext4 has less than this left: writes fail at the first block that they do not get. */
const NEARLY_NOTHING_BYTES = 256 * 1024;

/** An ext4 of the same size would have this many bytes per file; a plain directory gets as many files. */
const BYTES_PER_FILE = 8192;

/** What `du` counts below a directory, in KiB or files: it never follows links and bears trees of any depth. 0 when it could not tell. */
async function diskUsage(dir: string, flag: '-k' | '--inodes'): Promise<number> {
  return new Promise((resolve) => {
    const options = { cwd: '/', timeout: 60_000, env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' } };
    execFile('du', ['-sx', flag, '--', dir], options, (_error, out) => {
      resolve(Number(/^(\d+)\s/.exec(out)?.[1] ?? 0)); // du ends with 1 when a file vanished under it; its sum is still good
    });
  });
}

async function hasOwnFileSystem(dir: string): Promise<boolean> {
  return (await stat(dir)).dev !== (await stat(dirname(dirname(dir)))).dev;
}

export interface DiskWatch {
  /** Whether the workspace is over its limit (plain directory) or full (own file system) now. */
  isFull(): Promise<boolean>;
  stop(): void;
}

/** Watches a workspace; `onFull` is called at most once, and only for a plain directory. */
export async function watchDisk(dir: string, limitBytes: number, onFull: () => void): Promise<DiskWatch> {
  if (await hasOwnFileSystem(dir)) {
    return {
      async isFull() {
        const { bavail, bsize, ffree, files } = await statfs(dir);
        return bavail * bsize < NEARLY_NOTHING_BYTES || (files > 0 && ffree === 0);
      },
      stop: () => undefined,
    };
  }
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const isFull = async (): Promise<boolean> =>
    (await diskUsage(dir, '-k')) * 1024 > limitBytes ||
    (await diskUsage(dir, '--inodes')) > limitBytes / BYTES_PER_FILE + 1000;
  const look = async (): Promise<void> => {
    const before = performance.now();
    if (await isFull()) {
      if (!stopped) onFull();
      return;
    }
    if (!stopped) timer = setTimeout(() => void look(), Math.max(PERIOD_MS, 10 * (performance.now() - before)));
  };
  timer = setTimeout(() => void look(), PERIOD_MS);
  return {
    isFull,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
