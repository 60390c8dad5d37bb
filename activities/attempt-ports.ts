/**
 * What the activities of a sandbox host need: interfaces, so that they run in tests without Postgres, hub server or Docker.
 * `workers/` puts the real ones in; ports over the store are in attempt-store.ts.
 */
import type { LastFailure } from '../engines/index.ts';
import type { GatewayClient } from '../gateway/index.ts';
import type { GatePorts } from '../sandbox/gate-ports.ts';
import type { Mount, Sandbox } from '../sandbox/types.ts';
import type { Evaluation } from '../spec/evaluation.ts';
import type { BaselineRecord } from '../spec/gate/baseline.ts';
import type {
  AgentResult,
  AttemptKey,
  CompiledSpec,
  FailureCause,
  GateLevel,
  GateResult,
  Limits,
  Problem,
  Setup,
  TaskSpec,
} from '../spec/model.ts';
import type { Decision, PlanState } from '../spec/plan/index.ts';
import type { NewReview, OpenFinding } from '../store/index.ts';

export interface ArtifactName {
  readonly run: string;
  /** null (and attempt 0): of the run itself. */
  readonly task: string | null;
  readonly attempt: number;
  readonly name: string;
}

/** The part of the store that attempts and gates use. Every write may be repeated. */
export interface AttemptStore {
  spec(run: string): Promise<CompiledSpec>;
  /** Newest version. Throws when the run has no such task. */
  task(run: string, task: string): Promise<TaskSpec>;
  /** Every task of the run, added ones included. */
  tasks(run: string): Promise<TaskSpec[]>;
  agentResult(key: AttemptKey): Promise<AgentResult | null>;
  startAttempt(key: AttemptKey, start: { round: number; host: string; base: string }): Promise<void>;
  /** The first result told stays; returns what stands. */
  recordAgent(key: AttemptKey, result: AgentResult, ms: number): Promise<AgentResult>;
  markAttempt(
    key: AttemptKey,
    change: {
      phase: 'agent' | 'gate' | 'merge';
      agentMs?: number;
      gateMs?: number;
      agentStartedAtMs?: number;
      queuedMs?: number;
    },
  ): Promise<void>;
  endAttempt(
    key: AttemptKey,
    end: { outcome: 'passed' | 'cancelled' | FailureCause; why: string; failureArtifact: string | null },
  ): Promise<void>;
  /** @param mergerOf null: of the worker; else of a merger of that attempt's work */
  lastFailure(run: string, task: string, mergerOf?: number | null): Promise<LastFailure | null>;
  saveMergerAttempt(
    key: AttemptKey,
    about: { ofAttempt: number; paths: readonly string[]; merges: readonly string[] },
  ): Promise<void>;
  /** Unread ones; they count as delivered then. */
  takeNotices(run: string, task: string): Promise<{ commit: string; byTask: string; files: readonly string[] }[]>;
  /** All of them, superseded ones too. */
  decisions(run: string): Promise<readonly Decision[]>;
  /** An entry of the work log; told twice under its key, the first stays. */
  note(
    run: string,
    entry: { key: string; kind: string; task?: string | null; message: string; data?: unknown },
  ): Promise<void>;
  /** The plan as it stands. */
  plan(run: string): Promise<PlanState>;
  /** What a planner answered under that number, and what was wrong with it; null: nothing. */
  planAnswer(
    run: string,
    node: string,
    attempt: number,
  ): Promise<{ occasion: string; answer: string | null; problems: readonly Problem[] | null } | null>;
  /** The first told under its number stays. */
  savePlanAnswer(
    run: string,
    said: { node: string; attempt: number; occasion: string; answer: string | null },
  ): Promise<void>;
  /** The newest entries of these kinds, by whomever; oldest first. */
  workLog(
    run: string,
    which: { kinds: readonly string[]; limit: number },
  ): Promise<readonly { key: string; kind: string; task: string | null; message: string }[]>;
  saveArtifact(name: ArtifactName, content: Buffer | string): Promise<void>;
  artifact(name: ArtifactName): Promise<string | null>;
  /** Of one attempt. */
  reviews(key: AttemptKey): Promise<readonly NewReview[]>;
  /** A verdict that stands is not changed. */
  saveReview(key: AttemptKey, review: NewReview): Promise<void>;
  /** Of earlier attempts of the task. */
  openFindings(key: AttemptKey): Promise<readonly OpenFinding[]>;
  markFollowed(run: string, task: string, followed: readonly OpenFinding[]): Promise<void>;
  gateResult(run: string, key: string, level: GateLevel, commit: string): Promise<GateResult | null>;
  saveGateResult(
    ref: { run: string; key: string; level: GateLevel; commit: string; tree: string | null },
    result: GateResult,
    extras: { waived: readonly string[]; artifacts: Readonly<Record<string, string>> },
  ): Promise<void>;
  /** By green point. */
  evaluations(run: string): Promise<readonly Evaluation[]>;
  /** The first told of a green point stays. */
  saveEvaluation(run: string, evaluation: Evaluation): Promise<void>;
  /** null: nothing was recorded, every failure counts. */
  baseline(run: string): Promise<BaselineRecord | null>;
  saveBaseline(run: string, record: BaselineRecord): Promise<void>;
  /** What the name of the image meant when the run first used it; the first told stays. */
  noteImage(run: string, digest: string): Promise<void>;
}

/** The part of the hub's client that attempts and gates use. */
export interface AttemptHub {
  /** Git directory that contains these commits. */
  ensure(run: string, commits: string[], signal?: AbortSignal): Promise<string>;
  /** Where a ref of the line stands now. */
  resolve(run: string, ref: 'main' | 'verified' | 'next', signal?: AbortSignal): Promise<string>;
  /** Commit of an attempt that is already in the hub. */
  find(key: AttemptKey): Promise<string | null>;
  submit(
    key: AttemptKey,
    pack: { gitDir: string; objectDir: string; commit: string; base: string },
    signal?: AbortSignal,
  ): Promise<void>;
}

/** What a setup gives to every later container. */
export interface SetUp {
  readonly mounts: readonly Mount[];
  readonly env: Readonly<Record<string, string>>;
}

/** pino's shape. */
export interface ActivityLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface AttemptDeps extends GatePorts {
  readonly hostId: string;
  readonly stateDir: string;
  readonly store: AttemptStore;
  readonly hub: AttemptHub;
  readonly sandbox: Sandbox;
  /** Stores what a directory holds as a tree. `refused`: name of the rule that it breaks. */
  collectTree(request: {
    readonly dir: string;
    readonly gitDir: string;
    readonly objectDir: string;
    readonly baseTree: string;
    readonly limits: { readonly diskBytes: number };
    /** Paths that are not recorded: what the setup provides. */
    readonly leaveOut: readonly string[];
    readonly signal: AbortSignal;
  }): Promise<
    { readonly tree: string } | { readonly refused: string; readonly path: string; readonly message: string }
  >;
  /** Throws SetupFailed, which names the file that holds its output. */
  ensureSetup(request: {
    readonly gitDir: string;
    /** Commit or tree whose manifests and lockfiles count. */
    readonly commit: string;
    readonly setup: Setup;
    readonly image: string;
    readonly limits: Limits;
    readonly signal: AbortSignal;
    readonly outputFile: string;
  }): Promise<SetUp>;
  readonly gateway: GatewayClient;
  /** Digest or id of an image. */
  resolveImage(image: string): Promise<string>;
  readonly now: () => number;
  readonly log: ActivityLog;
}
