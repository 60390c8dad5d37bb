/** One run of the overhead benchmark: submitted, awaited, and what can be read of it afterwards. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { connectTemporal } from '../cli/temporal.ts';
import { pidFile } from '../cli/setup/places.ts';
import { readRunning } from '../cli/setup/process.ts';
import type { Stack } from '../cli/setup/stack.ts';
import { connect, listAttempts } from '../store/index.ts';
import type { Host } from './overhead-fork.ts';
import { overheadSpec } from './overhead-spec.ts';
import type { Complete } from './overhead-times.ts';
import { cpuOfTree, usageOf } from './processes.ts';

export interface Played {
  readonly tasks: readonly Complete[];
  /** When the wave began, ms since the epoch. */
  readonly startableMs: number;
  readonly events: number;
  readonly eventsByType: readonly (readonly [string, number])[];
  /** Most of orchestrator, mainline worker and sandbox host together. */
  readonly peakRssBytes: number;
  /** CPU seconds by process, from submission to the end of the run. */
  readonly cpu: readonly (readonly [string, number])[];
}

export interface Play {
  readonly url: string;
  readonly id: string;
  readonly inFlight: number;
  readonly update: (note: string) => void;
}

const SAMPLE_MS = 500;
const NAMES = ['temporal', 'postgres', 'worker-orchestrator', 'worker-mainline'] as const;

export async function playRun(stack: Stack, host: Host, { url, id, inFlight, update }: Play): Promise<Played> {
  const pids = new Map<string, number>([['sandbox host', host.pid]]);
  for (const name of NAMES) {
    const running = await readRunning(pidFile(stack.settings, name));
    if (running !== null) pids.set(name, running.pid);
  }
  const temporal = await connectTemporal(stack.settings, stack.env);
  const { client } = temporal;
  const cpu = (): Promise<(readonly [string, number])[]> =>
    Promise.all([...pids].map(async ([name, pid]) => [name, await cpuOfTree(pid)] as const));
  const memory = new AbortController();
  try {
    const before = new Map(await cpu());
    const peak = watchMemory(
      [...pids].filter(([name]) => !['temporal', 'postgres'].includes(name)).map(([, pid]) => pid),
      memory.signal,
    );
    const handle = await client.workflow.start('runSpec', {
      taskQueue: 'swarmline',
      workflowId: id,
      args: [overheadSpec(url, inFlight)],
    });
    update('running');
    await handle.result().catch(readable);
    memory.abort();
    const after = await cpu();
    const workflows = await closedWorkflows(client, id);
    return {
      tasks: await completed(stack, host, id),
      startableMs: Math.min(...workflows.filter(({ type }) => type === 'wave').map(({ startedMs }) => startedMs)),
      events: workflows.reduce((sum, { events }) => sum + events, 0),
      eventsByType: byType(workflows),
      peakRssBytes: await peak,
      cpu: after.map(([name, seconds]) => [name, seconds - (before.get(name) ?? 0)] as const),
    };
  } finally {
    memory.abort();
    await temporal.close();
  }
}

/** A run that fails here is a defect; its own words say more than "Workflow execution failed". */
function readable(error: unknown): never {
  const cause = error instanceof Error ? error.cause : undefined;
  throw cause instanceof Error ? new Error(cause.message, { cause: error }) : error;
}

async function watchMemory(pids: readonly number[], signal: AbortSignal): Promise<number> {
  let peak = 0;
  while (!signal.aborted) {
    const usages = await Promise.all(pids.map(usageOf));
    peak = Math.max(
      peak,
      usages.reduce((sum, usage) => sum + (usage?.rssBytes ?? 0), 0),
    );
    await delay(SAMPLE_MS, undefined, { signal }).catch(() => undefined);
  }
  return peak;
}

interface Closed {
  readonly type: string;
  readonly startedMs: number;
  readonly events: number;
}

/** Every execution of the run's workflows, all of them ended. The list lags behind: it is read until it says so. */
async function closedWorkflows(client: Client, id: string): Promise<Closed[]> {
  for (let tries = 0; ; tries += 1) {
    const found: Closed[] = [];
    let open = 0;
    for await (const info of client.workflow.list({ query: `WorkflowId = "${id}" OR SwarmRun = "${id}"` })) {
      if (info.status.name === 'RUNNING') open += 1;
      found.push({ type: info.type, startedMs: info.startTime.getTime(), events: info.historyLength ?? 0 });
    }
    if (open === 0) return found;
    if (tries > 60) throw new Error(`${open} workflows of ${id} are still open though the run has ended`);
    await delay(500);
  }
}

function byType(workflows: readonly Closed[]): (readonly [string, number])[] {
  const sums = new Map<string, number>();
  for (const { type, events } of workflows) sums.set(type, (sums.get(type) ?? 0) + events);
  return [...sums].toSorted(([a], [b]) => a.localeCompare(b));
}

async function completed(stack: Stack, host: Host, run: string): Promise<Complete[]> {
  const db = connect(stack.env['DATABASE_URL']!, { max: 2 });
  try {
    const timelines = await host.timelines();
    const landed = new Map<string, number | null>();
    for (const task of timelines.keys()) {
      for (const { landedAtMs } of await listAttempts(db, run, task)) landed.set(task, landedAtMs);
    }
    return [...timelines].map(([task, times]) => {
      const complete = { ...times, landedMs: landed.get(task) };
      const missing = [
        'claimedMs',
        'agentStartMs',
        'agentEndMs',
        'submittedMs',
        'gateStartMs',
        'gateEndMs',
        'landedMs',
      ].filter((name) => typeof Reflect.get(complete, name) !== 'number');
      if (missing.length > 0) throw new Error(`Task ${task} of ${run} has no ${missing.join(', ')}`);
      return complete as Complete;
    });
  } finally {
    await db.end();
  }
}
