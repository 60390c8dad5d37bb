/**
 * Turns a credential file into environment for git. The caller finds the file by the name in the spec.
 *
 * 1. The secret is in the environment of git's process and nowhere else: no argument, no URL, no configuration on disk.
 */
import { readFile } from 'node:fs/promises';
import type { CredentialEnv } from './remote.ts';

/**
 * ssh URLs: the file is a private key. http(s): one line, `user:password` or a token (sent as the password of `x-access-token`,
 * which the usual hosts take). file URLs need none. Host keys are accepted at first sight and kept in `knownHosts`.
 */
export async function credentialEnv(url: string, file: string, knownHosts: string): Promise<CredentialEnv> {
  if (/^file:/i.test(url)) return {};
  if (/^https?:/i.test(url)) {
    const text = (await readFile(file, 'utf8')).trim();
    const pair = text.includes(':') ? text : `x-access-token:${text}`;
    return httpHeader(`Authorization: Basic ${Buffer.from(pair).toString('base64')}`);
  }
  const options = [
    'IdentitiesOnly=yes',
    'BatchMode=yes',
    'StrictHostKeyChecking=accept-new',
    `UserKnownHostsFile=${quote(knownHosts)}`,
  ];
  return { GIT_SSH_COMMAND: `ssh -i ${quote(file)} ${options.map((o) => `-o ${o}`).join(' ')}` };
}

/** A header for every HTTP request that git makes. Redirects to another place are not followed with it. */
export function httpHeader(header: string): CredentialEnv {
  return {
    GIT_CONFIG_COUNT: '2',
    GIT_CONFIG_KEY_0: 'http.extraHeader',
    GIT_CONFIG_VALUE_0: header,
    GIT_CONFIG_KEY_1: 'http.followRedirects',
    GIT_CONFIG_VALUE_1: 'false',
  };
}

/** git gives GIT_SSH_COMMAND to a shell. */
const quote = (text: string): string => `'${text.replace(/'/g, `'\\''`)}'`;
