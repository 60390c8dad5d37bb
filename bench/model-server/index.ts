/**
 * A model's API, played by a script: the wire formats, streams and errors are real, only the answers are made up. For tests and
 * examples that run real agent programs.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { anthropicEvents, anthropicMessage, readAnthropic } from './anthropic.ts';
import { chatEvents, chatObject, readChat, readResponses, responseEvents, responseObject } from './openai.ts';
import type { ModelAnswer, ModelRequest, ModelScript, WireFormat } from './types.ts';

export type { ModelAnswer, ModelMessage, ModelRequest, ModelScript } from './types.ts';

export interface ModelServer {
  readonly url: string;
  /** In the order in which they came. */
  readonly requests: readonly ModelRequest[];
  /** Calls being answered now, and the most there were at once. */
  readonly load: { readonly now: number; readonly most: number };
  /** Another script from now on. */
  play(script: ModelScript): void;
  close(): Promise<void>;
}

const FORMATS: Readonly<Record<string, WireFormat>> = {
  '/v1/messages': 'anthropic',
  '/v1/responses': 'responses',
  '/v1/chat/completions': 'chat',
};

/** @param port 0: a free one */
export async function startModelServer(first: ModelScript, port = 0): Promise<ModelServer> {
  let script = first;
  const requests: ModelRequest[] = [];
  const load = { now: 0, most: 0 };
  const server = createServer((incoming, response) => {
    load.now += 1;
    load.most = Math.max(load.most, load.now);
    response.on('close', () => (load.now -= 1));
    void (async () => {
      const request = await read(incoming);
      if (request === null) return response.writeHead(404).end('{}');
      requests.push(request);
      return reply(request, await script(request), response);
    })().catch((error: unknown) => response.writeHead(500).end(JSON.stringify({ error: { message: String(error) } })));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    load,
    play: (next) => void (script = next),
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function read(incoming: IncomingMessage): Promise<ModelRequest | null> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  const format = FORMATS[(incoming.url ?? '').split('?')[0]!];
  if (format === undefined || incoming.method !== 'POST') return null;
  const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as never;
  const said = format === 'anthropic' ? readAnthropic(body) : format === 'chat' ? readChat(body) : readResponses(body);
  return {
    format,
    model: (body as { model: string }).model,
    stream: (body as { stream?: boolean }).stream === true,
    turn: said.messages.filter(({ role }) => role === 'assistant').length,
    headers: incoming.headers,
    body,
    ...said,
  };
}

async function reply(request: ModelRequest, answer: ModelAnswer, response: ServerResponse): Promise<void> {
  if (answer.delayMs !== undefined) await delay(answer.delayMs);
  const { fail } = answer;
  if (fail !== undefined) {
    const headers = fail.retryAfter === undefined ? {} : { 'retry-after': String(fail.retryAfter) };
    const message = { type: 'error', error: { type: 'api_error', message: `scripted ${fail.status}` } };
    response.writeHead(fail.status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(fail.body ?? message));
    return;
  }
  const { cutAfterEvents: cut } = answer;
  if (!request.stream) {
    const text = JSON.stringify(whole(request, answer));
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
    if (cut === undefined) return void response.end(text);
    await sent(response, text.slice(0, text.length / 2));
    return void response.destroy();
  }
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' }).flushHeaders();
  for (const [index, event] of events(request, answer).entries()) {
    if (cut === index) {
      await sent(response, '');
      return void response.destroy();
    }
    await sent(response, event);
    if (answer.eventDelayMs !== undefined) await delay(answer.eventDelayMs);
  }
  response.end();
}

/** Written, and all that was written before it, to the connection: a cut that comes sooner would take it along. */
async function sent(response: ServerResponse, text: string): Promise<void> {
  if (text !== '') response.write(text);
  const { socket } = response;
  if (socket === null || socket.destroyed) return;
  await new Promise<void>((done) => {
    socket.once('close', done);
    socket.write('', () => {
      socket.off('close', done);
      done();
    });
  });
}

function whole({ format, model }: ModelRequest, answer: ModelAnswer): unknown {
  if (format === 'anthropic') return anthropicMessage(model, answer);
  return format === 'chat' ? chatObject(model, answer) : responseObject(model, answer);
}

function events({ format, model, body }: ModelRequest, answer: ModelAnswer): string[] {
  if (format === 'anthropic') return anthropicEvents(model, answer);
  if (format === 'responses') return responseEvents(model, answer);
  const options = (body as { stream_options?: { include_usage?: boolean } }).stream_options;
  return chatEvents(model, answer, options?.include_usage === true);
}
