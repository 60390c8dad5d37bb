/**
 * The provider's own count of tokens, read from its answer on the way through. Pure.
 *
 * 1. The last word counts: streams repeat and raise their counts, and a stream that was cut has said the input at least.
 * 2. `inputTokens` never contains cached ones: Anthropic counts them apart, OpenAI within.
 */
import { createParser } from 'eventsource-parser';
import { z } from 'zod';
import { NO_USAGE } from './types.ts';
import type { Protocol, TokenUsage } from './types.ts';

const count = z
  .number()
  .int()
  .nonnegative()
  .nullish()
  .transform((n) => n ?? null);
const Anthropic = z.object({
  input_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
  output_tokens: count,
});
const Responses = z.object({
  input_tokens: count,
  output_tokens: count,
  input_tokens_details: z.object({ cached_tokens: count }).nullish(),
});
const Chat = z.object({
  prompt_tokens: count,
  completion_tokens: count,
  prompt_tokens_details: z.object({ cached_tokens: count }).nullish(),
});

/** Where an answer, or one event of a stream, says its usage. */
const Holder = z.object({
  usage: z.unknown().optional(),
  message: z.object({ usage: z.unknown().optional() }).nullish().catch(undefined),
  response: z.object({ usage: z.unknown().optional() }).nullish().catch(undefined),
});

/** `before` with what one JSON object says; null when neither says anything. */
export function usageIn(protocol: Protocol, object: unknown, before: TokenUsage | null): TokenUsage | null {
  const holder = Holder.safeParse(object);
  if (!holder.success) return before;
  const said = holder.data.usage ?? holder.data.message?.usage ?? holder.data.response?.usage;
  if (said === undefined || said === null) return before;
  const known = before ?? NO_USAGE;
  switch (protocol) {
    case 'anthropic': {
      const usage = Anthropic.safeParse(said).data;
      if (usage === undefined) return before;
      return {
        inputTokens: usage.input_tokens ?? known.inputTokens,
        cachedTokens: usage.cache_read_input_tokens ?? known.cachedTokens,
        cacheWriteTokens: usage.cache_creation_input_tokens ?? known.cacheWriteTokens,
        outputTokens: usage.output_tokens ?? known.outputTokens,
      };
    }
    case 'responses': {
      const usage = Responses.safeParse(said).data;
      if (usage === undefined) return before;
      return inclusive(usage.input_tokens, usage.input_tokens_details?.cached_tokens, usage.output_tokens, known);
    }
    case 'chat': {
      const usage = Chat.safeParse(said).data;
      if (usage === undefined) return before;
      return inclusive(usage.prompt_tokens, usage.prompt_tokens_details?.cached_tokens, usage.completion_tokens, known);
    }
  }
}

function inclusive(
  input: number | null,
  cached: number | null | undefined,
  output: number | null,
  known: TokenUsage,
): TokenUsage {
  const cachedTokens = cached ?? known.cachedTokens;
  return {
    inputTokens: input === null ? known.inputTokens : Math.max(0, input - cachedTokens),
    cachedTokens,
    cacheWriteTokens: 0,
    outputTokens: output ?? known.outputTokens,
  };
}

export interface Meter {
  /** Bytes as they pass; they are looked at, never kept beyond one event (or, for an answer in one piece, its own length). */
  see(chunk: Uint8Array): void;
  /** What the provider has said so far. */
  usage(): TokenUsage | null;
}

/** An answer in one piece is held to be parsed at its end; one that is larger is not counted by its own words. */
const ANSWER_BYTES = 8 * 1024 ** 2;

export function createMeter(protocol: Protocol, contentType: string): Meter {
  let said: TokenUsage | null = null;
  const note = (text: string): void => {
    // Most events are pieces of text: only those that say something are parsed.
    if (!text.includes('"usage"')) return;
    try {
      said = usageIn(protocol, JSON.parse(text), said);
    } catch {
      // Not JSON: nothing that is known of.
    }
  };
  const decoder = new TextDecoder();
  if (contentType.startsWith('text/event-stream')) {
    const parser = createParser({ onEvent: ({ data }) => note(data) });
    return { see: (chunk) => parser.feed(decoder.decode(chunk, { stream: true })), usage: () => said };
  }
  let text = '';
  return {
    see: (chunk) => {
      if (text.length <= ANSWER_BYTES) text += decoder.decode(chunk, { stream: true });
    },
    usage: () => {
      note(text);
      return said;
    },
  };
}
