/**
 * What runSpec knows of its tasks. Every change goes through the table of moves in spec/task-state.ts; nothing else writes a state.
 *
 * Invariants:
 * 1. A task is `passed` only on the mainline's word (through its executeTask, or as landed again).
 * 2. Only a culprit's ejection counts against it; others that went with it come back from their kept commit, without an agent.
 */
import type { TaskChange, TaskStart } from '../activities/contract.ts';
import type { LineEntry, PlanTask, Policy, TaskState, Waivable } from '../spec/model.ts';
import type { Standings } from '../spec/schedule.ts';
import { inOrder, startableTasks } from '../spec/schedule.ts';
import { isClosed, isFinal, moveTask } from '../spec/task-state.ts';
import type { TaskEvent } from '../spec/task-state.ts';
import type { TaskReport } from './protocol.ts';

export interface TaskRecord {
  readonly plan: PlanTask;
  state: TaskState;
  releasesDependants: boolean;
  round: number;
  attempts: number;
  ejections: number;
  wave: number;
  why: string;
  sinceMs: number;
  kept: TaskReport['kept'];
  /** The next round begins with the kept commit instead of an agent. */
  resubmit: boolean;
  waive: readonly Waivable[];
  awaitsApproval: boolean;
  /** What a person asked for while it runs; carried out when its workflow has ended. */
  intent: 'skip' | 'cancel' | 'restart' | null;
  /** May join the wave that is open: retried, added or resubmitted by a person. */
  joins: boolean;
}

/** Who does, judges and mends the work of every task. */
export type Staff = Pick<TaskStart, 'engine' | 'model' | 'reviewers' | 'merger'>;

export class RunState {
  readonly records = new Map<string, TaskRecord>();
  readonly #policy: Pick<Policy, 'fixAttempts' | 'approve' | 'scaffold'>;
  readonly #staff: Staff;
  readonly #changed = new Set<string>();

  constructor(
    policy: Pick<Policy, 'fixAttempts' | 'approve' | 'scaffold'>,
    staff: Staff,
    records: readonly TaskRecord[],
  ) {
    this.#policy = policy;
    this.#staff = staff;
    for (const record of records) this.records.set(record.plan.id, { ...record });
  }

  get plan(): PlanTask[] {
    return [...this.records.values()].map(({ plan }) => plan);
  }
  get standings(): Standings {
    return this.records;
  }
  get(id: string): TaskRecord | undefined {
    return this.records.get(id);
  }
  all(test: (record: TaskRecord) => boolean): TaskRecord[] {
    return [...this.records.values()].filter(test);
  }
  isDone(): boolean {
    return this.all(({ state }) => !isFinal(state)).length === 0;
  }
  counts(): Partial<Record<TaskState, number>> {
    const counts: Partial<Record<TaskState, number>> = {};
    for (const { state } of this.records.values()) counts[state] = (counts[state] ?? 0) + 1;
    return counts;
  }

  add(plan: PlanTask, nowMs: number): void {
    this.records.set(plan.id, { ...newRecord(plan, nowMs), joins: true });
    this.#changed.add(plan.id);
  }
  amend(plan: PlanTask): void {
    const record = this.#record(plan.id);
    this.records.set(plan.id, { ...record, plan: { ...plan, index: record.plan.index } });
    this.#changed.add(plan.id);
  }

  move(id: string, event: TaskEvent, nowMs: number, why = ''): void {
    const record = this.#record(id);
    record.state = moveTask(record.state, event);
    record.why = why;
    record.sinceMs = nowMs;
    this.#changed.add(id);
  }

  startable(joiningOnly: boolean): PlanTask[] {
    return startableTasks(this.plan, this.standings).filter(({ id }) => !joiningOnly || this.#record(id).joins);
  }

  /** Moves startable tasks to running and gives what executeTask needs. */
  begin(tasks: readonly PlanTask[], wave: number, nowMs: number): TaskStart[] {
    return inOrder(tasks, this.plan, this.standings).map(({ id, kind }) => {
      const record = this.#record(id);
      this.move(id, 'dependencies-landed', nowMs);
      this.move(id, 'started', nowMs);
      record.wave = wave;
      record.joins = false;
      const start: TaskStart = {
        id,
        kind,
        round: record.round,
        firstAttempt: record.attempts + 1,
        ejections: record.ejections,
        resubmit: record.resubmit ? record.kept : null,
        waive: record.waive,
        scaffold: record.plan.scaffold ?? this.#policy.scaffold.includes(id),
        ...this.#staff,
        approvals: this.#policy.approve,
      };
      record.resubmit = false;
      return start;
    });
  }

  /** Applies what a task's workflow reported. Reports of an older round come too late and are left aside. */
  report(report: TaskReport, nowMs: number): void {
    const record = this.#record(report.task);
    if (report.round !== record.round || isClosed(record.state) || record.state === 'pending') return;
    record.attempts = Math.max(record.attempts, report.attempts);
    record.ejections = report.ejections;
    record.kept = report.kept ?? record.kept;
    record.awaitsApproval = report.awaitsApproval;
    switch (report.state) {
      case 'merging':
        if (record.state === 'running') this.move(report.task, 'gate-green', nowMs);
        break;
      case 'passed':
        if (record.state === 'running') this.move(report.task, 'gate-green', nowMs);
        this.move(report.task, 'landed', nowMs);
        break;
      case 'blocked':
        this.move(report.task, 'attempt-red', nowMs, report.why);
        this.move(report.task, 'attempts-exhausted', nowMs, report.why);
        break;
      case 'pending':
        this.#restart(record, 'dependency-ejected', nowMs, report.why);
        break;
      case 'cancelled':
        this.#carryOutIntent(record, nowMs);
        break;
      case 'running':
      case 'retrying':
        break;
    }
  }

  rolledBack(entries: readonly LineEntry[], nowMs: number): void {
    for (const { task } of entries) {
      if (this.get(task)?.state === 'passed') this.move(task, 'rolled-back', nowMs, 'lands again without a culprit');
    }
  }
  landedAgain(entries: readonly LineEntry[], nowMs: number): void {
    for (const { task } of entries) if (this.get(task)?.state === 'merging') this.move(task, 'landed', nowMs);
  }

  /** Landed work was taken out. @returns whether the task is blocked now. */
  ejected(entry: LineEntry, culprit: boolean, why: string, nowMs: number): boolean {
    const record = this.get(entry.task);
    if (record === undefined || (record.state !== 'passed' && record.state !== 'merging')) return false;
    if (culprit) record.ejections += 1;
    if (culprit && record.ejections > this.#policy.fixAttempts) {
      this.move(entry.task, 'attempts-exhausted', nowMs, why);
      return true;
    }
    record.resubmit = !culprit && record.kept !== null;
    this.#restart(record, culprit ? 'ejected' : 'dependency-ejected', nowMs, why);
    return false;
  }

  /** A person asks for another round. */
  retry(id: string, nowMs: number): void {
    const record = this.#record(id);
    record.joins = true;
    this.#restart(record, 'retry', nowMs, '');
    record.ejections = 0;
  }

  /** What changed since the last call, for the store. */
  changes(): TaskChange[] {
    const changes = [...this.#changed].map((id): TaskChange => {
      const { state, wave, round, why } = this.#record(id);
      return { id, state, wave, round, why };
    });
    this.#changed.clear();
    return changes;
  }
  get hasChanges(): boolean {
    return this.#changed.size > 0;
  }

  #restart(record: TaskRecord, event: TaskEvent, nowMs: number, why: string): void {
    this.move(record.plan.id, event, nowMs, why);
    record.round += 1;
    record.intent = null;
  }
  #carryOutIntent(record: TaskRecord, nowMs: number): void {
    const { intent } = record;
    record.intent = null;
    if (intent === 'restart') this.#restart(record, 'dependency-ejected', nowMs, record.why);
    else
      this.move(
        record.plan.id,
        intent === 'skip' ? 'skip' : 'cancel',
        nowMs,
        intent === null ? 'its workflow was cancelled' : '',
      );
  }
  #record(id: string): TaskRecord {
    const record = this.records.get(id);
    if (record === undefined) throw new Error(`The run has no task ${id}`);
    return record;
  }
}

export function newRecord(plan: PlanTask, nowMs: number): TaskRecord {
  return {
    plan,
    state: 'pending',
    releasesDependants: false,
    round: 1,
    attempts: 0,
    ejections: 0,
    wave: 0,
    why: '',
    sinceMs: nowMs,
    kept: null,
    resubmit: false,
    waive: [],
    awaitsApproval: false,
    intent: null,
    joins: false,
  };
}
