/** What a script of the model server gets and gives, whatever wire format the agent speaks. */
import type { IncomingHttpHeaders } from 'node:http';

export type WireFormat = 'anthropic' | 'responses' | 'chat';

export interface ModelMessage {
  readonly role: 'user' | 'assistant';
  readonly text: string;
  readonly toolCalls: readonly { readonly id: string; readonly name: string; readonly input: unknown }[];
  readonly toolResults: readonly { readonly id: string; readonly text: string }[];
}

export interface ModelRequest {
  readonly format: WireFormat;
  readonly model: string;
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly string[];
  /** Answers that the conversation holds already. */
  readonly turn: number;
  readonly stream: boolean;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

export interface ModelAnswer {
  readonly text?: string;
  readonly tools?: readonly { readonly name: string; readonly input: unknown }[];
  readonly usage?: { readonly input?: number; readonly cached?: number; readonly output?: number };
  /** It declines; `filter`: its maker's filter ends the answer. (Messages and Chat know one way only.) */
  readonly refuses?: boolean | 'filter';
  readonly delayMs?: number;
  /** Between events of a stream. */
  readonly eventDelayMs?: number;
  readonly fail?: { readonly status: number; readonly retryAfter?: number; readonly body?: unknown };
  /** The connection is cut when so many events of a stream have gone out; 0: after the headers. An answer in one piece ends in the middle. */
  readonly cutAfterEvents?: number;
}

export type ModelScript = (request: ModelRequest) => ModelAnswer | Promise<ModelAnswer>;
