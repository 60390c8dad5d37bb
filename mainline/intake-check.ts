/**
 * What a commit in quarantine has to be before the hub has it: whole, a child of its base, and safe in what it changes.
 *
 * 1. The work is bounded by the limits, however often one directory stands in itself: nothing gathers a tree before it was counted.
 */
import { IntakeRefused } from './errors.ts';
import { GitError, gitRun } from './git-process.ts';
import type { HubPlace } from './hub-place.ts';
import type { IntakeLimits, TaskCommit } from './intake-limits.ts';
import { unsafeChanges } from './path-rules.ts';
import type { Quarantine } from './quarantine.ts';
import { diffTrees, listTree, printablePath } from './tree.ts';

/**
 * One walk over what the commit has and the base has not: nothing that it needs is missing (--strict looked only at the objects in
 * the pack), and its parent is the base. Returns the files that are too large.
 */
export async function checkCommit(
  hub: HubPlace,
  quarantine: Quarantine,
  { commit, base }: TaskCommit,
  limits: IntakeLimits,
): Promise<ReadonlySet<string>> {
  const options = {
    env: quarantine.env,
    timeoutMs: limits.timeoutMs,
    maxOutputBytes: LINE_BYTES * (limits.entries + 10),
  };
  const filter = [`--filter=blob:limit=${limits.fileBytes + 1}`, '--filter-print-omitted'];
  const args = ['rev-list', '--objects', '--no-object-names', '--parents', ...filter, commit, `^${base}`];
  const { exitCode, stdout } = await guard(limits, () => gitRun(hub.dir, args, options, [0, 1, 128]));
  if (exitCode !== 0) {
    if (!(await isCommit(hub.dir, commit, quarantine)))
      throw new IntakeRefused('wrong-commit', '', `The pack does not bring the commit ${commit}.`);
    throw new IntakeRefused('bad-pack', '', 'Objects that the commit needs are missing.');
  }
  const lines = stdout.toString('latin1').trimEnd().split('\n');
  // The commits come first, each with its parents: this line says that there is one commit, its parent, and no other commit.
  if (lines[0] !== `${commit} ${base}`) {
    throw new IntakeRefused('wrong-parent', '', `The parent of ${commit} is not ${base}.`);
  }
  return new Set(lines.flatMap((line) => (line.startsWith('~') ? [line.slice(1)] : [])));
}

/** `~`, an object id, a line feed. */
const LINE_BYTES = 42;

/** Whether it is a commit that the hub has, or that is in the quarantine. */
export async function isCommit(hubDir: string, oid: string, quarantine?: Quarantine): Promise<boolean> {
  const options = quarantine === undefined ? {} : { env: quarantine.env };
  return (await gitRun(hubDir, ['cat-file', '-e', `${oid}^{commit}`], options, [0, 1, 128])).exitCode === 0;
}

/**
 * The whole tree as names: how many, how deep, and whether it is a tree at all. `ls-tree` prints as it walks, so a directory that
 * stands in itself over and over is stopped by what it prints; diff-tree would first gather all of it in memory.
 */
export async function checkTree(
  hub: HubPlace,
  quarantine: Quarantine,
  { commit }: TaskCommit,
  limits: IntakeLimits,
): Promise<void> {
  // A name is at most some 4 KiB; what prints more than this is refused without being held.
  const options = { env: quarantine.env, timeoutMs: limits.timeoutMs, maxOutputBytes: limits.entries * 400 };
  const entries = await guard(limits, () => listTree(hub.dir, commit, { ...options, directories: true, sizes: false }));
  if (entries.length > limits.entries) {
    throw new IntakeRefused('too-many-files', '', `The tree has more than ${limits.entries} entries.`);
  }
  const seen = new Set<string>();
  const dirs = new Set(['']);
  for (const entry of entries) {
    const path = entry.path.toString('latin1');
    const shown = printablePath(entry.path).path;
    if (path.split('/').length > limits.depth)
      throw new IntakeRefused('too-deep', shown, `Deeper than ${limits.depth} directories.`);
    // `a/b` as one name, in a tree that index-pack did not see (the origin's): its directory was never listed. It would make git
    // abort in the middle of a merge.
    if (seen.has(path) || !dirs.has(path.slice(0, Math.max(0, path.lastIndexOf('/'))))) {
      throw new IntakeRefused('unsafe-name', shown, 'The tree is malformed: a name with a slash, or twice the same.');
    }
    seen.add(path);
    if (entry.type === 'tree') dirs.add(path);
  }
}

/** What the commit changes: how large, how named. After checkTree. `large`: files beyond the limit, by object id. */
export async function checkChanges(
  hub: HubPlace,
  quarantine: Quarantine,
  { base, commit }: TaskCommit,
  large: ReadonlySet<string>,
  limits: IntakeLimits,
): Promise<void> {
  const options = { env: quarantine.env, timeoutMs: limits.timeoutMs, sizes: false };
  const changes = await guard(limits, () => diffTrees(hub.dir, base, commit, options));
  const big = changes.find(({ newOid }) => newOid !== null && large.has(newOid));
  if (big !== undefined)
    throw new IntakeRefused('too-large', big.path, `The file has more than ${limits.fileBytes} bytes.`);
  const unsafe = unsafeChanges(changes, Infinity, () => [])[0];
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
      throw new IntakeRefused('too-many-files', '', `The commit has more than ${limits.entries} files.`);
    // A tree so deep that git's own recursion ends.
    if (error.signalName === 'SIGSEGV') throw new IntakeRefused('too-deep', '', 'git cannot walk this tree.');
    throw error;
  }
}
