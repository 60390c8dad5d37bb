/** What the gateway knows of an attempt, of an upstream and of a call; and the ports through which it keeps count. */

/** Wire formats that agents speak, and the upstream that each goes to. */
export const PROTOCOLS = ['anthropic', 'responses', 'chat'] as const;
export type Protocol = (typeof PROTOCOLS)[number];
export const UPSTREAMS = ['anthropic', 'openai'] as const;
export type UpstreamName = (typeof UPSTREAMS)[number];

/** Whoever a socket belongs to. Nothing that comes through the socket can change it. */
export interface Caller {
  readonly run: string;
  readonly task: string;
  readonly attempt: number;
  readonly role: string;
  /** Tells several of one role and attempt apart (reviewers, say); absent: there is one. */
  readonly seat?: string;
  /** The only model that it may ask for; null: any that has a price. */
  readonly model: string | null;
}

export interface Upstream {
  /** Base URL; for `openai` with its version (`…/v1`). */
  readonly url: string;
  /** The real key. null: the upstream needs none (a model server of one's own). */
  key(): Promise<string | null>;
  /** Per key, over all hosts, in any 60 s. null: no limit of ours. */
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
}

/** As the provider counts. `inputTokens` are those that were neither read from nor written to its cache. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
}

export const NO_USAGE: TokenUsage = { inputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 0 };

/** A call before it is sent: what it may cost at most, as far as that can be known. */
export interface WantedCall {
  readonly id: string;
  readonly caller: Caller;
  readonly upstream: UpstreamName;
  readonly model: string;
  readonly limits: Pick<Upstream, 'requestsPerMinute' | 'tokensPerMinute'>;
  readonly estimate: TokenUsage;
}

/** `denied` is the only one that does not wait: the task's own budget is spent. */
export type Refusal = 'places' | 'rate' | 'budget' | 'denied';

export type Reserved =
  | { readonly ok: true }
  /** `retryMs`: when it is worth asking again, unless something is heard before. `why`: for the person who waits. */
  | { readonly ok: false; readonly refusal: Refusal; readonly why: string; readonly retryMs: number };

export type CallEnd = 'done' | 'failed' | 'aborted';

export interface CallResult {
  readonly end: CallEnd;
  /** HTTP status of the upstream's last answer; null: none. */
  readonly status: number | null;
  readonly usage: TokenUsage;
  /** The provider never said (the stream was cut, or nobody listened any more): the input is our estimate. */
  readonly estimated: boolean;
  readonly waitedMs: number;
  readonly retries: number;
}

/** Counts that survive the gateway and hold over all hosts. */
export interface Ledger {
  /** Reserves a place, a share of the rate and the call's cost; all or nothing. Asked again with the same id after a refusal. */
  reserve(call: WantedCall): Promise<Reserved>;
  settle(call: WantedCall, result: CallResult): Promise<void>;
}

export interface GatewayLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}
