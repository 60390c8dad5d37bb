/** OpenAI's Responses and Chat Completions APIs, as far as coding agents use them. */
import { randomUUID } from 'node:crypto';
import type { ModelAnswer, ModelMessage } from './types.ts';

type Content = string | readonly { readonly type?: string; readonly text?: string }[] | null | undefined;
const textOf = (content: Content): string =>
  typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('\n');
const parsed = (text: string | undefined): unknown => {
  try {
    return JSON.parse(text ?? '{}');
  } catch {
    return text;
  }
};

interface Item {
  readonly type?: string;
  readonly role?: string;
  readonly content?: Content;
  readonly call_id?: string;
  readonly name?: string;
  readonly arguments?: string;
  readonly input?: string;
  readonly output?: Content;
}
interface ResponsesBody {
  readonly instructions?: string;
  readonly input: string | readonly Item[];
  readonly tools?: readonly { readonly name?: string; readonly type: string }[];
}

export function readResponses(body: ResponsesBody): { system: string; messages: ModelMessage[]; tools: string[] } {
  const items: readonly Item[] = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : body.input;
  const system = [body.instructions ?? ''];
  const messages: ModelMessage[] = [];
  for (const item of items) {
    const text = textOf(item.content);
    const id = item.call_id ?? '';
    if (item.type === 'function_call' || item.type === 'custom_tool_call') {
      const input = item.type === 'function_call' ? parsed(item.arguments) : item.input;
      messages.push({
        role: 'assistant',
        text: '',
        toolCalls: [{ id, name: item.name ?? '', input }],
        toolResults: [],
      });
    } else if (item.type === 'function_call_output' || item.type === 'custom_tool_call_output') {
      messages.push({ role: 'user', text: '', toolCalls: [], toolResults: [{ id, text: textOf(item.output) }] });
    } else if (item.role === 'assistant') {
      messages.push({ role: 'assistant', text, toolCalls: [], toolResults: [] });
    } else if (item.role === 'user') messages.push({ role: 'user', text, toolCalls: [], toolResults: [] });
    else if (item.role !== undefined) system.push(text);
  }
  return { system: system.join('\n'), messages, tools: (body.tools ?? []).map(({ name, type }) => name ?? type) };
}

function responseItems(answer: ModelAnswer): Record<string, unknown>[] {
  const text = answer.text;
  return [
    ...(text === undefined
      ? []
      : [
          {
            type: 'message',
            id: `msg_${randomUUID()}`,
            role: 'assistant',
            status: 'completed',
            content: [
              answer.refuses === true
                ? { type: 'refusal', refusal: text }
                : { type: 'output_text', text, annotations: [] },
            ],
          },
        ]),
    ...(answer.tools ?? []).map(({ name, input }) => ({
      type: 'function_call',
      id: `fc_${randomUUID()}`,
      call_id: `call_${randomUUID()}`,
      name,
      arguments: JSON.stringify(input),
      status: 'completed',
    })),
  ];
}

export function responseObject(model: string, answer: ModelAnswer): Record<string, unknown> {
  const input = answer.usage?.input ?? 100;
  const cached = answer.usage?.cached ?? 0;
  const output = answer.usage?.output ?? 20;
  return {
    id: `resp_${randomUUID()}`,
    object: 'response',
    ...(answer.refuses === 'filter'
      ? { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }
      : { status: 'completed' }),
    model,
    output: responseItems(answer),
    usage: {
      input_tokens: input + cached,
      input_tokens_details: { cached_tokens: cached },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + cached + output,
    },
  };
}

export function responseEvents(model: string, answer: ModelAnswer): string[] {
  const whole = responseObject(model, answer);
  let sequence = 0;
  const event = (data: { type: string } & Record<string, unknown>): string =>
    `event: ${data.type}\ndata: ${JSON.stringify({ ...data, sequence_number: sequence++ })}\n\n`;
  const begun = { ...whole, status: 'in_progress', output: [], usage: null };
  return [
    event({ type: 'response.created', response: begun }),
    ...(whole['output'] as Record<string, unknown>[]).flatMap((item, index) => [
      event({ type: 'response.output_item.added', output_index: index, item: { ...item, status: 'in_progress' } }),
      event({ type: 'response.output_item.done', output_index: index, item }),
    ]),
    event({ type: `response.${whole['status'] as string}`, response: whole }),
  ];
}

interface ChatBody {
  readonly messages: readonly {
    readonly role: string;
    readonly content?: Content;
    readonly tool_call_id?: string;
    readonly tool_calls?: readonly {
      readonly id: string;
      readonly function: { readonly name: string; readonly arguments: string };
    }[];
  }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

export function readChat(body: ChatBody): { system: string; messages: ModelMessage[]; tools: string[] } {
  const isSystem = (role: string): boolean => role === 'system' || role === 'developer';
  return {
    system: body.messages
      .filter(({ role }) => isSystem(role))
      .map(({ content }) => textOf(content))
      .join('\n'),
    tools: (body.tools ?? []).map((tool) => tool.function.name),
    messages: body.messages
      .filter(({ role }) => !isSystem(role))
      .map(({ role, content, tool_call_id: id, tool_calls: calls }) => ({
        role: role === 'assistant' ? 'assistant' : 'user',
        text: role === 'tool' ? '' : textOf(content),
        toolCalls: (calls ?? []).map((call) => ({
          id: call.id,
          name: call.function.name,
          input: parsed(call.function.arguments),
        })),
        toolResults: role === 'tool' ? [{ id: id ?? '', text: textOf(content) }] : [],
      })),
  };
}

const chatUsage = ({ usage }: ModelAnswer): Record<string, unknown> => {
  const [input, cached, output] = [usage?.input ?? 100, usage?.cached ?? 0, usage?.output ?? 20];
  return {
    prompt_tokens: input + cached,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens: output,
    total_tokens: input + cached + output,
  };
};
const chatCalls = (answer: ModelAnswer): Record<string, unknown>[] =>
  (answer.tools ?? []).map(({ name, input }, index) => ({
    index,
    id: `call_${randomUUID()}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }));
const chatEnd = (answer: ModelAnswer): string =>
  answer.refuses ? 'content_filter' : (answer.tools ?? []).length > 0 ? 'tool_calls' : 'stop';

export function chatObject(model: string, answer: ModelAnswer): Record<string, unknown> {
  const message = { role: 'assistant', content: answer.text ?? null, tool_calls: chatCalls(answer) };
  return {
    id: `chatcmpl-${randomUUID()}`,
    object: 'chat.completion',
    model,
    choices: [{ index: 0, message, finish_reason: chatEnd(answer) }],
    usage: chatUsage(answer),
  };
}

export function chatEvents(model: string, answer: ModelAnswer, withUsage: boolean): string[] {
  const base = { id: `chatcmpl-${randomUUID()}`, object: 'chat.completion.chunk', model };
  const chunk = (choice: object | null, more: object = {}): string =>
    `data: ${JSON.stringify({ ...base, choices: choice === null ? [] : [{ index: 0, ...choice }], ...more })}\n\n`;
  const calls = chatCalls(answer);
  return [
    chunk({ delta: { role: 'assistant', content: '' }, finish_reason: null }),
    ...(answer.text === undefined ? [] : [chunk({ delta: { content: answer.text }, finish_reason: null })]),
    ...(calls.length === 0 ? [] : [chunk({ delta: { tool_calls: calls }, finish_reason: null })]),
    chunk({ delta: {}, finish_reason: chatEnd(answer) }),
    ...(withUsage ? [chunk(null, { usage: chatUsage(answer) })] : []),
    'data: [DONE]\n\n',
  ];
}
