/**
 * Brings main to the origin.
 *
 * 1. Never forced: a branch is created or fast-forwarded. If the origin has commits that we lack, nothing is pushed and the error says so.
 * 2. No hook runs here, not even those of an origin on this machine.
 * 3. Asked again, nothing more happens.
 */
import type { CompiledSpec } from '../spec/model.ts';
import { DeliveryError, RepositoryError } from './errors.ts';
import { GitError, gitRun } from './git-process.ts';
import type { HubPlace } from './hub-place.ts';
import { readHeads } from './line.ts';
import { MAIN, isAncestor } from './refs.ts';
import { remoteBranch, repositoryError } from './remote.ts';
import type { CredentialEnv } from './remote.ts';

export interface DeliverInput {
  readonly run: string;
  readonly deliver: CompiledSpec['deliver'];
  readonly credential: CredentialEnv | null;
  readonly signal?: AbortSignal | undefined;
  /** Default 10 min. */
  readonly timeoutMs?: number;
}

export type Delivered =
  | { readonly pushed: string; readonly commit: string }
  /** Nothing was pushed; `left` is the command that fetches main out of the hub, `why` says what stood in the way. */
  | { readonly left: string; readonly commit: string; readonly why: string };

const PUSH_TIMEOUT_MS = 10 * 60_000;
/** For an origin on this machine: its repository's hooks and clean-up stay off. Fixed text; git passes it through a shell. */
const QUIET_RECEIVER = 'git -c core.hooksPath=/dev/null -c receive.autogc=false -c gc.auto=0 receive-pack';

/** Throws DeliveryError (nothing was pushed; the message says how to go on) and RepositoryError('unreachable' | 'not-a-repository'). */
export async function deliver(hub: HubPlace, input: DeliverInput): Promise<Delivered> {
  const { main } = await readHeads(hub.dir);
  const left = (why: string): Delivered => ({ left: fetchCommand(hub, input.run), commit: main, why });
  const { stdout } = await gitRun(hub.dir, ['config', '--get', 'swarmline.url'], {}, [0, 1]);
  const url = stdout.toString('utf8').trim();
  if (url === '') return left('The run started from an empty repository, so there is no origin to push to.');
  const branch = 'branch' in input.deliver ? input.deliver.branch : input.deliver.fastForward;
  try {
    const before = await remoteBranch(url, branch, input.credential, { signal: input.signal });
    if (before !== main) {
      if (before !== null && !(await isKnownAncestor(hub.dir, before, main))) throw moved(hub, input, branch, before);
      if (before === null && 'fastForward' in input.deliver) {
        throw new DeliveryError(
          'moved',
          `The origin has no branch ${branch} any more. Deliver to another one: deliver: {branch: …}.`,
        );
      }
      await push(hub, url, branch, main, input);
    }
    return { pushed: branch, commit: main };
  } catch (error) {
    const known = repositoryError(error, url);
    if (known instanceof RepositoryError && known.kind === 'refused') return left(known.message);
    throw known;
  }
}

async function push(hub: HubPlace, url: string, branch: string, main: string, input: DeliverInput): Promise<void> {
  const receiver = url.startsWith('file:') ? [`--receive-pack=${QUIET_RECEIVER}`] : [];
  const spec = `${main}:refs/heads/${branch}`;
  const { exitCode, stdout, stderrTail } = await gitRun(
    hub.dir,
    [
      'push',
      '--quiet',
      '--porcelain',
      '--no-verify',
      '--no-follow-tags',
      '--recurse-submodules=no',
      ...receiver,
      '--',
      url,
      spec,
    ],
    {
      ...(input.credential === null ? {} : { env: input.credential }),
      timeoutMs: input.timeoutMs ?? PUSH_TIMEOUT_MS,
      signal: input.signal,
    },
    [0, 1],
  );
  if (exitCode === 0) return;
  // The origin may have moved between our look and the push; where it stands says so, whatever the words.
  const now = await remoteBranch(url, branch, input.credential, { signal: input.signal });
  if (now === main) return;
  if (now !== null && !(await isKnownAncestor(hub.dir, now, main))) throw moved(hub, input, branch, now);
  const said =
    `${stdout.toString('utf8')}${stderrTail}`.split('\n').find((l) => l.startsWith('!')) ?? stderrTail.trim();
  throw new DeliveryError(
    'rejected',
    `The origin rejected the push to ${branch}: ${said.replace(/\t/g, ' ')}. Deliver to a branch that may be pushed, or fetch the result: ${fetchCommand(hub, input.run)}`,
  );
}

/** false also when the commit is not in the hub: every ancestor of main is. */
async function isKnownAncestor(hubDir: string, commit: string, main: string): Promise<boolean> {
  try {
    return await isAncestor(hubDir, commit, main);
  } catch (error) {
    if (error instanceof GitError && error.exitCode === 128) return false;
    throw error;
  }
}

function moved(hub: HubPlace, input: DeliverInput, branch: string, at: string): DeliveryError {
  const how =
    'fastForward' in input.deliver
      ? `Deliver to a branch instead (deliver: {branch: swarmline/${input.run}}) and merge it there`
      : 'Deliver to a branch of another name';
  return new DeliveryError(
    'moved',
    `The origin's ${branch} is at ${at.slice(0, 12)}, which has commits that this run does not. Nothing was pushed. ${how}, or fetch the result: ${fetchCommand(hub, input.run)}`,
  );
}

/** What a person types in their clone to get main. */
export function fetchCommand(hub: HubPlace, run: string): string {
  const path = /^[\w./-]+$/.test(hub.dir) ? hub.dir : `'${hub.dir.replace(/'/g, `'\\''`)}'`;
  return `git fetch ${path} ${MAIN}:refs/heads/swarmline/${run}`;
}
