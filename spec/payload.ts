/** What Temporal and a repository refuse, worded for the person who submitted the spec. */
import type { Problem } from './model.ts';
import { formatSize } from './units.ts';

/** Temporal's hard limit for one payload (blob size limit, error level): 2 MiB. Beyond it the server terminates the workflow. */
export const PAYLOAD_LIMIT_BYTES = 2 * 1024 * 1024;

/** Left for what travels in the same payload: the run's id, field names, encoding. */
const ENVELOPE_BYTES = 4096;

/** Why a spec of this many bytes (as JSON) cannot be submitted; null when it can. */
export function payloadProblem(bytes: number): Problem | null {
  if (bytes <= PAYLOAD_LIMIT_BYTES - ENVELOPE_BYTES) return null;
  return {
    path: '',
    message: `the spec is ${formatSize(bytes)} (${bytes} bytes) as JSON; Temporal takes at most 2 MiB (${PAYLOAD_LIMIT_BYTES} bytes) as the input of a workflow. Give preset tests as paths in the repository instead of {content}, write similar tasks as a fanOut, or split the work into several runs`,
  };
}

/** Bytes of a text in UTF-8. */
export function utf8Bytes(text: string): number {
  let bytes = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit >= 0xd800 && unit < 0xdc00 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) {
      bytes += 4;
      i++;
    } else bytes += 3;
  }
  return bytes;
}

const REPOSITORY_FAULTS = {
  unreachable: [
    'url',
    'the repository cannot be reached from the worker',
    'check the address, and that the worker may go there',
  ],
  denied: [
    'credentials',
    'the repository refused the worker',
    'name credentials that may read it in repository.credentials',
  ],
  'no-credentials': [
    'credentials',
    'the worker has no credentials of this name',
    "put a file of that name into the worker's SWARMLINE_CREDENTIALS directory",
  ],
  'no-branch': ['branch', 'the repository has no such branch', 'check repository.branch'],
  'no-commits': [
    'branch',
    'the repository has no commit',
    'to start from nothing write "empty: true" instead of a url',
  ],
  'not-a-repository': ['url', 'there is no git repository at this address', 'check the address'],
  unsafe: ['url', 'the base commit has paths that cannot be checked out safely', 'remove them from the branch'],
} as const;
export type RepositoryFault = keyof typeof REPOSITORY_FAULTS;

/** What the worker found when it fetched. `detail` (the end of git's output, say) must hold no secret. */
export function repositoryProblem(kind: RepositoryFault, detail: string): Problem {
  const [field, what, remedy] = REPOSITORY_FAULTS[kind];
  return { path: `repository.${field}`, message: `${what}${detail === '' ? '' : ` (${detail.trim()})`}; ${remedy}` };
}
