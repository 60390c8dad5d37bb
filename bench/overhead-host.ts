/**
 * The sandbox host of the overhead benchmark, a process of its own: activities of the queue `swarmline-sandbox` over the real store and
 * hub, without containers and checkouts. An "agent" is a timer. `waiting`: its commit was made before (overhead-waiting.ts). `real`: the
 * real activities, which make and judge trees with git as always; then the timer changes one file of the tree.
 *
 * It is forked with the stack's environment; its parent asks for the timelines over IPC.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { createAttemptActivities } from '../activities/attempt.ts';
import type { AttemptDeps } from '../activities/attempt-ports.ts';
import { attemptStore } from '../activities/attempt-store.ts';
import { createHubClient } from '../mainline/hub-client.ts';
import { putFiles } from '../sandbox/overlay.ts';
import type { Sandbox, StepOutcome } from '../sandbox/index.ts';
import { connect } from '../store/index.ts';
import { WORKER_TIMES } from '../workers/temporal.ts';
import type { Timeline } from './overhead-times.ts';
import { taskPath } from './overhead-spec.ts';
import { createWaitingActivities } from './overhead-waiting.ts';

export interface HostSettings {
  readonly seconds: number;
  readonly spread: number;
  readonly inFlight: number;
  readonly activities: 'waiting' | 'real';
  /** Repository of the run. */
  readonly origin: string;
}

const required = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
};

async function main(settings: HostSettings): Promise<void> {
  const timelines = new Map<string, Timeline>();
  const note = (task: string, times: Timeline): void => void timelines.set(task, { ...timelines.get(task), ...times });
  const stateDir = join(required('SWARMLINE_STATE'), 'bench-host');
  await mkdir(stateDir, { recursive: true });
  const db = connect(required('DATABASE_URL'));
  const hub = createHubClient({
    url: required('SWARMLINE_HUB_URL'),
    token: required('SWARMLINE_HUB_TOKEN'),
    mirrorRoot: join(stateDir, 'mirrors'),
    localRoot: join(required('SWARMLINE_STATE'), 'hubs'),
  });
  const wait = agentTimer(settings, note);
  const store = attemptStore(db);
  const real = createAttemptActivities({
    hostId: 'bench',
    stateDir,
    store,
    hub,
    sandbox: inProcess(wait),
    gateway: { open: () => Promise.reject(new Error('no agent here talks to a model')), close: async () => undefined },
    openWorkspace: async ({ name }) => ({ dir: name, close: async () => undefined }),
    collectTree: async ({ dir, gitDir, baseTree }) => {
      const task = /-(t\d+)-\d+-agent$/.exec(dir)?.[1];
      if (task === undefined) throw new Error(`No task in ${dir}`);
      return { tree: await putFiles(gitDir, baseTree, { [taskPath(task)]: `done by ${task}\n` }) };
    },
    ensureSetup: async () => ({ mounts: [], env: {} }),
    startServices: async () => ({ network: 'none', close: async () => undefined }),
    resolveImage: async (image) => image,
    now: Date.now,
    log: { info: () => undefined, warn: () => undefined },
  } satisfies AttemptDeps);
  const activities =
    settings.activities === 'real'
      ? real
      : await createWaitingActivities({ store, hub, origin: settings.origin, wait });

  Runtime.install({
    logger: { trace() {}, debug() {}, info() {}, warn() {}, error: console.error, log() {} },
  });
  const connection = await NativeConnection.connect({ address: required('TEMPORAL_ADDRESS') });
  const worker = await Worker.create({
    connection,
    namespace: required('TEMPORAL_NAMESPACE'),
    ...WORKER_TIMES,
    taskQueue: 'swarmline-sandbox',
    maxConcurrentActivityTaskExecutions: settings.inFlight + 50,
    activities: {
      ...activities,
      runAgent: async (input: Parameters<typeof activities.runAgent>[0]) => {
        note(input.task, { claimedMs: Date.now() });
        const result = await activities.runAgent(input);
        note(input.task, { submittedMs: Date.now() });
        return result;
      },
      runGate: async (input: Parameters<typeof activities.runGate>[0]) => {
        if (input.task !== null) note(input.task, { gateStartMs: Date.now() });
        const result = await activities.runGate(input);
        if (input.task !== null) note(input.task, { gateEndMs: Date.now() });
        return result;
      },
    },
  });
  process.on('message', (message) => {
    if (message === 'timelines') process.send?.([...timelines]);
    if (message === 'forget') timelines.clear();
    if (message === 'stop') worker.shutdown();
  });
  process.on('disconnect', () => process.exit(0)); // its parent is gone
  process.send?.('ready');
  await worker.run();
  await connection.close();
  await db.end();
  process.disconnect();
}

type Wait = (task: string, signal: AbortSignal) => Promise<void>;

/** What an agent does: nothing, for its time. */
function agentTimer({ seconds, spread }: HostSettings, note: (task: string, times: Timeline) => void): Wait {
  let agents = 0;
  return async (task, signal) => {
    // Golden-ratio steps: evenly spread, the same in every run.
    const share = ((agents += 1) * 0.618034) % 1;
    note(task, { agentStartMs: Date.now() });
    await delay(seconds * 1000 * (1 + spread * (2 * share - 1)), undefined, { signal });
    note(task, { agentEndMs: Date.now() });
  };
}

/** Steps without containers: an agent's takes its time, every other none. */
function inProcess(wait: Wait): Sandbox {
  const refuse = (): never => {
    throw new Error('There are no containers here');
  };
  return {
    runStep: async ({ key }, { signal = new AbortController().signal } = {}): Promise<StepOutcome> => {
      const started = Date.now();
      if (key.kind === 'agent') await wait(key.task!, signal);
      const durationMs = Date.now() - started;
      return {
        end: 'exited',
        exitCode: 0,
        durationMs,
        outputBytes: 0,
        truncated: false,
        childOom: false,
        detail: null,
      };
    },
    freeze: refuse,
    thaw: refuse,
    stop: refuse,
    reap: refuse,
    admission: async () => ({ ok: true }),
    slots: { total: 0, taken: 0, waiting: 0 },
    get docker() {
      return refuse();
    },
    get context() {
      return refuse();
    },
    stateDir: '',
    caBundle: null,
    log: { info: () => undefined, warn: () => undefined },
  };
}

await main(JSON.parse(process.argv[2] ?? '{}') as HostSettings);
