/**
 * Which headers pass, in both directions. Pure.
 *
 * 1. Lists of what passes, never of what does not: credentials, cookies, forwarding and hop-by-hop headers are on neither list.
 * 2. The key is added here and nowhere else.
 */
import type { UpstreamName } from './types.ts';

const TO_UPSTREAM: readonly string[] = ['accept', 'anthropic-beta', 'anthropic-version', 'openai-beta'];
const TO_AGENT: readonly string[] = ['content-type', 'request-id', 'x-request-id', 'openai-processing-ms'];

export function upstreamHeaders(
  received: Readonly<Record<string, string | string[] | undefined>>,
  upstream: UpstreamName,
  key: string | null,
): Record<string, string> {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'swarmline',
  };
  for (const name of TO_UPSTREAM) {
    const value = received[name];
    if (typeof value === 'string') headers[name] = value;
  }
  if (key === null) return headers;
  return upstream === 'anthropic' ? { ...headers, 'x-api-key': key } : { ...headers, authorization: `Bearer ${key}` };
}

export function agentHeaders(
  received: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of TO_AGENT) {
    const value = received[name];
    if (typeof value === 'string') headers[name] = value;
  }
  return headers;
}
