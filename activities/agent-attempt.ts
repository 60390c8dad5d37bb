/** What the parts of an agent run know of their attempt. */
import type { Engine, LastFailure } from '../engines/index.ts';
import type { Scratch } from '../sandbox/scratch.ts';
import type { AttemptKey, CompiledSpec, FailureCause, Role, TaskSpec } from '../spec/model.ts';

/** Names of artifacts. */
export const AGENT_LOG = 'agent.log';
export const PROMPT = 'prompt.md';
export const SCOPE_LOG = 'scope.log';
/** What it did, step by step, where its engine leaves a transcript. */
export const STEPS = 'steps.json';

/** Characters of a reason; a result is a payload. */
export const WHY_CHARS = 4000;

export interface Attempt {
  readonly key: AttemptKey;
  readonly spec: CompiledSpec;
  readonly task: TaskSpec;
  readonly role: Role;
  readonly engine: Engine;
  /** Commit that it starts from. */
  readonly base: string;
  readonly scratch: Scratch;
  /** Of a merger's attempt. */
  readonly merge?: MergerWork;
}

/** What a merger starts from beside its base, and what its commit says. */
export interface MergerWork {
  /** The base with everything of the arriving work that merges by itself; conflicting files as they landed. */
  readonly tree: string;
  /** None: everything merges by now, and no agent is needed. */
  readonly paths: readonly string[];
  /** Requests on the line that it is merged with. */
  readonly merges: readonly string[];
  /** Which attempt's work it merges. */
  readonly ofAttempt: number;
  /** Why no merger could; null. */
  readonly refused: string | null;
  prompt(lastFailure: LastFailure | null): string;
}

export interface Red {
  readonly cause: FailureCause;
  readonly why: string;
  /** Every violation, for the artifact SCOPE_LOG. */
  readonly violations?: string;
}

export type Done = { readonly commit: string; readonly base: string; readonly changed: number } | Red;

/** The agent's container, from its own clock. */
export interface AgentTimes {
  readonly startedAtMs: number;
  readonly ms: number;
}
