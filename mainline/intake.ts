/**
 * Takes a host's pack in.
 *
 * 1. Nothing of a pack is visible in the hub before all of it was checked: it is unpacked in quarantine, strictly, with limits on
 *    bytes, entries, depth and time.
 * 2. The commit is what was claimed: exactly one parent, the base, which the hub has.
 * 3. What it changes is safe to have (path-rules.ts); a scope is checked elsewhere, and again when it is merged.
 * 4. Sent twice, taken once. A different commit under the same name is refused: an attempt has one result.
 */
import type { Readable } from 'node:stream';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { IntakeRefused, RefMoved } from './errors.ts';
import { GitError, git } from './git-process.ts';
import type { HubPlace } from './hub-place.ts';
import { INTAKE_LIMITS } from './intake-limits.ts';
import type { IntakeLimits, TaskCommit } from './intake-limits.ts';
import { checkChanges, checkCommit, checkTree, isCommit } from './intake-check.ts';
import { readHeads } from './line.ts';
import { publish } from './publish.ts';
import { openQuarantine } from './quarantine.ts';
import type { Quarantine } from './quarantine.ts';
import { isOid, isSafeId, readRef, taskRef } from './refs.ts';

export async function takePack(
  hub: HubPlace,
  claim: TaskCommit,
  pack: Readable,
  limits: IntakeLimits = INTAKE_LIMITS,
): Promise<void> {
  const { task, attempt, commit, base } = claim;
  // A host may hang up before anything reads its pack.
  pack.on('error', () => undefined);
  if (!isSafeId(task) || !Number.isSafeInteger(attempt) || attempt < 1 || !isOid(commit) || !isOid(base)) {
    pack.resume();
    throw new IntakeRefused('bad-key', '', 'Task, attempt, commit or base is not well formed.');
  }
  const ref = taskRef(task, attempt);
  const before = await readRef(hub.dir, ref);
  if (before !== null) {
    pack.resume();
    if (before === commit) return;
    throw new IntakeRefused('other-commit', '', `Attempt ${task}/${attempt} already has the commit ${before}.`);
  }
  // Where a ref of the line stands there is a commit: git is asked only about other ones.
  const heads = Object.values(await readHeads(hub.dir));
  if (!heads.includes(base) && !(await isCommit(hub.dir, base))) {
    pack.resume();
    throw new IntakeRefused('unknown-base', '', `The hub has no commit ${base}.`);
  }
  const quarantine = await openQuarantine(hub.dir);
  try {
    await unpack(hub, quarantine, pack, limits);
    const large = await checkCommit(hub, quarantine, claim, limits);
    await checkTree(hub, quarantine, claim, limits);
    await checkChanges(hub, quarantine, claim, large, limits);
    const packs = (await readdir(join(quarantine.dir, 'pack')))
      .filter((n) => n.endsWith('.idx'))
      .map((n) => n.slice(0, -4));
    await hub.faults?.('before-swap');
    await publish(hub.dir, quarantine, packs, [{ ref, from: null, to: commit }]).catch(async (error: unknown) => {
      // The same attempt, sent twice at once.
      if (!(error instanceof RefMoved) || (await readRef(hub.dir, ref)) !== commit) throw error;
    });
  } finally {
    await quarantine.close();
  }
}

/** Blobs beyond 16 MiB are hashed as a stream instead of in memory. */
const UNPACK = [
  '-c',
  'core.bigFileThreshold=16m',
  '-c',
  'pack.threads=1',
  'index-pack',
  // Errors by themselves: what is no tree (names twice, not sorted), what a checkout must not write (`.git`, `..`).
  '--strict=fullPathname=error,badFilemode=error,gitattributesSymlink=error,gitignoreSymlink=error,mailmapSymlink=error',
];

async function unpack(hub: HubPlace, quarantine: Quarantine, pack: Readable, limits: IntakeLimits): Promise<void> {
  let bytes = 0;
  pack.on('data', (chunk: Buffer) => (bytes += chunk.length));
  try {
    await git(hub.dir, [...UNPACK, `--max-input-size=${limits.packBytes}`, '--stdin', '--fix-thin'], {
      env: quarantine.env,
      input: pack,
      timeoutMs: limits.timeoutMs,
    });
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    if (error.end === 'timeout')
      throw new IntakeRefused('too-slow', '', `The pack took longer than ${limits.timeoutMs} ms.`);
    if (bytes > limits.packBytes)
      throw new IntakeRefused('too-large', '', `The pack is larger than ${limits.packBytes} bytes.`);
    if (error.end === 'exited')
      throw new IntakeRefused('bad-pack', '', `git refuses the pack: ${error.stderrTail.trim()}`);
    throw error;
  }
}

/** The commit of an attempt that is in the hub already, or null. */
export async function findAttempt(hub: HubPlace, task: string, attempt: number): Promise<string | null> {
  return readRef(hub.dir, taskRef(task, attempt));
}
