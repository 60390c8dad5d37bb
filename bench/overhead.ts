/**
 * What coordination adds: the whole system but the containers (real Temporal on a file, real Postgres, real orchestrator and mainline
 * workers, a real hub, the real activities), tasks whose agents wait for a fixed time, as many as are to be in flight at once.
 *
 * 1. Everything runs in a state folder and on ports of its own, and is stopped and removed at the end, also when it is interrupted.
 * 2. The peer, a plain semaphore in this process with the same tasks, runs at the same time.
 */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { setTimeout as delay } from 'node:timers/promises';
import { EXIT, QuietExit } from '../cli/exit.ts';
import type { Progress } from '../cli/progress.ts';
import { isolatedEnvironment, startStack } from '../cli/setup/stack.ts';
import type { Stack } from '../cli/setup/stack.ts';
import { removeTree } from '../sandbox/owned-directory.ts';
import { forkHost } from './overhead-fork.ts';
import type { HostSettings } from './overhead-host.ts';
import { playRun } from './overhead-run.ts';
import type { Played } from './overhead-run.ts';
import { taskName, taskPath } from './overhead-spec.ts';
import { budgetRatio, peakInFlight, waitsOf } from './overhead-times.ts';
import { bareRepository, taskCommits } from './repository.ts';
import { mean, row } from './row.ts';
import type { Row } from './row.ts';

/** DESIGN.md section 8. */
const EVENTS_BUDGET = 60; // not judged below 64 tasks, where the run's own events are most of them
const MEMORY_BUDGET_MIB = 1024;

export interface OverheadBench {
  readonly seconds: number;
  readonly levels: readonly number[];
  readonly spread: number;
  readonly activities: HostSettings['activities'];
  readonly keep: boolean;
  readonly progress: Progress;
}

export async function overhead(bench: OverheadBench): Promise<Row[]> {
  const { seconds, levels, keep, progress } = bench;
  const stateDir = await mkdtemp(join(tmpdir(), 'swarmline-bench-overhead-'));
  let stack: Stack | null = null;
  const interrupted = new Promise<never>((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => reject(new QuietExit(EXIT.failed)));
  });
  interrupted.catch(() => undefined);
  try {
    stack = await startStack(await isolatedEnvironment(stateDir), { workers: ['orchestrator', 'mainline'], progress });
    const rows: Row[] = [];
    for (const inFlight of levels) {
      const title = `${inFlight} tasks of ${seconds} s in flight`;
      rows.push(
        ...(await progress.step(title, (update) =>
          Promise.race([interrupted, level(stack!, bench, inFlight, stateDir, update)]),
        )),
      );
    }
    return rows;
  } finally {
    await stack?.stop();
    if (keep) progress.line(`the state is in ${stateDir}`);
    else await removeTree(stateDir);
  }
}

async function level(
  stack: Stack,
  { seconds, spread, activities }: OverheadBench,
  inFlight: number,
  stateDir: string,
  update: (note: string) => void,
): Promise<Row[]> {
  const names = Array.from({ length: inFlight }, (_, nth) => taskName(nth));
  const origin = join(stateDir, `origin-${inFlight}.git`);
  const repository = await bareRepository(origin, inFlight, (nth) => taskPath(taskName(nth)));
  await taskCommits(
    repository,
    names.map((name) => ({ name, path: taskPath(name) })),
  );
  const host = await forkHost(stack.env, { seconds, spread, inFlight, activities, origin });
  try {
    const [played, peer] = await Promise.all([
      playRun(stack, host, { url: `file://${origin}`, id: `overhead-${inFlight}`, inFlight, update }),
      semaphore(inFlight, seconds),
    ]);
    return rowsOf(played, peer, inFlight, seconds);
  } finally {
    await host.stop();
  }
}

/** The same tasks without us: mean seconds from startable to done. */
async function semaphore(tasks: number, seconds: number): Promise<number> {
  const limit = pLimit(tasks);
  const started = performance.now();
  const done = await Promise.all(
    Array.from({ length: tasks }, () =>
      limit(async () => {
        await delay(seconds * 1000);
        return performance.now() - started;
      }),
    ),
  );
  return mean(done) / 1000;
}

function rowsOf(played: Played, peerSeconds: number, inFlight: number, seconds: number): Row[] {
  const waits = waitsOf(played.tasks, played.startableMs);
  const named = (name: string): string => `overhead/${inFlight}: ${name}`;
  const { parts } = waits;
  const peer = { name: 'semaphore in one process', value: peerSeconds };
  return [
    row({ name: named(`time of a task of ${seconds} s, startable to landed`), value: waits.task, unit: 's', peer, budget: budgetRatio(inFlight, seconds) ?? undefined }),
    row({ name: named('waiting on us, per task'), value: waits.waiting, unit: 's' }),
    row({ name: named('waiting on us, of the agent’s time'), value: (100 * waits.waiting) / waits.agent, unit: '%' }),
    row({ name: named('… the same for tasks of 120 s'), value: (100 * waits.waiting) / 120, unit: '%' }),
    row({ name: named('until a host takes it'), value: parts.claim, unit: 's' }),
    row({ name: named('until the agent runs'), value: parts.prepare, unit: 's' }),
    row({ name: named('agent’s end to commit in the hub'), value: parts.collect, unit: 's' }),
    row({ name: named('until the gate begins'), value: parts.queueForGate, unit: 's' }),
    row({ name: named('gate'), value: parts.gate, unit: 's' }),
    row({ name: named('gate’s end to landed'), value: parts.land, unit: 's' }),
    row({ name: named('agents at once, at most'), value: peakInFlight(played.tasks), unit: 'tasks' }),
    row({ name: named('workflow events per task, all workflows'), value: played.events / played.tasks.length, unit: 'events', budget: inFlight < 64 ? undefined : EVENTS_BUDGET }),
    ...played.eventsByType.map(([type, events]) => row({ name: named(`events per task in ${type}`), value: events / played.tasks.length, unit: 'events' })),
    row({ name: named('memory of our workers, at most'), value: played.peakRssBytes / 2 ** 20, unit: 'MiB', budget: inFlight === 1024 ? MEMORY_BUDGET_MIB : undefined }),
    ...played.cpu.map(([name, cpuSeconds]) => row({ name: named(`CPU per task: ${name}`), value: (1000 * cpuSeconds) / played.tasks.length, unit: 'ms' })),
  ]; // prettier-ignore
}
