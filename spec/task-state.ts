/**
 * The life of a task as one table of legal moves. runSpec alone applies them.
 *
 * Invariants:
 * 1. A task is `passed` only through `landed`: its patch is in a commit under `verified`.
 * 2. `failed` is never rested in: the move that follows it happens in the same decision.
 * 3. `skipped` and `cancelled` are final and only a person causes them.
 */
import { TASK_STATES } from './model.ts';
import type { TaskState } from './model.ts';

export const TASK_EVENTS = [
  'dependencies-landed',
  'started',
  'gate-green',
  'attempt-red',
  'attempts-left',
  'attempts-exhausted',
  'landed',
  'rolled-back',
  'ejected',
  'dependency-ejected',
  'retry',
  'skip',
  'cancel',
] as const;
export type TaskEvent = (typeof TASK_EVENTS)[number];

export interface TaskMove {
  readonly from: TaskState;
  readonly event: TaskEvent;
  readonly to: TaskState;
  /** What happened, for the picture and for messages. */
  readonly when: string;
}

const open = ['pending', 'ready', 'running', 'retrying', 'merging', 'blocked'] as const;

export const TASK_MOVES: readonly TaskMove[] = [
  { from: 'pending', event: 'dependencies-landed', to: 'ready', when: 'every dependency has landed' },
  { from: 'ready', event: 'started', to: 'running', when: 'a slot is free' },
  { from: 'running', event: 'gate-green', to: 'merging', when: 'its own gate is green' },
  { from: 'running', event: 'attempt-red', to: 'failed', when: 'agent or gate red' },
  { from: 'merging', event: 'attempt-red', to: 'failed', when: 'conflict, refusal or culprit of a red mainline' },
  { from: 'failed', event: 'attempts-left', to: 'retrying', when: 'attempts are left' },
  { from: 'failed', event: 'attempts-exhausted', to: 'blocked', when: 'no attempt is left' },
  { from: 'retrying', event: 'started', to: 'running', when: 'a slot is free' },
  { from: 'merging', event: 'landed', to: 'passed', when: 'its patch is under verified' },
  {
    from: 'passed',
    event: 'rolled-back',
    to: 'merging',
    when: 'rolled back with a culprit; lands again without an agent',
  },
  { from: 'merging', event: 'ejected', to: 'pending', when: 'taken out again at a red integration point' },
  { from: 'merging', event: 'attempts-exhausted', to: 'blocked', when: 'taken out once too often' },
  { from: 'passed', event: 'ejected', to: 'pending', when: 'taken out again at a red integration point' },
  { from: 'passed', event: 'attempts-exhausted', to: 'blocked', when: 'taken out once too often' },
  { from: 'passed', event: 'dependency-ejected', to: 'pending', when: 'what it depends on was taken out' },
  { from: 'running', event: 'dependency-ejected', to: 'pending', when: 'what it depends on was taken out' },
  { from: 'retrying', event: 'dependency-ejected', to: 'pending', when: 'what it depends on was taken out' },
  { from: 'merging', event: 'dependency-ejected', to: 'pending', when: 'what it depends on was taken out' },
  { from: 'ready', event: 'dependency-ejected', to: 'pending', when: 'what it depends on was taken out' },
  { from: 'blocked', event: 'retry', to: 'pending', when: 'a person asks for another round' },
  ...open.map((from): TaskMove => ({ from, event: 'skip', to: 'skipped', when: 'a person skips it' })),
  ...open.map((from): TaskMove => ({ from, event: 'cancel', to: 'cancelled', when: 'a person cancels it' })),
];

const byState = new Map(TASK_STATES.map((state) => [state, new Map<TaskEvent, TaskState>()]));
for (const { from, event, to } of TASK_MOVES) byState.get(from)?.set(event, to);

/** A move that the table does not allow: our bug, or a person's request that comes too late. */
export class IllegalMove extends Error {
  readonly from: TaskState;
  readonly event: TaskEvent;
  constructor(from: TaskState, event: TaskEvent) {
    super(`A task that is ${from} cannot take "${event}"`);
    this.name = 'IllegalMove';
    this.from = from;
    this.event = event;
  }
}

export function canMove(from: TaskState, event: TaskEvent): boolean {
  return byState.get(from)?.has(event) ?? false;
}

/** The state after `event`. @throws IllegalMove when the table has no such move. */
export function moveTask(from: TaskState, event: TaskEvent): TaskState {
  const to = byState.get(from)?.get(event);
  if (to === undefined) throw new IllegalMove(from, event);
  return to;
}

const FINAL: ReadonlySet<TaskState> = new Set(['passed', 'skipped', 'cancelled']);
/** Counts towards a completed run. */
export const isFinal = (state: TaskState): boolean => FINAL.has(state);
/** Lets its wave close. */
export const isClosed = (state: TaskState): boolean => FINAL.has(state) || state === 'blocked';

/** The table as a Mermaid state diagram; `docs/task-states.md` holds it and a test compares. */
export function taskStatePicture(): string {
  const arrows = new Map<string, string[]>();
  for (const { from, to, when } of TASK_MOVES) {
    const arrow = `${from} --> ${to}`;
    const reasons = arrows.get(arrow) ?? [];
    if (!reasons.includes(when)) reasons.push(when);
    arrows.set(arrow, reasons);
  }
  const lines = [...arrows].map(([arrow, reasons]) => `  ${arrow}: ${reasons.join('; ')}`);
  return [
    'stateDiagram-v2',
    '  [*] --> pending',
    ...lines,
    '  passed --> [*]',
    '  skipped --> [*]',
    '  cancelled --> [*]',
    '',
  ].join('\n');
}
