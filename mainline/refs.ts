/**
 * The refs of a hub (DESIGN.md section 6) and the one way to move them.
 *
 * 1. Every change names the old value; several changes happen together or not at all; the file is fsynced (core.fsync).
 */
import { GitError, git, gitRun } from './git-process.ts';
import { readRefs } from './ref-files.ts';
import { waitForLocks } from './ref-locks.ts';
import { HubError, RefMoved } from './errors.ts';
import { NO_OID } from './tree.ts';

export { listRefs, readRef, readRefs } from './ref-files.ts';

export const MAIN = 'refs/heads/main';
export const VERIFIED = 'refs/swarmline/verified';
export const NEXT = 'refs/swarmline/next';
/** The origin's commit that the run started from. Never moves. */
export const BASE = 'refs/swarmline/base';
export const GREEN = 'refs/swarmline/green/';
export const TASKS = 'refs/swarmline/tasks/';
export const EJECTED = 'refs/swarmline/ejected/';
export const INFLIGHT = 'refs/swarmline/inflight/';
/** Results of rebuilds, as blobs, so that a retry answers what the first one did. */
export const REBUILDS = 'refs/swarmline/rebuilds/';

const ID = /^[a-z0-9][a-z0-9._-]{0,62}$/;
/** Run and task ids: safe in refs, paths and container names. */
export function isSafeId(id: string): boolean {
  return ID.test(id) && !id.includes('..') && !id.endsWith('.lock') && !id.endsWith('.');
}

export function isOid(text: string): boolean {
  return /^[0-9a-f]{40}$/.test(text);
}

export function taskRef(task: string, attempt: number): string {
  if (!isSafeId(task) || !Number.isSafeInteger(attempt) || attempt < 1) throw new HubError('Not a task and attempt');
  return `${TASKS}${task}/${attempt}`;
}

const LOCK_TRIES = 60;

export interface RefUpdate {
  readonly ref: string;
  /** null deletes. */
  readonly to: string | null;
  /** null: must not exist yet. */
  readonly from: string | null;
}

/** Moves refs in one transaction. Throws RefMoved when one of them is not where `from` says. A lock that a killed process left is cleared. */
export async function updateRefs(gitDir: string, updates: readonly RefUpdate[]): Promise<void> {
  if (updates.length === 0) return;
  const lines = updates.map((u) => `update ${u.ref}\0${u.to ?? NO_OID}\0${u.from ?? NO_OID}\0`);
  const input = `start\0${lines.join('')}prepare\0commit\0`;
  /** Failures in a row with no lock to be seen: one that came and went between git's try and our look is none of them twice. */
  let unexplained = 0;
  for (let tries = 0; ; tries++) {
    try {
      await git(gitDir, ['update-ref', '--stdin', '-z'], { input });
      return;
    } catch (error) {
      if (!(error instanceof GitError) || error.exitCode !== 128) throw error;
      await throwIfMoved(gitDir, updates);
      unexplained = (await waitForLocks(gitDir, updates)) ? 0 : unexplained + 1;
      if (tries >= LOCK_TRIES || unexplained > 2) throw error;
    }
  }
}

/** The exit code does not say why; the refs themselves do. */
async function throwIfMoved(gitDir: string, updates: readonly RefUpdate[]): Promise<void> {
  const now = await readRefs(gitDir, ...updates.map((u) => u.ref));
  const moved = updates.find((u) => (now.get(u.ref) ?? null) !== u.from);
  if (moved !== undefined)
    throw new RefMoved(moved.ref, `${moved.ref} is not at ${moved.from ?? '(nothing)'} any more`);
}

/** Whether a is b or an ancestor of b. */
export async function isAncestor(gitDir: string, a: string, b: string): Promise<boolean> {
  if (a === b) return true;
  return (await gitRun(gitDir, ['merge-base', '--is-ancestor', a, b], {}, [0, 1])).exitCode === 0;
}
