/**
 * A model request: read whole within bounds, understood, and made ready for the upstream.
 *
 * 1. Bounded in bytes and in time; too much is refused as soon as it is known, whatever Content-Length said.
 * 2. What is sent on is what was understood: the body is parsed and written again, so that no duplicate key or odd encoding can
 *    mean one thing here and another there. What a request may contain is in confine.ts.
 */
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { confined } from './confine.ts';
import { RequestRefused } from './refused.ts';
import type { Caller, Protocol, TokenUsage } from './types.ts';

/** Bytes of a request. Real agents stay far below: a context of 200,000 tokens is about 1 MB. */
export const REQUEST_BYTES = 8 * 1024 ** 2;

export async function readBody(request: IncomingMessage, most: number = REQUEST_BYTES): Promise<Buffer> {
  const tooLarge = new RequestRefused(413, `A request may have ${most} bytes.`);
  if (Number(request.headers['content-length'] ?? 0) > most) throw tooLarge;
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Not destroyed when it is too much: the answer that says so goes out on the same connection.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > most) throw tooLarge;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const Body = z.looseObject({
  model: z.string().min(1).max(200),
  stream: z.boolean().optional(),
  max_tokens: z.number().int().positive().optional(),
  max_completion_tokens: z.number().int().positive().nullish(),
  max_output_tokens: z.number().int().positive().nullish(),
  stream_options: z.looseObject({}).nullish(),
  /** Answers to one request, in chat completions. */
  n: z.number().int().min(1).max(128).nullish(),
});

export interface ModelRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly body: string;
  readonly estimate: TokenUsage;
}

/** Output that is reserved for when the request names no limit. */
const OUTPUT_TOKENS = 8_192;
/** Of English and code, a token has about 4 bytes; 3 errs on the side of reserving too much. */
const BYTES_A_TOKEN = 3;

function written(json: object): string {
  try {
    return JSON.stringify(json);
  } catch {
    // The stack has an end: what was read in one go is not always written so.
    throw new RequestRefused(400, 'The body is nested too deeply.');
  }
}

/** @throws RequestRefused for what is no JSON object with a model, and for a model that this caller was not given. */
export function understand(raw: Buffer, protocol: Protocol, caller: Caller): ModelRequest {
  let json: unknown;
  try {
    json = JSON.parse(raw.toString('utf8'));
  } catch {
    throw new RequestRefused(400, 'The body is not JSON.');
  }
  const parsed = Body.safeParse(json);
  if (!parsed.success) throw new RequestRefused(400, `The body is no model request: ${z.prettifyError(parsed.error)}`);
  const asked = confined(parsed.data, protocol);
  if (caller.model !== null && asked.model !== caller.model) {
    throw new RequestRefused(
      403,
      `The role ${caller.role} was given the model ${caller.model}, not ${asked.model} (roles.${caller.role}.model of the spec).`,
    );
  }
  const stream = asked.stream === true;
  // Without it a stream of chat completions ends without a word about usage.
  const sent =
    protocol === 'chat' && stream
      ? { ...asked, stream_options: { ...asked.stream_options, include_usage: true } }
      : asked;
  const body = written(sent);
  const output = asked.max_tokens ?? asked.max_completion_tokens ?? asked.max_output_tokens ?? OUTPUT_TOKENS;
  return {
    model: asked.model,
    stream,
    body,
    estimate: {
      inputTokens: Math.ceil(Buffer.byteLength(body) / BYTES_A_TOKEN),
      cachedTokens: 0,
      cacheWriteTokens: 0,
      outputTokens: output * (asked.n ?? 1),
    },
  };
}
