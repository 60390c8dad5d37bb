/**
 * Who made a container or a directory, and the proof that the maker is gone.
 *
 * Invariant: `ownerIsGone` is true only when no process of that owner can be running. What cannot be proven is not gone.
 */
import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';

/** A process, named so that neither a reboot nor a reused pid can be mistaken for it. */
export interface Owner {
  readonly host: string;
  /** /proc/sys/kernel/random/boot_id: changes with every boot. */
  readonly boot: string;
  /** Inode of the pid namespace: a pid means nothing in another one (two workers in containers on one machine). */
  readonly pidns: string;
  readonly pid: number;
  /** Field 22 of /proc/<pid>/stat, clock ticks since boot: told apart from a later process with the same pid. */
  readonly start: string;
}

const UNKNOWN = 'unknown';

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return null;
  }
}

function pidNamespace(): string {
  try {
    return /\[(\d+)\]/.exec(readlinkSync('/proc/self/ns/pid'))?.[1] ?? UNKNOWN;
  } catch {
    return UNKNOWN;
  }
}

/** Start time of a live process; null when there is none or it is a zombie. */
function startOf(pid: number): string | null {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === null) return null;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // the command name may hold spaces and brackets
  return fields[0] === 'Z' || fields[0] === 'X' ? null : (fields[19] ?? null);
}

/** This process. */
export function thisOwner(host: string): Owner {
  return {
    host: host.replace(/[^A-Za-z0-9._-]/g, '_'),
    boot: read('/proc/sys/kernel/random/boot_id') ?? UNKNOWN,
    pidns: pidNamespace(),
    pid: process.pid,
    start: startOf(process.pid) ?? UNKNOWN,
  };
}

export function formatOwner(owner: Owner): string {
  return [owner.host, owner.boot, owner.pidns, owner.pid, owner.start].join(':');
}

export function parseOwner(text: string): Owner | null {
  const match = /^([A-Za-z0-9._-]+):([^:]+):([^:]+):(\d+):([^:]+)$/.exec(text);
  if (match === null) return null;
  const [, host = '', boot = '', pidns = '', pid = '', start = ''] = match;
  return { host, boot, pidns, pid: Number(pid), start };
}

/** 'self' is this very process; 'unprovable' is another host, another pid namespace, or a label that we do not understand. */
export function ownerState(owner: Owner | null, self: Owner): 'self' | 'alive' | 'gone' | 'unprovable' {
  if (owner === null || owner.host !== self.host || owner.boot === UNKNOWN || owner.start === UNKNOWN)
    return 'unprovable';
  if (owner.boot !== self.boot) return 'gone'; // the machine was started again
  if (owner.pidns !== self.pidns) return 'unprovable';
  if (owner.pid === self.pid && owner.start === self.start) return 'self';
  return startOf(owner.pid) === owner.start ? 'alive' : 'gone';
}

/** The owner in 44 characters that are safe in a file name: a directory carries it in its name, so that there is no moment without. */
export function ownerTag(owner: Owner): string {
  const short = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 10);
  return [short(owner.host), short(owner.boot), owner.pidns, owner.pid, owner.start].join('.');
}

/** State of the owner that a tag names, seen from `self`. */
export function ownerStateOfTag(tag: string, self: Owner): 'self' | 'alive' | 'gone' | 'unprovable' {
  const [host, boot, pidns, pid, start] = tag.split('.');
  const [ownHost, ownBoot] = ownerTag(self).split('.');
  if (pid === undefined || start === undefined || host !== ownHost) return 'unprovable';
  const other: Owner = {
    host: self.host,
    boot: boot === ownBoot ? self.boot : 'another',
    pidns: pidns ?? UNKNOWN,
    pid: Number(pid),
    start,
  };
  return ownerState(other, self);
}
