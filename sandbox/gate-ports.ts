/** What a gate needs from the rest of the sandbox, and what it is asked. */
import type { BaselineRecord } from '../spec/gate/baseline.ts';
import type { LineHits } from '../spec/gate/lcov.ts';
import type { LineRange } from '../spec/gate/coverage.ts';
import type { PlannedStep } from '../spec/gate/plan.ts';
import type { GateStepName, Limits, Service } from '../spec/model.ts';
import type { Scratch } from './scratch.ts';
import type { Mount, Network, Sandbox, StepKey, StepProgress } from './types.ts';

export interface GatePorts {
  readonly sandbox: Pick<Sandbox, 'runStep'>;
  /** A fresh plain checkout of a tree, owned by the sandbox's user. */
  openWorkspace(request: {
    readonly gitDir: string;
    readonly treeish: string;
    readonly diskBytes: number;
    readonly name: string;
  }): Promise<{ readonly dir: string; close(): Promise<void> }>;
  /** Services beside one step; `network` is what the step joins. */
  startServices(request: {
    readonly services: Readonly<Record<string, Service>>;
    readonly key: StepKey;
    readonly limits: Limits;
    readonly signal: AbortSignal;
  }): Promise<{ readonly network: Network; close(): Promise<void> }>;
}

/** What stays the same for all steps of one gate. */
export interface GateJob {
  readonly key: Omit<StepKey, 'step'>;
  /** Goes before the steps' names in container names: two judgements on one host must not meet. */
  readonly prefix: string;
  readonly scratch: Scratch;
  /** The tree that is judged. */
  readonly tree: string;
  readonly image: string;
  /** Of the setup cache. */
  readonly mounts: readonly Mount[];
  readonly env: Readonly<Record<string, string>>;
  readonly services: Readonly<Record<string, Service>>;
  readonly limits: Limits;
  /** Files for `{changed}`. */
  readonly changed: readonly string[];
  /** Changed lines of the files that a coverage report knows. */
  readonly changedLines: (hits: LineHits) => Promise<ReadonlyMap<string, readonly LineRange[]>>;
  /** Failures that do not count; null: all do. */
  readonly baseline: BaselineRecord | null;
  readonly rerunRed: boolean;
  /** false: the steps after a red one run as well. */
  readonly stopAtRed: boolean;
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: GateProgress) => void) | undefined;
}

export interface GateProgress extends StepProgress {
  readonly step: GateStepName;
  /** Counts from 1. */
  readonly nth: number;
  readonly of: number;
}

export type GatePlan = readonly PlannedStep[];
