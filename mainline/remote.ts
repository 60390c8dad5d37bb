/**
 * The origin of a run: a URL that a person wrote. Errors are theirs to read.
 *
 * 1. Only https, http, ssh and file URLs (and git's `user@host:path`); never a helper that runs a command.
 * 2. A secret reaches git through its environment only, and never through the URL.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RepositoryError } from './errors.ts';
import { GitError, gitRun, redact } from './git-process.ts';

/** Environment for git that opens the origin: GIT_SSH_COMMAND, or GIT_CONFIG_COUNT and its keys with an http.extraHeader. See credential.ts. */
export type CredentialEnv = Readonly<Record<string, string>>;

const REMOTE_TIMEOUT_MS = 60_000;

/** Throws RepositoryError('refused') for a URL that we do not open. */
export function checkUrl(url: string): void {
  if (/^https?:\/\/[^/]*@/i.test(url)) {
    throw new RepositoryError(
      'refused',
      `The repository URL ${redact(url)} holds a user or a secret. Remove it, store the secret as a credential of the worker, and name it in repository.credentials.`,
    );
  }
  const known =
    /^(https?|ssh):\/\/[^\s-]/i.test(url) || /^file:\/\/\/\S/.test(url) || /^[\w.-]+@[\w.-]+:[^\s-]/.test(url);
  if (!known || hasControl(url)) {
    throw new RepositoryError(
      'refused',
      `${redact(url)} is not a URL that can be used. Use https://…, ssh://… or file:///….`,
    );
  }
}

const hasControl = (text: string): boolean => Buffer.from(text).some((byte) => byte < 0x20 || byte === 0x7f);

/** Where a branch of a repository stands. Throws RepositoryError that says what is wrong and what to do. */
export async function checkRepository(
  url: string,
  branch: string,
  credential: CredentialEnv | null = null,
  options: { timeoutMs?: number; signal?: AbortSignal | undefined } = {},
): Promise<{ commit: string }> {
  const commit = await remoteBranch(url, branch, credential, options);
  if (commit === null) {
    const empty = (await listRemote(url, ['HEAD'], credential, options)) === null;
    throw new RepositoryError(
      'no-branch',
      `${redact(url)} has no branch ${branch}${empty ? ' and no default branch: it may be empty' : ''}. See its branches with: git ls-remote --heads ${redact(url)}`,
    );
  }
  return { commit };
}

/** The commit of a branch of the origin, null where there is no such branch. */
export async function remoteBranch(
  url: string,
  branch: string,
  credential: CredentialEnv | null,
  options: { timeoutMs?: number; signal?: AbortSignal | undefined } = {},
): Promise<string | null> {
  const out = await listRemote(url, [`refs/heads/${branch}`], credential, options);
  const line = out?.split('\n').find((l) => l.endsWith(`\trefs/heads/${branch}`));
  return line?.split('\t')[0] ?? null;
}

async function listRemote(
  url: string,
  patterns: readonly string[],
  credential: CredentialEnv | null,
  options: { timeoutMs?: number; signal?: AbortSignal | undefined },
): Promise<string | null> {
  checkUrl(url);
  // Not inside any repository: nothing's configuration is read.
  const dir = await mkdtemp(join(tmpdir(), 'swarmline-ls-'));
  try {
    const { exitCode, stdout } = await gitRun(
      dir,
      ['ls-remote', '--exit-code', '--', url, ...patterns],
      {
        env: { GIT_DIR: join(dir, 'none'), GIT_CEILING_DIRECTORIES: dir, ...credential },
        timeoutMs: options.timeoutMs ?? REMOTE_TIMEOUT_MS,
        signal: options.signal,
      },
      [0, 2],
    );
    return exitCode === 2 ? null : stdout.toString('utf8').trim();
  } catch (error) {
    throw repositoryError(error, url);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** git has one exit code for all of these, so its (C locale) words decide which advice is given. */
export function repositoryError(error: unknown, url: string): unknown {
  if (!(error instanceof GitError) || error.end === 'aborted' || error.end === 'not-started') return error;
  const where = redact(url);
  const said = error.stderrTail.trim();
  const end = `git said: ${said === '' ? error.end : said}`;
  if (/dubious ownership/.test(said)) {
    return new RepositoryError(
      'refused',
      `${where} belongs to another user than the worker. Give it to the worker's user, or use a copy. ${end}`,
    );
  }
  if (
    /Authentication failed|could not read (Username|Password)|Permission denied|Host key verification failed|error: 40[13]|access denied/i.test(
      said,
    )
  ) {
    return new RepositoryError(
      'refused',
      `${where} refuses access. Check repository.credentials and that the worker has the credential of that name. ${end}`,
    );
  }
  if (
    /does not appear to be a git repository|not found|does not exist|not a git repository|not valid: is this a git repository/i.test(
      said,
    )
  ) {
    return new RepositoryError(
      'not-a-repository',
      `${where} is not a git repository that can be seen from the worker. Check repository.url. ${end}`,
    );
  }
  return new RepositoryError(
    'unreachable',
    `${where} cannot be reached from the worker. Check the address and the network, then try again. ${end}`,
  );
}
