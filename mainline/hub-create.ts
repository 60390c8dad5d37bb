/**
 * Makes a run's hub: a bare repository that is ours alone.
 *
 * 1. It appears whole or not at all: made beside its place and renamed. Asked again, the existing one is returned as it is.
 * 2. Its configuration and attributes are written by us; every object and ref is fsynced; nothing is ever collected behind our back.
 */
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { hubAttributes } from './attributes.ts';
import { writeCommit } from './commit.ts';
import { git, gitText } from './git-process.ts';
import { BASE, MAIN, NEXT, VERIFIED, isSafeId, updateRefs } from './refs.ts';
import { HubError } from './errors.ts';
import { checkRepository, repositoryError } from './remote.ts';
import type { CredentialEnv } from './remote.ts';
import { readFileAt } from './tree.ts';

export interface CreateHubInput {
  /** `<hubRoot>/<run>.git`. */
  readonly dir: string;
  /** null: start from an empty commit. */
  readonly url: string | null;
  readonly branch: string;
  readonly credential: CredentialEnv | null;
  /** Globs of files whose sides are joined instead of conflicting. */
  readonly union: readonly string[];
  readonly signal?: AbortSignal | undefined;
  /** For the clone. Default 30 min. */
  readonly timeoutMs?: number;
}

const CONFIG = `[core]
\trepositoryformatversion = 0
\tbare = true
\tfilemode = true
\tlogAllRefUpdates = false
\tfsync = all
\tfsyncMethod = fsync
\thooksPath = /dev/null
[gc]
\tauto = 0
\tpruneExpire = never
[fetch]
	unpackLimit = 1
[receive]
\tautogc = false
[maintenance]
\tauto = false
[uploadpack]
\tallowAnySHA1InWant = true
\thideRefs = refs/
\thideRefs = !refs/heads/main
[pack]
\twriteReverseIndex = true
`;

const CLONE_TIMEOUT_MS = 30 * 60_000;

/** The run of a hub directory. */
export function runOf(dir: string): string {
  const name = basename(dir);
  const run = name.endsWith('.git') ? name.slice(0, -4) : '';
  if (!isSafeId(run)) throw new HubError(`Not the directory of a hub: ${name}`);
  return run;
}

/** Makes the hub unless it is there. Throws RepositoryError. */
export async function makeHub(input: CreateHubInput): Promise<void> {
  runOf(input.dir);
  if (await exists(join(input.dir, 'HEAD'))) return;
  const parent = dirname(input.dir);
  await mkdir(parent, { recursive: true });
  // What a killed process left half made.
  for (const name of await readdir(parent)) {
    if (name.startsWith(`${basename(input.dir)}.new-`)) await rm(join(parent, name), { recursive: true, force: true });
  }
  const made = `${input.dir}.new-${randomBytes(4).toString('hex')}`;
  try {
    await mkdir(made);
    await git(parent, ['init', '--quiet', '--bare', '--template=', '--initial-branch=main', made], {
      // What we read of refs, we read from files (ref-files.ts).
      env: { GIT_DIR: made, GIT_DEFAULT_REF_FORMAT: 'files' },
    });
    await writeFile(join(made, 'config'), CONFIG);
    const base = input.url === null ? await emptyCommit(made) : await fetchBase(made, input.url, input);
    const attributes = await readFileAt(made, base, '.gitattributes');
    await mkdir(join(made, 'info'), { recursive: true });
    await writeFile(join(made, 'info', 'attributes'), hubAttributes(input.union, attributes?.toString('utf8') ?? null));
    if (input.url !== null) await git(made, ['config', 'swarmline.url', input.url]);
    await git(made, ['config', 'swarmline.branch', input.branch]);
    await updateRefs(
      made,
      [BASE, MAIN, VERIFIED, NEXT].map((ref) => ({ ref, from: null, to: base })),
    );
    await rename(made, input.dir);
  } catch (error) {
    await rm(made, { recursive: true, force: true });
    // Somebody else was faster.
    if (await exists(join(input.dir, 'HEAD'))) return;
    throw error;
  }
}

async function emptyCommit(dir: string): Promise<string> {
  const tree = await gitText(dir, ['hash-object', '-t', 'tree', '-w', '--stdin'], { input: '' });
  return writeCommit(dir, { tree, parents: [], message: 'Start from nothing', atMs: Date.now() });
}

async function fetchBase(dir: string, url: string, input: CreateHubInput): Promise<string> {
  const { commit } = await checkRepository(url, input.branch, input.credential, { signal: input.signal });
  try {
    const spec = `+refs/heads/${input.branch}:refs/swarmline/origin`;
    await git(
      dir,
      ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', '--', url, spec],
      {
        ...(input.credential === null ? {} : { env: input.credential }),
        timeoutMs: input.timeoutMs ?? CLONE_TIMEOUT_MS,
        signal: input.signal,
      },
    );
  } catch (error) {
    throw repositoryError(error, url);
  }
  // The branch may have moved since it was looked at; what was fetched counts.
  return gitText(dir, ['rev-parse', '--verify', 'refs/swarmline/origin^{commit}']).catch(() => commit);
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
