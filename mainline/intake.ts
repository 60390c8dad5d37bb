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
import { GitError, git, gitRun } from './git-process.ts';
import type { HubPlace } from './hub-place.ts';
import { unsafeChanges } from './path-rules.ts';
import { publish } from './publish.ts';
import { openQuarantine } from './quarantine.ts';
import type { Quarantine } from './quarantine.ts';
import { isOid, isSafeId, readRef, taskRef } from './refs.ts';
import { diffTrees, listTree, printablePath } from './tree.ts';

export interface IntakeLimits {
  /** Bytes of a pack, compressed. */
  readonly packBytes: number;
  /** Files and directories of the whole tree. */
  readonly entries: number;
  /** Directories below each other. */
  readonly depth: number;
  /** Bytes of one changed file. */
  readonly fileBytes: number;
  /** For each of the steps: unpacking, walking. */
  readonly timeoutMs: number;
}

export const INTAKE_LIMITS: IntakeLimits = {
  packBytes: 512 * 1024 ** 2,
  entries: 500_000,
  depth: 64,
  fileBytes: 100 * 1024 ** 2,
  timeoutMs: 120_000,
};

export interface TaskCommit {
  readonly task: string;
  readonly attempt: number;
  readonly commit: string;
  readonly base: string;
}

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
  const quarantine = await openQuarantine(hub.dir);
  try {
    const known = await gitRun(hub.dir, ['cat-file', '-e', `${base}^{commit}`], {}, [0, 1, 128]);
    if (known.exitCode !== 0) {
      pack.resume();
      throw new IntakeRefused('unknown-base', '', `The hub has no commit ${base}.`);
    }
    await unpack(hub, quarantine, pack, limits);
    await checkCommit(hub, quarantine, claim);
    await walk(hub, quarantine, claim, limits);
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
  '--strict=badFilemode=error,gitattributesSymlink=error,gitignoreSymlink=error,mailmapSymlink=error',
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

async function checkCommit(hub: HubPlace, quarantine: Quarantine, claim: TaskCommit): Promise<void> {
  const options = { env: quarantine.env };
  const out = (await git(hub.dir, ['cat-file', '--batch'], { ...options, input: `${claim.commit}\n` })).toString(
    'utf8',
  );
  if (!/^[0-9a-f]{40} commit \d+\n/.test(out)) {
    throw new IntakeRefused('wrong-commit', '', `The pack does not bring the commit ${claim.commit}.`);
  }
  const header = out.slice(out.indexOf('\n') + 1).split('\n\n', 1)[0]!;
  const parents = header.split('\n').filter((line) => line.startsWith('parent '));
  if (parents.length !== 1 || parents[0] !== `parent ${claim.base}`) {
    throw new IntakeRefused('wrong-parent', '', `The parent of ${claim.commit} is not ${claim.base}.`);
  }
  // Everything that it needs is there; --strict looked only at the objects in the pack.
  const complete = await gitRun(
    hub.dir,
    ['rev-list', '--objects', '--quiet', claim.commit, `^${claim.base}`],
    options,
    [0, 1, 128],
  );
  if (complete.exitCode !== 0) throw new IntakeRefused('bad-pack', '', 'Objects that the commit needs are missing.');
}

async function walk(hub: HubPlace, quarantine: Quarantine, claim: TaskCommit, limits: IntakeLimits): Promise<void> {
  const options = { env: quarantine.env, timeoutMs: limits.timeoutMs };
  // A name is at most some 4 KiB; what prints more than this is refused without being held.
  const bounded = { ...options, directories: true, maxOutputBytes: limits.entries * 400 };
  const entries = await guard(limits, () => listTree(hub.dir, claim.commit, bounded));
  if (entries.length > limits.entries) {
    throw new IntakeRefused('too-many-files', '', `The tree has more than ${limits.entries} entries.`);
  }
  const seen = new Set<string>();
  const dirs = new Set(['']);
  for (const entry of entries) {
    const path = entry.path.toString('latin1');
    const parts = path.split('/');
    const shown = printablePath(entry.path).path;
    if (parts.length > limits.depth)
      throw new IntakeRefused('too-deep', shown, `Deeper than ${limits.depth} directories.`);
    // `a/b` as one name: its directory was never listed. It would make git abort in the middle of a merge.
    if (seen.has(path) || !dirs.has(parts.slice(0, -1).join('/'))) {
      throw new IntakeRefused('unsafe-name', shown, 'The tree is malformed: a name with a slash, or twice the same.');
    }
    seen.add(path);
    if (entry.type === 'tree') dirs.add(path);
  }
  const changes = await guard(limits, () => diffTrees(hub.dir, claim.base, claim.commit, options));
  const unsafe = unsafeChanges(changes, limits.fileBytes, () => [])[0];
  if (unsafe !== undefined) throw new IntakeRefused(unsafe.rule, unsafe.path, unsafe.message);
}

async function guard<T>(limits: IntakeLimits, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    if (error.end === 'timeout')
      throw new IntakeRefused('too-slow', '', `Looking at the tree took longer than ${limits.timeoutMs} ms.`);
    if (error.end === 'too-much-output')
      throw new IntakeRefused('too-many-files', '', 'The tree is too large to look at.');
    throw error;
  }
}

/** The commit of an attempt that is in the hub already, or null. */
export async function findAttempt(hub: HubPlace, task: string, attempt: number): Promise<string | null> {
  return readRef(hub.dir, taskRef(task, attempt));
}
