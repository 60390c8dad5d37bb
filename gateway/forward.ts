/**
 * One model call: reserved, sent, passed through as it comes, counted.
 *
 * 1. Whatever happens after the reservation, it is settled exactly once.
 * 2. 429, 529 and a 503 that names a time are waited out here (backoff.ts); an upstream that cannot be reached is tried again.
 *    Every other answer is the agent's to read.
 * 3. A stream that breaks breaks for the agent as well: half an answer never looks whole.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Backoff } from './backoff.ts';
import { agentHeaders, upstreamHeaders } from './headers.ts';
import type { Places } from './places.ts';
import { RequestRefused } from './refused.ts';
import type { ModelRequest } from './request.ts';
import type { Route } from './routes.ts';
import { NO_USAGE } from './types.ts';
import type { CallEnd, Caller, GatewayLog, Ledger, TokenUsage, Upstream, WantedCall } from './types.ts';
import { post, Unanswered } from './upstream.ts';
import { createMeter } from './usage.ts';

export type ModelRoute = Extract<Route, { kind: 'model' }>;

export interface ForwardDeps {
  readonly upstream: Upstream;
  readonly backoff: Backoff;
  readonly places: Places;
  readonly ledger: Ledger;
  readonly log: GatewayLog;
  readonly now: () => number;
}

/** Tries of an upstream that does not answer at all, and the pause before each further one. */
const UNREACHABLE_PAUSES_MS = [500, 1_000, 2_000, 4_000, 8_000];

export async function forward(
  id: string,
  caller: Caller,
  route: ModelRoute,
  request: ModelRequest,
  received: IncomingHttpHeaders,
  response: ServerResponse,
  deps: ForwardDeps,
): Promise<void> {
  const { upstream, places, ledger, now } = deps;
  const left = new AbortController();
  response.on('close', () => {
    if (!response.writableFinished) left.abort(new Error('The agent has left'));
  });
  if (response.destroyed) left.abort(new Error('The agent has left'));
  const call: WantedCall = {
    id,
    caller,
    upstream: route.upstream,
    model: request.model,
    limits: upstream,
    estimate: request.estimate,
  };
  const askedAtMs = now();
  await places.enter(call, left.signal);
  const waitedMs = now() - askedAtMs;
  const told: Told = {
    caller,
    end: 'failed',
    status: null,
    usage: null,
    answered: false,
    lost: 0,
    retries: 0,
    backoffMs: 0,
  };
  try {
    await send(route, request, received, response, left.signal, deps, told);
  } catch (error) {
    if (left.signal.aborted) told.end = 'aborted';
    throw error;
  } finally {
    places.leave(call);
    const { end, status, retries } = told;
    const counted = count(told, request.estimate);
    await settled(ledger, call, { end, status, ...counted, waitedMs: waitedMs + told.backoffMs, retries }, deps.log);
  }
}

interface Told {
  readonly caller: Caller;
  end: CallEnd;
  status: number | null;
  usage: TokenUsage | null;
  /** The upstream has begun to answer, so it has begun to count. */
  answered: boolean;
  /** Times that it got the request and never answered: it may have counted each. */
  lost: number;
  retries: number;
  backoffMs: number;
}

/** What is counted: the provider's word, else the input as we estimate it, if it has begun to answer; and that for each request that was lost. */
function count(told: Told, estimate: TokenUsage): { usage: TokenUsage; estimated: boolean } {
  const billed = told.answered && told.status !== null && told.status < 400;
  const unsaid = told.usage === null && billed ? 1 : 0;
  const usage = told.usage ?? NO_USAGE;
  return {
    usage: { ...usage, inputTokens: usage.inputTokens + (unsaid + told.lost) * estimate.inputTokens },
    estimated: unsaid + told.lost > 0 || (told.usage !== null && told.end !== 'done'),
  };
}

async function settled(
  ledger: Ledger,
  call: WantedCall,
  result: Parameters<Ledger['settle']>[1],
  log: GatewayLog,
): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return await ledger.settle(call, result);
    } catch (error) {
      // Not lost: a call without an end is counted as reserved (store), which is more than it can have cost.
      if (tries >= 20) return log.warn({ call: call.id, error: String(error) }, 'a call could not be settled');
      await delay(1_000);
    }
  }
}

async function send(
  route: ModelRoute,
  request: ModelRequest,
  received: IncomingHttpHeaders,
  response: ServerResponse,
  signal: AbortSignal,
  deps: ForwardDeps,
  told: Told,
): Promise<void> {
  const { upstream, backoff, now, log } = deps;
  const key = await upstream.key();
  const url = `${upstream.url.replace(/\/+$/, '')}${route.path}`;
  const headers = upstreamHeaders(received, route.upstream, key);
  for (let unreachable = 0; ;) {
    const from = now();
    await backoff.wait(signal, told.caller);
    told.backoffMs += now() - from;
    let answer: IncomingMessage;
    try {
      answer = await post(url, headers, request.body, signal);
    } catch (error) {
      if (error instanceof Unanswered && error.sent) told.lost += 1;
      signal.throwIfAborted();
      const pause = UNREACHABLE_PAUSES_MS[unreachable++];
      if (pause === undefined) {
        throw new RequestRefused(502, `The ${route.upstream} upstream cannot be reached (${codeOf(error)}).`);
      }
      told.retries += 1;
      await delay(pause, undefined, { signal });
      continue;
    }
    const status = answer.statusCode ?? 502;
    told.status = status;
    const retryAfter = answer.headers['retry-after'] ?? null;
    if (status === 429 || status === 529 || (status === 503 && retryAfter !== null)) {
      answer.destroy();
      told.retries += 1;
      const untilMs = backoff.refused(retryAfter);
      log.info({ upstream: route.upstream, status, waitMs: untilMs - now() }, 'the upstream asks for patience');
      continue;
    }
    if (status === 401 || status === 403) {
      // Its text may quote a part of the key.
      answer.destroy();
      log.warn({ upstream: route.upstream, status }, 'the upstream refuses the key');
      throw new RequestRefused(502, `The ${route.upstream} upstream refuses the key of this installation (${status}).`);
    }
    if (status < 400) backoff.accepted();
    told.answered = true;
    await pass(answer, status, route, response, told);
    return;
  }
}

/** The answer as it comes, at the pace at which the agent reads it. */
async function pass(
  answer: IncomingMessage,
  status: number,
  route: ModelRoute,
  response: ServerResponse,
  told: Told,
): Promise<void> {
  const meter = createMeter(route.protocol, answer.headers['content-type'] ?? '');
  response.writeHead(status, agentHeaders(answer.headers));
  response.flushHeaders();
  try {
    for await (const chunk of answer as AsyncIterable<Uint8Array>) {
      meter.see(chunk);
      if (!response.write(chunk)) await drained(response);
    }
    response.end();
    told.end = status < 400 ? 'done' : 'failed';
  } catch (error) {
    response.destroy();
    throw error;
  } finally {
    told.usage = meter.usage();
  }
}

/** Until there is room again, or nobody reads any more. */
const drained = (response: ServerResponse): Promise<unknown> =>
  Promise.race([once(response, 'drain'), once(response, 'close')]);

const codeOf = (error: unknown): string =>
  error instanceof Unanswered && error.code !== '' ? error.code : 'no answer';
