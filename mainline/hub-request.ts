/** One request of a host to the hub server, its answer turned into a value or a typed error. */
import { HubError, IntakeRefused } from './errors.ts';
import type { ProblemAnswer } from './hub-http.ts';

/** The hub does not answer, or answers that it failed. Worth trying again. */
export class HubUnreachable extends Error {
  override readonly name = 'HubUnreachable';
}

const TIMEOUT_MS = 15 * 60_000;

/** The parsed answer; null for 404. Throws IntakeRefused (409, 413, 422), HubError (401, 403 and what else is ours), HubUnreachable. */
export async function request(
  hub: { readonly url: string; readonly token: string },
  method: 'GET' | 'PUT',
  path: string,
  body: Buffer | null,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  let status: number;
  let text: string;
  try {
    const response = await fetch(`${hub.url}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${hub.token}`,
        ...(body === null ? {} : { 'Content-Type': 'application/x-git-pack' }),
      },
      ...(body === null ? {} : { body: new Uint8Array(body) }),
      signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
      redirect: 'error',
    });
    status = response.status;
    text = await response.text();
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new HubUnreachable(`The hub at ${hub.url} does not answer`, { cause: error });
  }
  if (status === 200) return JSON.parse(text) as unknown;
  if (status >= 500) throw new HubUnreachable(`The hub answered ${status}`);
  const problem = parse(text);
  if (problem.rule !== undefined) throw new IntakeRefused(problem.rule, problem.path ?? '', problem.error);
  if (status === 404 && method === 'GET') return null;
  if (status === 401 || status === 403) {
    throw new HubError(`The hub refuses this host (${status}). Give the worker the hub's token: SWARMLINE_HUB_TOKEN`);
  }
  throw new HubError(`The hub answered ${status}: ${problem.error}`);
}

function parse(text: string): ProblemAnswer {
  try {
    return JSON.parse(text) as ProblemAnswer;
  } catch {
    return { error: text.slice(0, 200) };
  }
}
