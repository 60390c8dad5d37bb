import type { AttemptRow, RunOverview, RunRow, TaskRow } from '../../../store/index.ts';

/** Three minutes past the start. */
export const NOW = Date.UTC(2026, 0, 2, 12, 3, 0);
const START = NOW - 180_000;

export const taskRow = (id: string, more: Partial<TaskRow> = {}): TaskRow => ({
  id,
  version: 1,
  index: 0,
  kind: 'work',
  dependsOn: [],
  state: 'pending',
  wave: null,
  round: 1,
  attempts: 0,
  waitingOn: null,
  waitingSinceMs: null,
  waitingWhy: null,
  why: null,
  commit: null,
  updatedAtMs: START,
  ...more,
});

export const attemptRow = (task: string, more: Partial<AttemptRow> = {}): AttemptRow => ({
  run: 'orders-1',
  task,
  attempt: 1,
  round: 1,
  host: 'host-a',
  phase: 'agent',
  base: null,
  commit: null,
  outcome: null,
  why: null,
  startedAtMs: NOW - 20_000,
  agentStartedAtMs: null,
  agentMs: null,
  gateMs: null,
  queuedMs: null,
  requestedAtMs: null,
  mergedAtMs: null,
  landedAtMs: null,
  endedAtMs: null,
  failureArtifact: null,
  ...more,
});

export const overview = (more: Partial<Omit<RunOverview, 'run'>> & { run?: Partial<RunRow> } = {}): RunOverview => ({
  atMs: NOW,
  tasks: [],
  running: [],
  attempts: { byOutcome: {}, total: 0, agentMs: 0, gateMs: 0, queuedMs: 0 },
  merges: { byState: {}, oldestQueuedAtMs: null, oldestUnverifiedAtMs: null, landedAtMs: [] },
  greenPoints: [],
  evaluations: [],
  ...more,
  run: {
    id: 'orders-1',
    execution: null,
    name: 'orders',
    phase: 'waves',
    paused: false,
    baseCommit: null,
    imageDigest: null,
    startedAtMs: START,
    endedAtMs: null,
    outcome: null,
    report: null,
    details: null,
    updatedAtMs: NOW,
    ...more.run,
  },
});

/** A run in the middle of its second wave, with somebody of every kind. */
export const midway = (): RunOverview =>
  overview({
    run: {
      details: [
        {
          on: 'task locale-de',
          why: 'gate-red: test: 2 failures',
          sinceMs: NOW - 60_000,
          command: 'swarmline logs orders-1 locale-de, then swarmline retry|amend|skip orders-1 locale-de',
        },
      ],
    },
    tasks: [
      taskRow('types', { state: 'passed', wave: 1, commit: 'c0ffee0123456789', attempts: 1 }),
      taskRow('rules', { state: 'passed', wave: 1, commit: 'beef0123456789ab', attempts: 2 }),
      taskRow('locale-de', { state: 'blocked', wave: 2, attempts: 4, waitingOn: 'a person', why: 'gate-red' }),
      taskRow('locale-en', { state: 'running', wave: 2, attempts: 1 }),
      taskRow('locale-fr', { state: 'merging', wave: 2, attempts: 1 }),
      taskRow('locale-it', { state: 'ready', wave: 2 }),
      taskRow('docs', { wave: 0, dependsOn: ['types', 'locale-de', 'locale-en'] }),
    ],
    running: [
      attemptRow('locale-en', { phase: 'gate' }),
      attemptRow('locale-fr', { phase: 'merge', requestedAtMs: NOW - 4_000 }),
    ],
    attempts: {
      byOutcome: { passed: 2, 'gate-red': 5 },
      total: 9,
      agentMs: 400_000,
      gateMs: 200_000,
      queuedMs: 3_000,
    },
    merges: {
      byState: { green: 2 },
      oldestQueuedAtMs: NOW - 4_000,
      oldestUnverifiedAtMs: null,
      landedAtMs: [NOW - 100_000, NOW - 120_000],
    },
    greenPoints: [
      { n: 0, commit: 'ba5e000000000000', wave: null, atMs: START },
      { n: 1, commit: 'beef0123456789ab', wave: 1, atMs: NOW - 90_000 },
    ],
  });
