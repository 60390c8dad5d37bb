/**
 * Reads a file that code under test wrote into a workspace, after its container is gone.
 *
 * 1. No link is followed, in no component: a report that is a link to a file of the host is no report.
 * 2. A FIFO or device is never opened for reading, and never more is read than the limit.
 */
import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { join } from 'node:path';

/** Bytes of a report or coverage file that are read; a longer one counts as not there (said in `tooLarge`). */
export const REPORT_BYTES = 32 * 1024 * 1024;

export type WorkspaceFile = { readonly text: string } | { readonly missing: 'absent' | 'not-a-file' | 'too-large' };

export async function readWorkspaceFile(dir: string, path: string, maxBytes = REPORT_BYTES): Promise<WorkspaceFile> {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.length === 0 || parts.includes('..')) return { missing: 'not-a-file' };
  let at = dir;
  for (const [index, part] of parts.entries()) {
    at = join(at, part);
    const stat = await lstat(at).catch(() => null);
    if (stat === null) return { missing: 'absent' };
    const wanted = index === parts.length - 1 ? stat.isFile() : stat.isDirectory();
    if (!wanted) return { missing: 'not-a-file' };
    if (index === parts.length - 1 && stat.size > maxBytes) return { missing: 'too-large' };
  }
  const file = await open(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { size } = await file.stat();
    const bytes = Buffer.alloc(Math.min(size, maxBytes));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    return { text: bytes.subarray(0, bytesRead).toString('utf8') };
  } finally {
    await file.close();
  }
}

/** The last bytes of a file of ours, as text without NUL; '' where it does not exist. */
export async function readTail(path: string, maxBytes: number): Promise<string> {
  const file = await open(path, 'r').catch(() => null);
  if (file === null) return '';
  try {
    const { size } = await file.stat();
    const length = Math.min(size, maxBytes);
    const bytes = Buffer.alloc(length);
    const { bytesRead } = await file.read(bytes, 0, length, size - length);
    return bytes.subarray(0, bytesRead).toString('utf8').replaceAll('\0', '');
  } finally {
    await file.close();
  }
}
