/**
 * A sandbox host's side of the hub: a read-only mirror per run, and packs sent in.
 *
 * 1. What ensure() returns holds the commits with everything below them.
 * 2. Where the hub is on this machine, it is the mirror: nothing is copied, and nothing is written to it from here.
 * 3. The token is in the environment of git or in a header, never in an argument or a URL.
 */
import { access, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { AttemptKey } from '../spec/model.ts';
import { httpHeader } from './credential.ts';
import { HubError } from './errors.ts';
import { GitError, git, gitRun } from './git-process.ts';
import { attemptPath, headsPath, repositoryPath } from './hub-http.ts';
import type { HeadsAnswer } from './hub-http.ts';
import { HubUnreachable, request } from './hub-request.ts';
import { serialised } from './mutex.ts';
import { isOid, isSafeId } from './refs.ts';

export interface HubClientOptions {
  readonly url: string;
  readonly token: string;
  /** Directory of this host's mirrors. */
  readonly mirrorRoot: string;
  /** Directory of the hubs when they are on this machine; null elsewhere. */
  readonly localRoot: string | null;
  /** How long submit() bears a hub that does not answer; default 10 min. */
  readonly submitPatienceMs?: number;
}

export interface Submission {
  /** Where the base is: what ensure() returned. */
  readonly gitDir: string;
  /** Where the attempt's own objects are, in front of gitDir's. */
  readonly objectDir: string;
  readonly commit: string;
  readonly base: string;
}

export interface HubClient {
  /** A git directory that contains these commits. Throws HubError when the hub does not have them, HubUnreachable when it does not answer. */
  ensure(run: string, commits: readonly string[], signal?: AbortSignal): Promise<string>;
  /** Hands an attempt's commit in, patiently. Again is fine. Throws IntakeRefused, HubUnreachable. */
  submit(key: AttemptKey, submission: Submission, signal?: AbortSignal): Promise<void>;
  /** The commit of an attempt that the hub has already, or null. */
  find(key: AttemptKey, signal?: AbortSignal): Promise<string | null>;
  /** Where the line stands now. */
  heads(run: string, signal?: AbortSignal): Promise<HeadsAnswer>;
  /** One of them. */
  resolve(run: string, ref: 'main' | 'verified' | 'next', signal?: AbortSignal): Promise<string>;
  /** Deletes this host's mirror of a run; the hub itself is never touched. */
  forget(run: string): Promise<void>;
}

/** The hub may be starting again. What is only asked is asked again by Temporal soon: nothing is lost. */
const PATIENCE_MS = 2_000;
/** What is handed in is an agent's finished work, which would have to be done again. */
const SUBMIT_PATIENCE_MS = 10 * 60_000;
/** Longest pause between two tries. */
const PAUSE_MS = 2_000;
/** Packs on their way at once from a host. Sixty at once would each take as long as all together; these are done one after the other. */
const SUBMISSIONS = 4;
const FETCH_TIMEOUT_MS = 30 * 60_000;
const PACK_TIMEOUT_MS = 10 * 60_000;

export function createHubClient(options: HubClientOptions): HubClient {
  const url = options.url.replace(/\/+$/, '');
  const call = { url, token: options.token };
  const mirrorOf = (run: string): string => join(options.localRoot ?? options.mirrorRoot, `${run}.git`);
  const heads = (run: string, signal?: AbortSignal): Promise<HeadsAnswer> =>
    again(signal, async () => {
      const found = await request(call, 'GET', headsPath(run), null, signal);
      if (found === null) throw new HubError(`Run ${run} has no hub`);
      return found as HeadsAnswer;
    });
  const turn = pLimit(SUBMISSIONS);
  return {
    ensure: async (run, commits, signal) => {
      if (!isSafeId(run) || !commits.every(isOid)) throw new HubError('Not a run and commits');
      const dir = mirrorOf(run);
      if (options.localRoot !== null) {
        if (!(await exists(dir))) throw new HubError(`Run ${run} has no hub on this machine`);
        const missing = await missingFrom(dir, commits);
        if (missing.length > 0) throw new HubError(`The hub of ${run} has no commit ${missing[0]}`);
        return dir;
      }
      await serialised(dir, async () => {
        await makeMirror(dir);
        const missing = await missingFrom(dir, commits);
        if (missing.length > 0)
          await again(signal, () => fetchInto(dir, `${url}${repositoryPath(run)}`, options.token, missing, signal));
      });
      return dir;
    },
    submit: (key, submission, signal) =>
      again(
        signal,
        () =>
          turn(async () => {
            const pack = await packOf(submission, signal);
            const query = new URLSearchParams({ commit: submission.commit, base: submission.base });
            const path = `${attemptPath(key.run, key.task, key.attempt)}?${query.toString()}`;
            await request(call, 'PUT', path, pack, signal);
          }),
        options.submitPatienceMs ?? SUBMIT_PATIENCE_MS,
      ),
    find: (key, signal) =>
      again(signal, async () => {
        const found = await request(call, 'GET', attemptPath(key.run, key.task, key.attempt), null, signal);
        return found === null ? null : (found as { commit: string }).commit;
      }),
    heads,
    resolve: async (run, ref, signal) => (await heads(run, signal))[ref],
    forget: async (run) => {
      if (options.localRoot === null && isSafeId(run)) {
        await serialised(mirrorOf(run), () => rm(mirrorOf(run), { recursive: true, force: true }));
      }
    },
  };
}

/** Tries again, with growing pauses, while the hub does not answer. Everything here may be repeated. */
async function again<T>(
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
  patienceMs: number = PATIENCE_MS,
): Promise<T> {
  const end = performance.now() + patienceMs;
  for (let pauseMs = 150; ; pauseMs = Math.min(3 * pauseMs, PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof HubUnreachable) || signal?.aborted === true) throw error;
      if (performance.now() + pauseMs > end) throw error;
      await delay(pauseMs, undefined, signal === undefined ? {} : { signal });
    }
  }
}

async function packOf(submission: Submission, signal: AbortSignal | undefined): Promise<Buffer> {
  const { gitDir, objectDir, commit, base } = submission;
  return git(gitDir, ['pack-objects', '--revs', '--thin', '--stdout', '--quiet', '--delta-base-offset'], {
    env: { GIT_OBJECT_DIRECTORY: objectDir, GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(join(gitDir, 'objects')) },
    input: `${commit}\n^${base}\n`,
    timeoutMs: PACK_TIMEOUT_MS,
    signal,
  });
}

/** The list is separated by colons, and takes C-quoted paths. */
const quoted = (path: string): string => (/[":\\]/.test(path) ? JSON.stringify(path) : path);

async function makeMirror(dir: string): Promise<void> {
  if (await exists(dir)) return;
  const made = `${dir}.new-${randomBytes(4).toString('hex')}`;
  await mkdir(made, { recursive: true });
  await git(made, ['init', '--quiet', '--bare', '--template=', '--initial-branch=main', made]);
  await git(made, ['config', 'fetch.negotiationAlgorithm', 'skipping']);
  await rename(made, dir).catch(async (error: unknown) => {
    await rm(made, { recursive: true, force: true });
    if (!(await exists(dir))) throw error;
  });
}

async function missingFrom(dir: string, commits: readonly string[]): Promise<string[]> {
  if (commits.length === 0) return [];
  const input = commits.map((oid) => `${oid}\n`).join('');
  const out = (await git(dir, ['cat-file', '--batch-check'], { input })).toString('utf8').trimEnd().split('\n');
  return commits.filter((_, at) => !/^[0-9a-f]{40} commit /.test(out[at] ?? ''));
}

/** Fetches commits by their ids. A ref for each says to the next fetch what is here. */
async function fetchInto(
  dir: string,
  url: string,
  token: string,
  commits: readonly string[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const specs = commits.map((oid) => `+${oid}:refs/swarmline/mirror/${oid}`);
  try {
    await gitRun(
      dir,
      ['-c', 'protocol.version=2', 'fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--', url, ...specs],
      {
        env: httpHeader(`Authorization: Bearer ${token}`),
        timeoutMs: FETCH_TIMEOUT_MS,
        signal,
      },
    );
  } catch (error) {
    if (!(error instanceof GitError) || error.end !== 'exited') throw error;
    if (/not our ref|no such remote ref|unadvertised object/i.test(error.stderrTail)) {
      throw new HubError(`The hub has none of these commits: ${commits.join(', ')}`);
    }
    throw new HubUnreachable(`The hub could not be fetched from: ${error.stderrTail.trim()}`);
  }
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

export { HubUnreachable };
