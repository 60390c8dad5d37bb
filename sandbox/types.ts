/** What the sandbox is asked and what it answers. */
import type Docker from 'dockerode';
import type { Limits, StepEnd } from '../spec/model.ts';
import type { RunContext } from './run-step.ts';

export interface StepKey {
  readonly run: string;
  readonly task: string | null;
  readonly attempt: number;
  readonly kind: 'agent' | 'gate' | 'verify' | 'proof' | 'setup';
  readonly step: string;
}

export interface Mount {
  /** Absolute path on the host; must exist, and must not lie below a directory that an agent could write. */
  readonly source: string;
  /** Absolute path in the container, not beneath /workspace. */
  readonly target: string;
  readonly readOnly: boolean;
}

export type Network = 'none' | 'bridge' | { readonly container: string };

export interface StepRequest {
  /** Names the container: a leftover of the same key is removed first. */
  readonly key: StepKey;
  /** Name or id. */
  readonly image: string;
  /** The container's main process, as it is: no shell, and the image's entrypoint does not apply. */
  readonly argv: readonly string[];
  /** All that the command sees beside HOME, LANG, CI and the image's own. Never pass process.env. */
  readonly env: Readonly<Record<string, string>>;
  /** Mounted at /workspace, which is also the working directory. null: nothing is mounted and the working directory is /tmp. */
  readonly workspace: { readonly dir: string; readonly readOnly: boolean } | null;
  readonly mounts: readonly Mount[];
  /** Path in the container that is fed as standard input; null: empty input. */
  readonly stdinFile: string | null;
  readonly limits: Limits;
  /** From the start of the container, frozen time not counted. */
  readonly deadlineMs: number;
  readonly network: Network;
  /** Standard output and error, capped at limits.outputBytes. Created with its directory. */
  readonly outputFile: string;
}

/**
 * How a step ended.
 *
 * exited: by itself, with exitCode. oom: the main process was killed for memory. timeout: the deadline passed. killed: abort or stop.
 * disk-full: the workspace was full (exitCode when it ended by itself, null when we stopped it). start-failed: the engine could not
 * start the container, twice (a command that is not there is an exit with 127, one that is not executable with 126). A lost engine is no outcome: runStep throws InfrastructureFault.
 */
export interface StepOutcome {
  readonly end: StepEnd;
  readonly exitCode: number | null;
  /** Time that the container ran, frozen time not counted. */
  readonly durationMs: number;
  /** Bytes that the step wrote, also those that were cut. */
  readonly outputBytes: number;
  readonly truncated: boolean;
  /** A child was killed for memory though the main process ended otherwise. */
  readonly childOom: boolean;
  /** One sentence for a person where the end alone does not say it. */
  readonly detail: string | null;
}

export interface StepProgress {
  readonly elapsedMs: number;
  readonly outputBytes: number;
  readonly frozen: boolean;
}

export interface StepOptions {
  readonly signal?: AbortSignal | undefined;
  /** About once a second while the step waits or runs, whether or not it writes: made for heartbeats. */
  readonly onProgress?: ((progress: StepProgress) => void) | undefined;
}

export type Admission = { readonly ok: true } | { readonly ok: false; readonly why: string };

/** pino's shape; messages are static, data in fields. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface SandboxOptions {
  readonly docker: Docker;
  /** Keeps the containers of two installations on one engine apart. */
  readonly instance: string;
  readonly hostId: string;
  readonly stateDir: string;
  /** PEM file of the host, mounted into setup containers; null: none. */
  readonly caBundle: string | null;
  /** Steps that may run at once; further ones wait. */
  readonly slots: number;
  readonly log: Log;
}

export interface Sandbox {
  readonly docker: Docker;
  /** For this room (setup, services). */
  readonly context: RunContext;
  readonly stateDir: string;
  readonly caBundle: string | null;
  readonly log: Log;
  readonly slots: { readonly total: number; readonly taken: number; readonly waiting: number };
  /** Throws InfrastructureFault (retry) or SandboxSetupError (a person must act). After an abort the container is gone when it settles ('killed'). */
  runStep(request: StepRequest, options?: StepOptions): Promise<StepOutcome>;
  /** Pauses the run's containers on this host, whichever process owns them; deadlines stop; steps that would start wait. Lasts until thaw or stop(run), also over a restart. */
  freeze(run: string): Promise<number>;
  thaw(run: string): Promise<number>;
  /** Kills the containers of a run (and task) and steps that wait to start; returns their number when they are gone. Not sticky: a later runStep starts. */
  stop(run: string, task?: string): Promise<number>;
  /** Removes containers and directories whose owner is provably gone. Call at start and every minute or so. */
  reap(): Promise<number>;
  /** Whether another step fits now: slots, free memory for limits.memoryBytes, free disk. */
  admission(limits?: Pick<Limits, 'memoryBytes' | 'diskBytes'>): Promise<Admission>;
}
