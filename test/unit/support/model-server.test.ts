/** The model server that plays the model for real agent programs: each wire format whole and as a stream, and whatever goes wrong. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createParser } from 'eventsource-parser';
import { createMeter } from '../../../gateway/usage.ts';
import { startModelServer } from '../../../bench/model-server/index.ts';
import type { ModelAnswer, ModelServer } from '../../../bench/model-server/index.ts';

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer(() => ({}));
});
afterAll(() => server.close());
beforeEach(() => server.play(() => ANSWER));

const ANSWER: ModelAnswer = {
  text: 'I look.',
  tools: [{ name: 'Read', input: { path: 'a.ts' } }],
  usage: { input: 900, cached: 400, output: 70 },
};
type Json = Record<string, unknown>;
const tool = { type: 'function', function: { name: 'Read' } };
const call = { id: 'c1', function: { name: 'Read', arguments: '{"path":"b.ts"}' } };
/** One conversation in each format: instructions, a question, a tool call, its result. */
const FORMATS = {
  anthropic: {
    path: '/v1/messages?beta=true',
    body: {
      model: 'm',
      system: [{ type: 'text', text: 'Be brief.' }],
      tools: [{ name: 'Read' }],
      messages: [
        { role: 'user', content: 'What is in b?' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'Read', input: { path: 'b.ts' } }] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'b is here' }] }],
        },
      ],
    },
    protocol: 'anthropic',
  },
  responses: {
    path: '/v1/responses',
    body: {
      model: 'm',
      instructions: 'Be brief.',
      tools: [{ type: 'function', name: 'Read' }],
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'What is in b?' }] },
        { type: 'function_call', call_id: 'c1', name: 'Read', arguments: '{"path":"b.ts"}' },
        { type: 'function_call_output', call_id: 'c1', output: 'b is here' },
      ],
    },
    protocol: 'responses',
  },
  chat: {
    path: '/v1/chat/completions',
    body: {
      model: 'm',
      tools: [tool],
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'What is in b?' },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c1', content: 'b is here' },
      ],
    },
    protocol: 'chat',
  },
} as const;
const NAMES = ['anthropic', 'responses', 'chat'] as const;
type Format = (typeof NAMES)[number];

const post = (format: Format, more: Json = {}): Promise<Response> =>
  fetch(server.url + FORMATS[format].path, {
    method: 'POST',
    body: JSON.stringify({ ...FORMATS[format].body, ...more }),
  });
/** Data of the events of a stream, as far as it came. */
async function stream(format: Format, more: Json = {}): Promise<{ events: Json[]; raw: string; cut: boolean }> {
  const answer = await post(format, { stream: true, stream_options: { include_usage: true }, ...more });
  const events: Json[] = [];
  const parser = createParser({ onEvent: ({ data }) => data !== '[DONE]' && events.push(JSON.parse(data) as Json) });
  let raw = '';
  try {
    for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
      raw += chunk;
      parser.feed(chunk);
    }
  } catch {
    return { events, raw, cut: true };
  }
  return { events, raw, cut: false };
}
/** What an answer says, whatever its format: words, calls, and why it ended. */
function said(format: Format, answer: Json): { text: string; calls: unknown[]; end: unknown } {
  const of = (list: unknown): Json[] => (list ?? []) as Json[];
  if (format === 'anthropic') {
    const calls = of(answer['content']).filter(({ type }) => type === 'tool_use');
    const texts = of(answer['content']).filter(({ type }) => type === 'text');
    return {
      text: texts.map(({ text }) => text).join(''),
      calls: calls.map(({ name, input }) => [name, input]),
      end: answer['stop_reason'],
    };
  }
  if (format === 'responses') {
    const items = of(answer['output']);
    const parts = items.flatMap(({ content }) => of(content));
    return {
      text: parts.map((part) => part['text'] ?? part['refusal']).join(''),
      calls: items
        .filter(({ type }) => type === 'function_call')
        .map((item) => [item['name'], JSON.parse(item['arguments'] as string)]),
      end: parts.some(({ type }) => type === 'refusal') ? 'refusal' : answer['status'],
    };
  }
  const [choice] = of(answer['choices']);
  const message = choice!['message'] as Json;
  const calls = of(message['tool_calls']).map(({ function: used }) => used as Json);
  return {
    text: (message['content'] as string | null) ?? '',
    calls: calls.map(({ name, arguments: input }) => [name, JSON.parse(input as string)]),
    end: choice!['finish_reason'],
  };
}
/** A stream put together as a client does it. */
function together(format: Format, events: readonly Json[]): Json {
  if (format === 'responses') return events.at(-1)!['response'] as Json;
  if (format === 'anthropic') {
    const content = new Map<unknown, Json>();
    for (const event of events) {
      if (event['type'] === 'content_block_start') content.set(event['index'], { ...(event['content_block'] as Json) });
      const block = content.get(event['index']);
      const delta = event['delta'] as Json | undefined;
      if (delta?.['type'] === 'text_delta') block!['text'] = `${block!['text'] as string}${delta['text'] as string}`;
      if (delta?.['type'] === 'input_json_delta') block!['input'] = JSON.parse(delta['partial_json'] as string) as Json;
    }
    const end = events.find(({ type }) => type === 'message_delta')?.['delta'] as Json;
    return { content: [...content.values()], stop_reason: end['stop_reason'] };
  }
  const choices = events.flatMap((event) => event['choices'] as Json[]);
  const deltas = choices.map(({ delta }) => delta as Json);
  return {
    choices: [
      {
        message: {
          content: deltas.map(({ content }) => (content as string | undefined) ?? '').join(''),
          tool_calls: deltas.flatMap((delta) => (delta['tool_calls'] as Json[] | undefined) ?? []),
        },
        finish_reason: choices.at(-1)?.['finish_reason'],
      },
    ],
  };
}
const ENDS: Readonly<Record<Format, { used: string; plain: string; refused: string; filtered: string }>> = {
  anthropic: { used: 'tool_use', plain: 'end_turn', refused: 'refusal', filtered: 'refusal' },
  responses: { used: 'completed', plain: 'completed', refused: 'refusal', filtered: 'incomplete' },
  chat: { used: 'tool_calls', plain: 'stop', refused: 'content_filter', filtered: 'content_filter' },
};

describe.each(NAMES)('%s', (format) => {
  test('a conversation is read: instructions, tools, questions, calls and their results', async () => {
    await (await post(format)).text();
    const request = server.requests.at(-1)!;
    expect(request).toMatchObject({ format, model: 'm', turn: 1, stream: false, tools: ['Read'] });
    expect(request.system.trim()).toBe('Be brief.');
    expect(
      request.messages.map(({ role, text, toolCalls, toolResults }) => [role, text, toolCalls, toolResults]),
    ).toEqual([
      ['user', 'What is in b?', [], []],
      ['assistant', '', [{ id: 'c1', name: 'Read', input: { path: 'b.ts' } }], []],
      ['user', '', [], [{ id: 'c1', text: 'b is here' }]],
    ]);
  });

  test('an answer whole and as a stream says the same, and its usage is what the gateway reads', async () => {
    const whole = await post(format);
    const text = await whole.text();
    const { events, raw, cut } = await stream(format);
    expect(cut).toBe(false);
    const expected = { text: 'I look.', calls: [['Read', { path: 'a.ts' }]], end: ENDS[format].used };
    expect(said(format, JSON.parse(text) as Json)).toEqual(expected);
    expect(said(format, together(format, events))).toEqual(expected);
    const counted = (type: string, answer: string) => {
      const meter = createMeter(FORMATS[format].protocol, type);
      meter.see(Buffer.from(answer));
      return meter.usage();
    };
    const usage = { inputTokens: 900, cachedTokens: 400, cacheWriteTokens: 0, outputTokens: 70 };
    expect(counted(whole.headers.get('content-type') ?? '', text)).toEqual(usage);
    expect(counted('text/event-stream', raw)).toEqual(usage);
  });

  test('words alone, nothing at all, a refusal and a filter end as they do at the provider', async () => {
    const ends = async (answer: ModelAnswer) => {
      server.play(() => answer);
      const { events } = await stream(format);
      const whole = said(format, (await (await post(format)).json()) as Json);
      expect(said(format, together(format, events))).toEqual(whole);
      return [whole.text, whole.calls, whole.end];
    };
    expect(await ends({ text: 'Done.' })).toEqual(['Done.', [], ENDS[format].plain]);
    expect(await ends({})).toEqual(['', [], ENDS[format].plain]);
    expect(await ends({ text: 'No.', refuses: true })).toEqual(['No.', [], ENDS[format].refused]);
    expect(await ends({ text: 'I c', refuses: 'filter' })).toEqual(['I c', [], ENDS[format].filtered]);
  });

  test('a stream that is cut has sent exactly what it was to send, and then ends without an end; so does an answer in one piece', async () => {
    const { events: all } = await stream(format);
    for (const cutAfterEvents of [0, 1, 3]) {
      server.play(() => ({ ...ANSWER, cutAfterEvents }));
      const { events, cut } = await stream(format);
      expect([cut, events]).toEqual([true, all.slice(0, cutAfterEvents).map(() => expect.anything() as unknown)]);
    }
    const whole = await post(format);
    expect(whole.status).toBe(200);
    await expect(whole.text()).rejects.toThrow('terminated');
  });

  test('a failure has its status, its Retry-After and its body', async () => {
    server.play(() => ({ fail: { status: 429, retryAfter: 7 } }));
    const busy = await post(format, { stream: true });
    expect([busy.status, busy.headers.get('retry-after')]).toEqual([429, '7']);
    expect(await busy.text()).toContain('scripted 429');
    server.play(() => ({ fail: { status: 400, body: { error: { message: 'no' } } } }));
    expect(await (await post(format)).json()).toEqual({ error: { message: 'no' } });
  });
});

test('chat completions say no usage in a stream unless they are asked to', async () => {
  const { raw } = await stream('chat', { stream_options: undefined });
  expect(raw).not.toContain('"usage"');
  expect(raw.trimEnd().endsWith('data: [DONE]')).toBe(true);
});

test('a delay and a script that waits hold an answer back; calls at once are counted while they are under way', async () => {
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (release = resolve));
  const before = server.requests.length;
  server.play(async () => {
    if (server.requests.length === before + 3) release();
    await gate;
    return { text: 'Now.', delayMs: 60 };
  });
  const startedAt = performance.now();
  await Promise.all(NAMES.map(async (format) => (await post(format)).text()));
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(55);
  expect(server.load.most).toBeGreaterThanOrEqual(3);
  // The server hears of the end of a connection a little later than whoever reads the answer.
  while (server.load.now > 0) await delay(5);
});

test('what it does not know is 404, a script that throws 500: an agent program must not wait for it', async () => {
  expect((await fetch(`${server.url}/v1/models`)).status).toBe(404);
  expect((await fetch(`${server.url}/v1/messages`)).status).toBe(404);
  server.play(() => {
    throw new Error('the script is wrong');
  });
  const failed = await post('anthropic');
  expect([failed.status, await failed.text()]).toEqual([500, expect.stringContaining('the script is wrong')]);
});
