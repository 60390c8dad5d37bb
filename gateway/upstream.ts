/**
 * A request to an upstream. Not fetch: that one gives up an upstream which is silent for five minutes, as models that think can be, and does
 * not tell whether a request that failed had been sent.
 *
 * 1. No limit of time of its own: the agent's deadline ends a call, and with it the connection.
 * 2. A request that nobody answered says whether the upstream has got it, and may so have begun to count.
 */
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

const agents = { 'http:': new HttpAgent({ keepAlive: true }), 'https:': new HttpsAgent({ keepAlive: true }) };

export class Unanswered extends Error {
  override readonly name = 'Unanswered';
  /** The upstream has got the whole request. */
  readonly sent: boolean;
  /** Of the system or of OpenSSL; '' where there is none. */
  readonly code: string;
  constructor(cause: Error & { code?: string }, sent: boolean) {
    super(`The upstream did not answer: ${cause.message}`, { cause });
    this.sent = sent;
    this.code = cause.code ?? '';
  }
}

/** The head of the answer; its body is read from it. @throws Unanswered, also when the caller leaves before. */
export function post(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const target = new URL(url);
  const secure = target.protocol === 'https:';
  return new Promise((resolve, reject) => {
    const asked = (secure ? httpsRequest : httpRequest)(target, {
      method: 'POST',
      agent: agents[secure ? 'https:' : 'http:'],
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      signal,
    });
    let sent = false;
    asked.on('finish', () => (sent = true));
    asked.on('response', resolve);
    asked.on('error', (error: Error & { code?: string }) => {
      // A connection that had been kept open and was closed just then: what was written to it, nobody has read.
      const closedBefore = asked.reusedSocket && error.code === 'ECONNRESET';
      reject(new Unanswered(error, sent && !closedBefore));
    });
    asked.end(body);
  });
}
