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
  readonly refuses?: boolean;
  readonly delayMs?: number;
  /** Between events of a stream. */
  readonly eventDelayMs?: number;
  readonly fail?: { readonly status: number; readonly retryAfter?: number; readonly body?: unknown };
  /** The connection is cut after so many events of a stream. */
  readonly cutAfterEvents?: number;
}

export type ModelScript = (request: ModelRequest) => ModelAnswer | Promise<ModelAnswer>;
