/**
 * What workflows may ask of activities: one interface per task queue. Workflows import this as types only; each
 * `createXActivities(deps)` beside it implements one of them. Arguments and results are ids, digests and short texts;
 * logs, trees and specs stay in the store and the hub (a payload over 2 MiB would end the workflow).
 */
import type { Evaluation } from '../spec/evaluation.ts';
import type { CostSummary } from '../spec/cost-report.ts';
import type {
  AgentResult,
  Approval,
  FailureCause,
  GateLevel,
  GateResult,
  GateStepName,
  Line,
  LineEntry,
  MergeOutcome,
  MergeRequest,
  NotifyEvent,
  Planning,
  PlanTask,
  RoleName,
  Policy,
  TaskKind,
  TaskState,
  Waivable,
} from '../spec/model.ts';

// ───────────────────────────── queue swarmline-mainline ─────────────────────────────

export interface Admitted {
  readonly name: string;
  readonly base: string;
  readonly emptyRepository: boolean;
  readonly plan: readonly PlanTask[];
  readonly policy: Policy;
  readonly notifyOn: readonly NotifyEvent[];
  readonly deliverTo: string;
  /** By role name: what provenance trailers and summaries say. */
  readonly engines: Readonly<Record<string, { readonly engine: string; readonly model: string | null }>>;
  /** Tasks of which scope checks know that they run outside the full gate (policy.scaffold). */
  readonly scaffold: readonly string[];
  /** In the order of the spec; absent: nobody reviews. */
  readonly reviewers?: readonly ToldReviewer[];
  /** Green points are measured (policy.evaluate). */
  readonly evaluate?: true;
  /** Absent: nobody plans. */
  readonly planning?: Pick<Planning, 'asks' | 'calls' | 'replan'> & { readonly reconciler?: boolean };
}

/** What workflows need of a reviewer. */
export interface ToldReviewer {
  readonly sees: string;
  readonly engine: string;
}

/** What became of a planner's answer. Texts are in the store; here is what ordering needs. */
export type PlanTaken =
  | { readonly ok: false; readonly why: string }
  | {
      readonly ok: true;
      readonly tasks: readonly PlanTask[];
      /** Earlier tasks that wait for others now. */
      readonly changed: readonly PlanTask[];
      readonly dropped: readonly {
        readonly task: string;
        readonly why: string;
        readonly replacedBy: readonly string[];
      }[];
      readonly scopes: readonly { readonly id: string; readonly dependsOn: readonly string[] }[];
      readonly done: boolean;
      /** What the whole plan is worth, for a person. */
      readonly score: readonly string[];
    };

/** `task`: a task of its own makes the change. */
export type ScopeAnswer = 'grant' | 'refuse' | 'task';

export interface MainlineActivities {
  /** Validates, fetches the base commit into the run's hub, expands fanOut, stores run and tasks. Throws non-retryable `BadSpec` with every problem. */
  admitRun(input: { run: string; raw: unknown }): Promise<Admitted>;
  /** A further task, checked against the stored plan. Throws non-retryable `BadSpec`. */
  admitTask(input: { run: string; raw: unknown }): Promise<PlanTask>;
  /** A new version of a task that is not running, checked like a new one. Throws non-retryable `BadSpec`. */
  amendTask(input: { run: string; task: string; raw: unknown }): Promise<PlanTask>;
  /**
   * Answers an agent's request for files that its task was not given. `refused`: it could not be granted, or no task be made of it, with
   * why; the request is open still. Answered before: the same again.
   */
  answerScope(input: {
    run: string;
    request: string;
    answer: ScopeAnswer;
    note: string;
  }): Promise<{ refused: string } | { refused: null; text: string; task: PlanTask | null }>;
  /** Brings decisions together that decide the same: settles what a reconcile task has mended, and returns further tasks to add. */
  reconcileDecisions(input: { run: string }): Promise<readonly PlanTask[]>;
  /** Judges a planner's answer against the plan as it stands and makes it part of it, or says that it was sent back. */
  takePlan(input: { run: string; node: string; attempt: number }): Promise<PlanTaken>;
  readLine(input: { run: string }): Promise<Line>;
  mergeRequests(input: {
    run: string;
    requests: readonly MergeRequest[];
  }): Promise<{ outcomes: MergeOutcome[]; line: Line }>;
  advanceVerified(input: { run: string; from: string; to: string }): Promise<void>;
  advanceMain(input: { run: string; to: string; wave: number }): Promise<{ n: number }>;
  /** Also ends the attempts of what is taken out: only the culprit's (a request of `drop`; null: nobody is blamed) counts as red. */
  rebuildLine(input: {
    run: string;
    onto: 'main' | 'verified';
    drop: readonly string[];
    culprit: string | null;
    why: string;
  }): Promise<{
    line: Line;
    ejected: LineEntry[];
    conflicts: LineEntry[];
  }>;
  deliverMain(input: { run: string }): Promise<{ commit: string; pushed: string | null; fetch: string | null }>;
  collectGarbage(input: { keepDays: number | null }): Promise<{ runs: number; refs: number; rows: number }>;
}

// ───────────────────────────── queue swarmline-sandbox, any host ─────────────────────────────

export interface RunAgentInput {
  readonly run: string;
  readonly task: string;
  readonly round: number;
  /** Counts over all rounds. */
  readonly attempt: number;
  readonly startFrom: 'verified' | 'next';
}

export interface RunGateInput {
  readonly run: string;
  /** Names the judgement: `<task>/<attempt>`, `mainline`, `wave-<n>`, `baseline`, `probe`. */
  readonly key: string;
  readonly level: GateLevel;
  readonly commit: string;
  /** Where `{changed}` counts from; null: everything is judged. */
  readonly base: string | null;
  readonly task: string | null;
  readonly attempt: number | null;
  /** Ref that the commit is merged with before it is judged. */
  readonly onto: 'verified' | 'next' | null;
  /** Only these steps; [] judges nothing and is green. */
  readonly only?: readonly GateStepName[];
  readonly waive?: readonly Waivable[];
  /** A red step is run once more; green then is recorded as flaky. */
  readonly rerunRed: boolean;
}

export interface RunMergeInput extends Omit<RunAgentInput, 'startFrom'> {
  /** The attempt of the same task whose work did not merge. */
  readonly of: { readonly attempt: number; readonly commit: string; readonly base: string };
}

export interface RunReviewInput {
  readonly run: string;
  readonly task: string;
  readonly attempt: number;
  readonly commit: string;
  /** Commit that the attempt started from. */
  readonly base: string;
  /** Its place in the list of the spec. */
  readonly reviewer: number;
  /** 1, or 2 when its verdict was missing and it is asked again. */
  readonly call: number;
}

/** `missing`: reviewers that gave no verdict that can be read. */
export interface ReviewsDecided {
  readonly decision: 'approved' | 'rejected' | 'undecided';
  readonly missing: readonly number[];
  /** For a person; '' when approved. */
  readonly why: string;
}

export interface AskPlannerInput {
  readonly run: string;
  /** Id of its scope; '' for the first. */
  readonly node: string;
  /** Counts over all calls of this planner. */
  readonly attempt: number;
  /** Why it is called; '' at first. */
  readonly occasion: string;
}

export interface EvaluateInput {
  readonly run: string;
  /** The green point. */
  readonly n: number;
  readonly commit: string;
}

export interface AttemptActivities {
  /** Asks the reconciler which decisions decide the same; what it says is in the work log. Nothing new to look at: nobody is asked. */
  askReconciler(input: { run: string }): Promise<void>;
  /** Measures a green point by the suite that no agent sees; the score is in the store, too. null: there is none. */
  evaluate(input: EvaluateInput): Promise<{ score: number | null }>;
  /** Its answer is in the store, or why there is none. */
  askPlanner(input: AskPlannerInput): Promise<{ ok: true } | { ok: false; cause: FailureCause; why: string }>;
  runAgent(input: RunAgentInput): Promise<AgentResult>;
  runGate(input: RunGateInput): Promise<GateResult>;
  /** An attempt of the merger: the work of another one, made to stand on `next`. */
  runMerge(input: RunMergeInput): Promise<AgentResult>;
  /** Its verdict and findings are in the store; null: it gave none that can be read. */
  runReview(input: RunReviewInput): Promise<{ verdict: 'approve' | 'reject' | null }>;
  /** Plants one fault at a time; `redStep: null` names a file whose fault nothing noticed. */
  proveGate(input: {
    run: string;
    commit: string;
    sample: number;
  }): Promise<{ planted: { path: string; redStep: GateStepName | null }[] }>;
}

// ───────────────────────────── queue swarmline-sandbox@<host> ─────────────────────────────

export interface HostActivities {
  freeze(input: { run: string }): Promise<number>;
  thaw(input: { run: string }): Promise<number>;
  /** Kills the run's (or one task's) containers on this host; returns when they are gone. */
  stop(input: { run: string; task?: string }): Promise<number>;
}

// ───────────────────────────── queue swarmline ─────────────────────────────

export interface TaskChange {
  readonly id: string;
  readonly state: TaskState;
  readonly wave?: number;
  readonly round?: number;
  /** What it waits for, since when (ms since the epoch) and the command that answers; null: for nothing. */
  readonly waiting?: { readonly on: string; readonly why: string; readonly sinceMs: number } | null;
  readonly why?: string;
}

export interface Waiting {
  readonly on: string;
  readonly why: string;
  readonly sinceMs: number;
  readonly command: string;
}

export interface RunReport {
  readonly run: string;
  readonly outcome: 'completed' | 'cancelled' | 'failed';
  readonly tasks: Readonly<Partial<Record<TaskState, number>>>;
  readonly waves: number;
  readonly greenPoints: number;
  readonly main: string | null;
  readonly delivered: string | null;
  /** How to go on, or where to look. */
  readonly next: readonly string[];
  /** Absent: no model was asked. Added from the store when the run ends. */
  readonly cost?: CostSummary;
  /** Absent: nothing was measured (policy.evaluate). Added like `cost`. */
  readonly scores?: readonly Pick<Evaluation, 'n' | 'commit' | 'score'>[];
}

export interface RecordActivities {
  /** @param input.atMs workflow time: what a late repetition of an older call says is left aside */
  recordRun(input: {
    run: string;
    atMs: number;
    phase: string;
    waiting: readonly Waiting[];
    changes: readonly TaskChange[];
    paused: boolean;
  }): Promise<void>;
  /** Returns the report as it is stored, what models cost with it. */
  finishRun(input: { run: string; atMs: number; report: RunReport }): Promise<RunReport>;
  /** Ends attempts in the store whose outcome only the workflow knows (conflict, ejected, passed). */
  endAttempt(input: {
    run: string;
    task: string;
    attempt: number;
    outcome: 'passed' | 'cancelled' | FailureCause;
    why: string;
  }): Promise<void>;
  /**
   * What the reviews of an attempt mean together. A rejection ends it, with the findings as its log. `final`: nobody is asked again, so
   * what is undecided is rejected.
   */
  decideReviews(input: { run: string; task: string; attempt: number; final: boolean }): Promise<ReviewsDecided>;
  /** The agent that asks for more files is told that a person is asked. */
  askPersonForScope(input: { run: string; request: string }): Promise<void>;
  hostsOfRun(input: { run: string }): Promise<string[]>;
  /** Attempts whose agent or gate runs now. */
  attemptsRunning(input: { run: string }): Promise<number>;
  notify(input: { run: string; event: NotifyEvent; key: string; text: string }): Promise<void>;
  /** Writes new limits; returns a sentence about them. Throws non-retryable `Refused` for limits that are lower than what is spent. */
  raiseBudget(input: {
    run: string;
    of: RoleName | 'task' | null;
    usd?: number | null;
    tokens?: number | null;
  }): Promise<{ text: string }>;
  addLogEntry(input: { run: string; kind: string; task: string | null; message: string; key: string }): Promise<void>;
}

// ───────────────────────────── workflows' arguments ─────────────────────────────

export interface TaskStart {
  readonly id: string;
  readonly kind: TaskKind;
  readonly round: number;
  readonly firstAttempt: number;
  /** Ejections so far, over all rounds. */
  readonly ejections: number;
  /** A kept commit that goes through gate and merge again without an agent. */
  readonly resubmit: {
    readonly commit: string;
    readonly base: string;
    readonly attempt: number;
    /** Absent: the worker. */
    readonly by?: 'merger';
  } | null;
  readonly waive: readonly Waivable[];
  /** Judged by its own criteria only: no gate step at task level. */
  readonly scaffold: boolean;
  readonly engine: string;
  readonly model: string | null;
  readonly approvals: readonly Approval[];
  /** Its planner splits it when it has run into its deadline twice. */
  readonly splits?: boolean;
  /** Who reviews its results; absent: nobody. */
  readonly reviewers?: readonly ToldReviewer[];
  /** Who merges what conflicts; absent: nobody, the worker begins anew. */
  readonly merger?: { readonly engine: string; readonly model: string | null };
}
