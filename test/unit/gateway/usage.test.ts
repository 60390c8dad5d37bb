import { describe, expect, it } from '@jest/globals';
import { understand } from '../../../gateway/request.ts';
import { createMeter } from '../../../gateway/usage.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const events = (...objects: object[]): string =>
  objects.map((object) => `event: x\ndata: ${JSON.stringify(object)}\n\n`).join('');

const anthropic = events(
  {
    type: 'message_start',
    message: {
      usage: { input_tokens: 10, cache_read_input_tokens: 900, cache_creation_input_tokens: 50, output_tokens: 1 },
    },
  },
  { type: 'content_block_delta', delta: { type: 'text_delta', text: 'a "usage" of words' } },
  { type: 'message_delta', delta: {}, usage: { output_tokens: 42 } },
);

describe('usage', () => {
  it('of Messages: the start names the input, the last delta the output; cached tokens stand apart', () => {
    const meter = createMeter('anthropic', 'text/event-stream; charset=utf-8');
    meter.see(bytes(anthropic));
    expect(meter.usage()).toEqual({ inputTokens: 10, cachedTokens: 900, cacheWriteTokens: 50, outputTokens: 42 });
  });

  it('is the same however the bytes are cut, in the middle of a character too', () => {
    const all = bytes(anthropic.replace('words', 'wörter 💥'));
    for (let size = 1; size < 40; size += 3) {
      const meter = createMeter('anthropic', 'text/event-stream');
      for (let at = 0; at < all.length; at += size) meter.see(all.subarray(at, at + size));
      expect(meter.usage()).toEqual({ inputTokens: 10, cachedTokens: 900, cacheWriteTokens: 50, outputTokens: 42 });
    }
  });

  it('of a stream that was cut is what it had said', () => {
    const meter = createMeter('anthropic', 'text/event-stream');
    meter.see(bytes(anthropic.slice(0, anthropic.indexOf('message_delta'))));
    expect(meter.usage()).toMatchObject({ inputTokens: 10, outputTokens: 1 });
  });

  it('of Responses and of Chat Completions: cached tokens are taken out of the input', () => {
    const responses = createMeter('responses', 'text/event-stream');
    responses.see(
      bytes(
        events(
          { type: 'response.created', response: { usage: null } },
          {
            type: 'response.completed',
            response: { usage: { input_tokens: 100, input_tokens_details: { cached_tokens: 60 }, output_tokens: 7 } },
          },
        ),
      ),
    );
    expect(responses.usage()).toEqual({ inputTokens: 40, cachedTokens: 60, cacheWriteTokens: 0, outputTokens: 7 });
    const chat = createMeter('chat', 'text/event-stream');
    chat.see(bytes(events({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 3 } }) + 'data: [DONE]\n\n'));
    expect(chat.usage()).toEqual({ inputTokens: 9, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 3 });
  });

  it('of an answer in one piece is read at its end; of one that says nothing there is none', () => {
    const whole = createMeter('anthropic', 'application/json');
    const text = JSON.stringify({ content: [], usage: { input_tokens: 1, output_tokens: 2 } });
    whole.see(bytes(text.slice(0, 20)));
    whole.see(bytes(text.slice(20)));
    expect(whole.usage()).toMatchObject({ inputTokens: 1, outputTokens: 2 });
    const silent = createMeter('chat', 'text/event-stream');
    silent.see(bytes('data: not json "usage"\n\ndata: {"usage": "none"}\n\n'));
    expect(silent.usage()).toBeNull();
  });
});

describe('a request', () => {
  const caller = { run: 'r', task: 't', attempt: 1, role: 'worker', model: 'm' };
  const ask = (body: object, protocol: 'anthropic' | 'chat' = 'anthropic') =>
    understand(Buffer.from(JSON.stringify(body)), protocol, caller);

  it('for another model than the role was given is refused, by name', () => {
    expect(() => ask({ model: 'dearer' })).toThrow(/given the model m, not dearer/);
  });

  it('that is no JSON object with a model is refused', () => {
    expect(() => understand(Buffer.from('{'), 'chat', caller)).toThrow(/not JSON/);
    expect(() => ask({})).toThrow(/model/);
    expect(() => ask({ model: 'm', max_tokens: -1 })).toThrow(/max_tokens/);
  });

  it('is sent on as it was understood, with what it holds beside', () => {
    const { body, estimate } = ask({ model: 'm', max_tokens: 100, tools: [{ name: 'x' }] });
    expect(JSON.parse(body)).toEqual({ model: 'm', max_tokens: 100, tools: [{ name: 'x' }] });
    expect(estimate.outputTokens).toBe(100);
  });

  it('for a stream of chat completions asks for usage, which would be missing otherwise', () => {
    expect(JSON.parse(ask({ model: 'm', stream: true }, 'chat').body)).toMatchObject({
      stream_options: { include_usage: true },
    });
  });
});
