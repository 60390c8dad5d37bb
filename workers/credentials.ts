/** Credentials by name: files in one directory of the worker's host. A spec, a workflow and a log hold the name only. */
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { credentialEnv } from '../mainline/credential.ts';
import { RepositoryError } from '../mainline/errors.ts';
import type { CredentialEnv } from '../mainline/remote.ts';
import { idProblem } from '../spec/names.ts';

export type CredentialFor = (name: string | null, url: string | null) => Promise<CredentialEnv | null>;

/** @param dir SWARMLINE_CREDENTIALS; @param knownHosts file for ssh host keys. Throws RepositoryError('refused') for a name without a file. */
export function credentialsIn(dir: string | null, knownHosts: string): CredentialFor {
  return async (name, url) => {
    if (name === null || url === null) return null;
    if (dir === null || idProblem(name) !== null) throw missing(name, dir);
    const file = join(dir, name);
    await access(file).catch(() => {
      throw missing(name, dir);
    });
    return credentialEnv(url, file, knownHosts);
  };
}

const missing = (name: string, dir: string | null): RepositoryError =>
  new RepositoryError(
    'refused',
    `The mainline worker has no credential named "${name}". ` +
      (dir === null
        ? 'Set SWARMLINE_CREDENTIALS to a directory that holds a file of that name, and start the worker again.'
        : `Put a file of that name (a token, or a private key) into ${dir}.`),
  );
