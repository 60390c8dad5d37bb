/**
 * The vocabulary: every noun that more than one room uses, as a type. Pure data, JSON-safe, no behaviour.
 *
 * Raw specs are strings with units; a CompiledSpec has no optional field, durations in `…Ms`, sizes in `…Bytes`.
 */

import type { Evaluate } from './evaluation.ts';
import type { PlanBounds } from './plan/context.ts';
import type { ScoreLimits } from './plan/score-limits.ts';
import type { ReviewPolicy, ReviewView } from './review.ts';

// ───────────────────────────── the spec ─────────────────────────────

export const TASK_KINDS = [
  'work',
  'interface-change',
  'dependency-update',
  'fix',
  'merge',
  'split',
  'reconcile',
  'review',
] as const;
export type TaskKind = (typeof TASK_KINDS)[number];

export const REQUIRED_STEPS = ['lint', 'typecheck', 'test', 'build'] as const;
export const GATE_STEPS = [...REQUIRED_STEPS, 'integration', 'coverage'] as const;
export type ConfiguredStepName = (typeof GATE_STEPS)[number];
/**
 * Every step that can be red, and that a person may waive, in the order in which they run. Those that no spec configures are ours:
 * references to decisions, the field guide, faults planted on changed lines.
 */
export const JUDGED_STEPS = ['decisions', 'guide', ...GATE_STEPS, 'mutation'] as const;
export type GateStepName = (typeof JUDGED_STEPS)[number];
/** What a person may land a blocked task without. */
export const WAIVABLE = [...JUDGED_STEPS, 'review'] as const;
export type Waivable = (typeof WAIVABLE)[number];
export const GATE_LEVELS = ['task', 'mainline', 'wave'] as const;
export type GateLevel = (typeof GATE_LEVELS)[number];

/** One gate step: a shell command by level (run as `sh -c` in the sandbox), already inherited downwards. null: not run at this level. */
export interface GateStep {
  readonly name: ConfiguredStepName;
  /** true: the spec says "skip" in so many words. */
  readonly skip: boolean;
  readonly commands: Readonly<Record<GateLevel, string | null>>;
  /** JUnit XML or TAP file that the step writes, relative to the workspace; null where there is none. */
  readonly report: string | null;
}

export interface CoverageRule {
  /** lcov file in the workspace after the coverage (or test) step. */
  readonly report: string;
  /** Least share of changed lines that must be covered, per cent. */
  readonly changedLines: number;
}

export interface Limits {
  /** CPUs, fractional allowed. */
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly pids: number;
  readonly diskBytes: number;
  /** Output kept per step; the middle of what is beyond it is cut, with a marker. */
  readonly outputBytes: number;
  readonly agentMs: number;
  readonly stepMs: number;
}

export interface Setup {
  readonly run: string;
  /** Manifests and lockfiles: the only files that the setup container sees, and with the image the cache key. */
  readonly files: readonly string[];
  /** Path that the command makes and that is mounted read-only at /<provides> in every later container, e.g. node_modules. */
  readonly provides: string;
  readonly network: boolean;
  /** false: npm/pip run without install scripts (npm_config_ignore_scripts=true). */
  readonly installScripts: boolean;
}

export interface Service {
  readonly image: string;
  readonly env: Readonly<Record<string, string>>;
  /** Shell command run inside the service's container until it exits 0. */
  readonly ready: string | null;
}

export const ROLE_NAMES = ['planner', 'worker', 'reviewer', 'merger', 'splitter', 'reconciler'] as const;
export type RoleName = (typeof ROLE_NAMES)[number];
export interface Role {
  readonly engine: string;
  readonly model: string | null;
}
/** Each sees one view, so that they err differently. */
export interface Reviewer extends Role {
  readonly sees: ReviewView;
}

/** A CLI of the user's that edits files, as a spec describes it. */
export interface EngineRecipe {
  /** In it and in `env` stand placeholders (fields-engines.ts). */
  readonly command: readonly string[];
  readonly prompt: 'stdin' | 'file' | 'argument';
  readonly env: Readonly<Record<string, string>>;
  /** It asks models. */
  readonly gateway: boolean;
}

export const APPROVALS = ['plan', 'merge', 'wave', 'delivery'] as const;
export type Approval = (typeof APPROVALS)[number];
export const NOTIFY_EVENTS = ['blocked', 'red', 'green', 'budget', 'done'] as const;
export type NotifyEvent = (typeof NOTIFY_EVENTS)[number];

/** Whether faults on lines that a task changed must turn its tests red. */
export const MUTATION_CHECKS = ['off', 'warn', 'require'] as const;
export interface MutationPolicy {
  readonly check: (typeof MUTATION_CHECKS)[number];
  readonly timeMs: number;
  readonly faults: number;
}

/** Why a planner is called again. */
export const REPLAN_OCCASIONS = ['wave', 'blocked', 'timeout', 'scope'] as const;
export type ReplanOccasion = (typeof REPLAN_OCCASIONS)[number];
/** What becomes of an agent's request for files that its task was not given. */
export const SCOPE_POLICIES = ['ask', 'grant', 'refuse', 'task'] as const;
export type ScopePolicy = (typeof SCOPE_POLICIES)[number];

/** How planners plan. */
export interface Planning {
  readonly bounds: PlanBounds;
  /** Answers to one call, until it has failed. */
  readonly asks: number;
  /** Calls of one planner over the run. */
  readonly calls: number;
  readonly replan: readonly ReplanOccasion[];
  /** Below or above which a plan is sent back. */
  readonly refuse: ScoreLimits;
}

export interface Policy {
  readonly schedule: 'waves' | 'frontier';
  /** Attempts of a task before it is blocked. */
  readonly attempts: number;
  /** Ejections from the mainline, per task and per integration point, before giving up. */
  readonly fixAttempts: number;
  /** Attempts (agent or gate) running at once. */
  readonly inFlight: number;
  readonly overlap: 'refuse' | 'serialise';
  readonly approve: readonly Approval[];
  readonly baseline: 'refuse' | 'record';
  /** Tasks judged by their own criteria before the full gate starts (empty repositories). */
  readonly scaffold: readonly string[];
  /** Task ids that may break an interface on purpose. */
  readonly breaks: readonly string[];
  readonly gateProof: 'warn' | 'require' | 'off';
  readonly verify: 'each' | 'batch' | 'wave';
  readonly scope: ScopePolicy;
  readonly reviews: ReviewPolicy;
  readonly mutation: MutationPolicy;
  readonly keepDays: number;
}

/** What may be spent; null: no limit. */
export interface SpendLimit {
  /** US dollars. */
  readonly usd: number | null;
  readonly tokens: number | null;
}
export interface Budget extends SpendLimit {
  /** Model calls at once, over all hosts. */
  readonly modelCalls: number;
  readonly roles: Readonly<Partial<Record<RoleName, SpendLimit>>>;
  /** Of each task. */
  readonly task: SpendLimit;
}

export interface CompiledSpec {
  readonly name: string;
  readonly goal: string;
  readonly repository: {
    /** null: start from nothing (`empty: true`). */
    readonly url: string | null;
    readonly branch: string;
    readonly credentials: string | null;
    readonly contracts: readonly string[];
    readonly manifests: readonly string[];
    readonly protected: readonly string[];
    readonly union: readonly string[];
    /** A task that makes a larger file is refused. */
    readonly maxFileBytes: number;
    /** Folder of the field guide (prompt/field-guide.ts). */
    readonly fieldGuide: string;
  };
  readonly gate: { readonly steps: readonly GateStep[]; readonly coverage: CoverageRule | null };
  readonly sandbox: {
    readonly image: string;
    readonly setup: Setup | null;
    readonly services: Readonly<Record<string, Service>>;
    readonly limits: Limits;
  };
  readonly roles: Readonly<Partial<Record<RoleName, Role>>> & { readonly worker: Role };
  /** In the order of the spec; `roles.reviewer` is the first of them. */
  readonly reviewers: readonly Reviewer[];
  /** Engines of this spec's own, by name. */
  readonly engines: Readonly<Record<string, EngineRecipe>>;
  readonly planning: Planning;
  readonly policy: Policy;
  /** `policy.evaluate`; not in the policy, which workflows carry about. null: nothing is measured. */
  readonly evaluate: Evaluate | null;
  readonly budget: Budget;
  readonly notify: {
    readonly on: readonly NotifyEvent[];
    readonly run: readonly string[] | null;
    readonly webhook: string | null;
  };
  /** How `main` leaves the hub. */
  readonly deliver: { readonly branch: string } | { readonly fastForward: string };
  /** Explicit tasks and expanded fanOut tasks, in the order of the spec. */
  readonly tasks: readonly TaskSpec[];
}

/** One recorded edit of the scripted engine. `content: null` deletes. */
export interface ScriptedEdit {
  readonly path: string;
  readonly content: string | null;
}
export interface ScriptedAttempt {
  readonly edits: readonly ScriptedEdit[];
  /** Milliseconds that the "agent" works before it writes. */
  readonly waitMs: number;
  readonly exitCode: number;
}

export interface TaskSpec {
  readonly id: string;
  readonly kind: TaskKind;
  readonly goal: string;
  readonly interface: string;
  readonly files: {
    readonly allow: readonly string[];
    readonly forbid: readonly string[];
    readonly reference: readonly string[];
  };
  readonly acceptance: readonly string[];
  /** Preset acceptance tests: path in the repository → file content (resolved at submission). */
  readonly tests: Readonly<Record<string, string>>;
  readonly dependsOn: readonly string[];
  readonly priority: number;
  readonly role: RoleName;
  /** argv for the command engine; null for engines that need none. */
  readonly run: readonly string[] | null;
  /** For the scripted engine: attempt n replays script[min(n, last)]. */
  readonly script: readonly ScriptedAttempt[] | null;
  /** true: an attempt that changes nothing is a success. */
  readonly mayBeEmpty: boolean;
}

/** What a workflow knows of a task: no text, only what ordering and policy need. */
export interface PlanTask {
  readonly id: string;
  readonly kind: TaskKind;
  readonly dependsOn: readonly string[];
  readonly priority: number;
  /** Place in the spec: the age that breaks ties. */
  readonly index: number;
  /** Planned as scaffold: judged by its own criteria only. (policy.scaffold names those of the spec.) */
  readonly scaffold?: boolean;
}

/** One defect of an input. `path` is the JSON path of the field (`tasks[3].files.allow[0]`), '' for the whole. */
export interface Problem {
  readonly path: string;
  readonly message: string;
  /** Line in a Markdown or YAML source, where known. */
  readonly line?: number;
}

// ───────────────────────────── attempts and the gate ─────────────────────────────

/** How a container ended; told apart by the sandbox, never guessed from the exit code alone. */
export const STEP_ENDS = ['exited', 'oom', 'timeout', 'killed', 'engine-lost', 'disk-full', 'start-failed'] as const;
export type StepEnd = (typeof STEP_ENDS)[number];

/** Why an attempt did not give a tree that passed. */
export const FAILURE_CAUSES = [
  'agent-failed', // the engine exited non-zero
  'agent-timeout',
  'agent-oom',
  'agent-disk-full',
  'model-error', // the model's API failed for good
  'refusal', // the model declined
  'budget', // its budget was spent
  'nothing-done', // empty diff
  'scope', // changed what it was not given, or an unsafe tree
  'gate-red',
  'gate-timeout',
  'gate-oom',
  'rejected', // by its reviewers
  'conflict', // with the mainline
  'refused', // by the mainline's path rules
  'ejected', // culprit of a red mainline or wave
  'answer', // a planner's answer that could not become part of the plan
] as const;
export type FailureCause = (typeof FAILURE_CAUSES)[number];

/** Names an attempt everywhere: refs, containers, rows. `attempt` counts from 1 over all rounds of a task. */
export interface AttemptKey {
  readonly run: string;
  readonly task: string;
  readonly attempt: number;
}

/** What runAgent returns: a collected, scope-checked commit in the hub, or a red attempt. */
export type AgentResult =
  | { readonly ok: true; readonly commit: string; readonly base: string; readonly changed: number }
  | { readonly ok: false; readonly cause: FailureCause; readonly why: string };

export interface GateStepResult {
  readonly step: GateStepName;
  readonly ok: boolean;
  readonly end: StepEnd;
  readonly exitCode: number | null;
  readonly durationMs: number;
  /** Names of failing tests from the step's report, else a digest of the normalised tail of its output. */
  readonly failures: readonly string[];
  /** Red once, green when run again. */
  readonly flaky: boolean;
  /** Last lines of the output, at most 2 KiB: enough for a message. The whole is an artifact in the store. */
  readonly tail: string;
}

/** What exactly was judged: the same tree under the same configuration need not be judged again. */
export interface GateJudged {
  readonly tree: string;
  /** Digest of image, setup, services, limits, commands and choices. */
  readonly config: string;
}

export type GateResult =
  | {
      readonly outcome: 'green';
      readonly steps: readonly GateStepResult[];
      readonly commit: string;
      readonly judged?: GateJudged;
    }
  | {
      readonly judged?: GateJudged;
      readonly outcome: 'red';
      readonly cause: 'gate-red' | 'gate-timeout' | 'gate-oom';
      readonly step: GateStepName;
      readonly steps: readonly GateStepResult[];
      readonly commit: string;
    }
  | { readonly outcome: 'conflict'; readonly paths: readonly string[] };

// ───────────────────────────── the mainline ─────────────────────────────

export interface MergeRequest {
  /** `<task>/<attempt>`; stands in the commit's trailer, which is what makes a merge happen exactly once. */
  readonly id: string;
  readonly task: string;
  readonly attempt: number;
  /** The task's commit in the hub. */
  readonly commit: string;
  /** The tree-ish that the attempt started from: the merge base, always given, never computed. */
  readonly base: string;
  readonly engine: string;
  readonly model: string | null;
  /** Milliseconds since the epoch at which the request was made; makes the commit's dates deterministic. */
  readonly atMs: number;
}

export type MergeOutcome =
  | { readonly id: string; readonly kind: 'merged'; readonly commit: string }
  | { readonly id: string; readonly kind: 'already'; readonly commit: string }
  | { readonly id: string; readonly kind: 'conflict'; readonly paths: readonly string[] }
  | { readonly id: string; readonly kind: 'refused'; readonly rule: string; readonly paths: readonly string[] };

/** One merge commit of the line, oldest first. */
export interface LineEntry {
  readonly commit: string;
  readonly request: string;
  readonly task: string;
  readonly attempt: number;
}

/** Where the three refs stand and what lies above main. */
export interface Line {
  readonly main: string;
  readonly verified: string;
  readonly next: string;
  /** main (exclusive) .. next (inclusive), oldest first. */
  readonly entries: readonly LineEntry[];
  readonly greenPoints: number;
}

// ───────────────────────────── task states ─────────────────────────────

export const TASK_STATES = [
  'pending',
  'ready',
  'running',
  'retrying',
  'merging', // its gate was green; waits for the mainline. Holds no slot
  'passed',
  'failed',
  'blocked',
  'skipped',
  'cancelled',
] as const;
export type TaskState = (typeof TASK_STATES)[number];
