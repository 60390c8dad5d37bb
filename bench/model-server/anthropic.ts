/** The Anthropic Messages API, as far as coding agents use it. */
import { randomUUID } from 'node:crypto';
import type { ModelAnswer, ModelMessage } from './types.ts';

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly tool_use_id?: string;
  readonly content?: string | readonly Block[];
}
interface Body {
  readonly model: string;
  readonly system?: string | readonly Block[];
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly content: string | readonly Block[] }[];
  readonly tools?: readonly { readonly name: string }[];
}

const textOf = (content: string | readonly Block[] | undefined): string =>
  typeof content === 'string' ? content : (content ?? []).map((block) => block.text ?? '').join('\n');

export function readAnthropic(body: Body): { system: string; messages: ModelMessage[]; tools: string[] } {
  return {
    system: textOf(body.system),
    tools: (body.tools ?? []).map(({ name }) => name),
    messages: body.messages.map(({ role, content }) => {
      const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
      const of = (type: string): Block[] => blocks.filter((block) => block.type === type);
      return {
        role,
        text: of('text')
          .map((block) => block.text ?? '')
          .join('\n'),
        toolCalls: of('tool_use').map(({ id = '', name = '', input }) => ({ id, name, input })),
        toolResults: of('tool_result').map((block) => ({ id: block.tool_use_id ?? '', text: textOf(block.content) })),
      };
    }),
  };
}

export function anthropicMessage(model: string, answer: ModelAnswer): Record<string, unknown> {
  const content = [
    ...(answer.text === undefined ? [] : [{ type: 'text', text: answer.text }]),
    ...(answer.tools ?? []).map(({ name, input }) => ({ type: 'tool_use', id: `toolu_${id()}`, name, input })),
  ];
  const used = answer.tools !== undefined && answer.tools.length > 0;
  return {
    id: `msg_${id()}`,
    type: 'message',
    role: 'assistant',
    model,
    content,
    stop_reason: answer.refuses ? 'refusal' : used ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: {
      input_tokens: answer.usage?.input ?? 100,
      cache_read_input_tokens: answer.usage?.cached ?? 0,
      cache_creation_input_tokens: 0,
      output_tokens: answer.usage?.output ?? 20,
    },
  };
}

export function anthropicEvents(model: string, answer: ModelAnswer): string[] {
  const message = anthropicMessage(model, answer);
  const usage = message['usage'] as Record<string, number>;
  const event = (data: { type: string } & Record<string, unknown>): string =>
    `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
  const start = { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } };
  const events = [event({ type: 'message_start', message: start })];
  for (const [index, block] of (message['content'] as Block[]).entries()) {
    const isText = block.type === 'text';
    const empty = isText ? { type: 'text', text: '' } : { ...block, input: {} };
    events.push(event({ type: 'content_block_start', index, content_block: empty }));
    const delta = isText
      ? { type: 'text_delta', text: block.text }
      : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) };
    events.push(event({ type: 'content_block_delta', index, delta }));
    events.push(event({ type: 'content_block_stop', index }));
  }
  const end = { stop_reason: message['stop_reason'], stop_sequence: null };
  events.push(event({ type: 'message_delta', delta: end, usage: { output_tokens: usage['output_tokens'] } }));
  events.push(event({ type: 'message_stop' }));
  return events;
}

const id = (): string => randomUUID().replaceAll('-', '').slice(0, 24);
