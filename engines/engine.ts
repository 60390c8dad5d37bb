/**
 * What an engine is: the program that edits files, seen as "which command line, which files, and what did its output mean".
 *
 * 1. An engine does no I/O. It runs nothing and reads nothing; the sandbox does.
 * 2. Nothing that an engine puts into a container is secret.
 * 3. No engine but `scripted` learns which attempt it is: what it knows of earlier attempts is the last failure.
 */
import type { FailureCause, Role, StepEnd, TaskSpec } from '../spec/model.ts';

/** Where the files of an EngineCommand appear in the container, read-only. */
export const ENGINE_DIR = '/run/swarmline';

export interface LastFailure {
  readonly cause: FailureCause;
  /** One paragraph. */
  readonly why: string;
  /** The end of the log of what failed. */
  readonly log: string;
}

export interface EngineInput {
  readonly task: TaskSpec;
  readonly role: Role;
  /** null at the first attempt. */
  readonly lastFailure: LastFailure | null;
  /** What an agent is told; for engines that talk to a model. */
  readonly prompt?: string;
  /** Counts from 1. For `scripted` alone. */
  readonly attemptIndex?: number;
}

export interface EngineCommand {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Name → content, mounted read-only below ENGINE_DIR. */
  readonly files: Readonly<Record<string, string>>;
  /** Path in the container that is fed as standard input. */
  readonly stdinFile: string | null;
  /** true: the attempt's gateway socket is mounted (forwarder.ts makes it an address). */
  readonly gateway?: boolean;
}

/** What a transcript says that an agent did, in order. */
export type TranscriptStep =
  | { readonly kind: 'tool'; readonly name: string; readonly path: string | null }
  | { readonly kind: 'message'; readonly text: string };

export interface EngineRun {
  readonly end: StepEnd;
  readonly exitCode: number | null;
  /** What it printed, capped by `limits.output`. */
  readonly output: string;
}

export interface EngineOutcome {
  readonly ok: boolean;
  readonly cause: FailureCause | null;
  /** One paragraph for a person; '' when ok. */
  readonly why: string;
  readonly lastMessage: string;
  /** Files that its transcript says it opened or wrote, relative to the workspace; empty where there is no transcript. */
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** Absent where there is no transcript. Bounded: the first and the last of very many. */
  readonly steps?: readonly TranscriptStep[];
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number } | null;
}

export interface Engine {
  readonly name: string;
  /** It talks to a model: it is given a prompt. */
  readonly needsPrompt?: boolean;
  /** It takes no longer prompt, in bytes. */
  readonly promptBytes?: number;
  /** @throws EngineInputError when the Task Spec lacks what this engine needs. */
  command(input: EngineInput): EngineCommand;
  /** Only for ends that say something about the engine: never `killed` or `engine-lost`. */
  outcome(run: EngineRun): EngineOutcome;
}

/** A user's mistake: trying again cannot help. */
export class EngineInputError extends Error {
  override readonly name = 'EngineInputError';
}

/** A user's mistake: the role names an engine that does not exist. */
export class UnknownEngine extends Error {
  override readonly name = 'UnknownEngine';
  readonly engine: string;
  readonly known: readonly string[];
  constructor(engine: string, known: readonly string[]) {
    super(`There is no engine "${engine}". Known engines: ${known.join(', ')}.`);
    this.engine = engine;
    this.known = known;
  }
}
