/** Signals, updates and queries between the workflows of a run, and from people. Ids of workflows follow from the run's id. */
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { Approval, LineEntry, MergeRequest, PlanTask, RoleName, TaskState, Waivable } from '../spec/model.ts';
import type { ScopeAnswer, Waiting } from '../activities/contract.ts';

export const mainlineId = (run: string): string => `${run}:mainline`;
export const waveId = (run: string, wave: number, part: number): string => `${run}:wave-${wave}.${part}`;
export const taskWorkflowId = (run: string, task: string, round: number): string =>
  round === 1 ? `${run}/${task}` : `${run}/${task}~${round}`;

/** The n-th call of a planner. */
export const planId = (run: string, node: string, call: number): string =>
  `${run}:plan${node === '' ? '' : `-${node}`}${call === 1 ? '' : `~${call}`}`;

// ───────────────────────────── to executeTask ─────────────────────────────

/** What became of a merge request. `ejected`: it was the culprit. `dependency-ejected`: what it builds on was taken out. */
export type MainlineAnswer = { readonly request: string } & (
  | { readonly kind: 'landed'; readonly commit: string }
  | { readonly kind: 'conflict'; readonly why: string }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'ejected'; readonly why: string }
  | { readonly kind: 'dependency-ejected'; readonly why: string }
);
export const mainlineAnswer = defineSignal<[MainlineAnswer]>('mainlineAnswer');
export const slotGranted = defineSignal('slotGranted');
export const mergeApproved = defineSignal('mergeApproved');

// ───────────────────────────── to wave ─────────────────────────────

export interface SlotMessage {
  readonly task: string;
  /** `release`: waits for the mainline or a person. `need`: wants to run again. */
  readonly kind: 'release' | 'need';
  readonly why: string;
  /** It needs it for its merger, as a task of kind `merge` would. */
  readonly merges?: boolean;
}
export const slotMessage = defineSignal<[SlotMessage]>('slotMessage');
/** Slots move between the parts of a run: `give` are its own from now on, `ask` come back with its reports as they become free. */
export interface SlotsMessage {
  readonly give: number;
  readonly ask: number;
  /** Others lack slots: what it cannot use comes back unasked from now on. */
  readonly scarce: boolean;
}
export const slotsMessage = defineSignal<[SlotsMessage]>('slots');
export const holdStarts = defineSignal<[boolean]>('holdStarts');

// ───────────────────────────── to mainline ─────────────────────────────

export interface MergeOrder extends MergeRequest {
  /** Workflow that gets the answer. */
  readonly replyTo: string;
}
export const requestMerge = defineSignal<[MergeOrder]>('requestMerge');
export const withdrawTask = defineSignal<[{ readonly task: string }]>('withdrawTask');
export const integrate = defineSignal<[{ readonly wave: number }]>('integrate');
export const holdMerges = defineSignal<[boolean]>('holdMerges');
export const planChanged = defineSignal<[readonly PlanTask[]]>('planChanged');
/** Nobody is left who could add to the head: verify it (policy.verify: wave). */
export const verifyNow = defineSignal('verifyNow');
/** No more requests will come: finish and end. */
export const closeMainline = defineSignal('closeMainline');

// ───────────────────────────── to runSpec ─────────────────────────────

export interface TaskReport {
  readonly task: string;
  readonly round: number;
  readonly state: Extract<
    TaskState,
    'running' | 'retrying' | 'merging' | 'passed' | 'blocked' | 'cancelled' | 'pending'
  >;
  /** Attempts made so far, over all rounds. */
  readonly attempts: number;
  readonly ejections: number;
  readonly why: string;
  /** The last collected commit and its base: what land-anyway and resubmission go by. */
  readonly kept: {
    readonly commit: string;
    readonly base: string;
    readonly attempt: number;
    /** Absent: the worker. */
    readonly by?: 'merger';
  } | null;
  /** Waits for a person's approval to merge. */
  readonly awaitsApproval: boolean;
  /** Blocked because it ran into its deadline twice: its planner may split it. */
  readonly timedOut?: boolean;
}
export interface WaveReport {
  readonly wave: number;
  readonly part: number;
  readonly tasks: readonly TaskReport[];
  /** Slots that it gives back with this report. */
  readonly returned: number;
  /** Slots that it could use now. */
  readonly wants: number;
  readonly closed: boolean;
}
export const waveReport = defineSignal<[WaveReport]>('waveReport');

export interface MainlineReport {
  /** Landed again after a rollback. (First landings are told by the task itself, through its wave.) */
  readonly landedAgain: readonly LineEntry[];
  /** Had landed, is no longer under verified, and is on its way there again without an agent. */
  readonly rolledBack: readonly LineEntry[];
  /** Had landed and was taken out: restarts are runSpec's. */
  readonly ejected: readonly { readonly entry: LineEntry; readonly culprit: boolean; readonly why: string }[];
  readonly integration: IntegrationResult | null;
}
export type IntegrationResult =
  | { readonly wave: number; readonly outcome: 'green'; readonly commit: string; readonly n: number }
  | { readonly wave: number; readonly outcome: 'unchanged'; readonly commit: string }
  /** Nothing came green within the fix budget: the line is back at main. */
  | { readonly wave: number; readonly outcome: 'rolled-back'; readonly commit: string; readonly why: string };
export const mainlineReport = defineSignal<[MainlineReport]>('mainlineReport');

// ───────────────────────────── from people ─────────────────────────────

export interface TaskArgument {
  readonly task: string;
}
export const approveUpdate = defineUpdate<string, [{ readonly what: Approval; readonly task?: string }]>('approve');
export const retryTaskUpdate = defineUpdate<string, [TaskArgument]>('retryTask');
export const skipTaskUpdate = defineUpdate<string, [TaskArgument & { readonly dependants?: 'release' | 'skip' }]>(
  'skipTask',
);
export const cancelTaskUpdate = defineUpdate<string, [TaskArgument]>('cancelTask');
export const amendTaskUpdate = defineUpdate<string, [TaskArgument & { readonly spec: unknown }]>('amendTask');
export const addTaskUpdate = defineUpdate<string, [{ readonly task: unknown }]>('addTask');
export const pauseUpdate = defineUpdate<string, [{ readonly drain?: boolean }]>('pause');
export const resumeUpdate = defineUpdate<string, [unknown?]>('resume');
/** From the gateway: an agent asks for files that its task was not given. */
export interface ScopeRequested {
  readonly request: string;
  readonly task: string;
  readonly paths: readonly string[];
  readonly note: string;
}
export const scopeRequested = defineSignal<[ScopeRequested]>('scopeRequested');
export const answerScopeUpdate = defineUpdate<
  string,
  [{ readonly request: string; readonly answer: ScopeAnswer; readonly note?: string }]
>('answerScope');
export interface Replan {
  /** Id of the planner's scope; '' for the first. */
  readonly scope: string;
  /** What it is told. */
  readonly say?: string;
  /** Instead of calling it: leave it as it is, it has nothing more to plan. */
  readonly leave?: boolean;
}
export const replanUpdate = defineUpdate<string, [Replan]>('replan');
export const landAnywayUpdate = defineUpdate<
  string,
  [TaskArgument & { readonly step: Waivable; readonly reason: string }]
>('landAnyway');
export interface RaiseBudget {
  /** US dollars and tokens: the new limits of the run, of one of its roles, or of each task. Left out: as it was; null: none. */
  readonly usd?: number | null;
  readonly tokens?: number | null;
  readonly of?: RoleName | 'task' | null;
}
export const raiseBudgetUpdate = defineUpdate<string, [RaiseBudget]>('raiseBudget');
/** From the gateway: callers of this run wait because a budget is spent. */
export const budgetReached = defineSignal<[{ readonly why: string }]>('budgetReached');
export const deliverUpdate = defineUpdate<string, [unknown?]>('deliver');

export interface Progress {
  readonly phase: string;
  readonly paused: boolean;
  readonly wave: number;
  readonly tasks: Readonly<Record<string, number>>;
  readonly greenPoints: number;
  readonly waiting: readonly Waiting[];
}
export const progressQuery = defineQuery<Progress>('progress');
export const planQuery = defineQuery<readonly (PlanTask & { state: TaskState; round: number })[]>('plan');
export const taskQuery = defineQuery<unknown, [string]>('task');
export interface QueueEntry {
  readonly request: string;
  readonly state: 'queued' | 'merged';
  readonly sinceMs: number;
  readonly waitsFor: string;
}
export const mergeQueueQuery = defineQuery<readonly QueueEntry[]>('mergeQueue');
