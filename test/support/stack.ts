/**
 * A whole system for a test file: real Temporal server, Postgres and Docker engine, worker processes from dist/, on ports, a state folder
 * and container labels of its own.
 *
 * 1. Nothing waits for a guess: `until` asks again until there is an answer, and says what it waited for when there is none.
 * 2. `stop` leaves no process, no container and no file, whatever a test left running.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import type Docker from 'dockerode';
import { createProgress } from '../../cli/progress.ts';
import { projectRoot } from '../../cli/setup/root.ts';
import type { Settings } from '../../cli/setup/settings.ts';
import { isolatedEnvironment, startStack } from '../../cli/setup/stack.ts';
import type { WorkerName } from '../../cli/setup/worker-processes.ts';
import { statusLines } from '../../cli/render/status.ts';
import { needsPerson } from '../../cli/render/waiting.ts';
import { connectDocker } from '../../sandbox/index.ts';
import { removeTree } from '../../sandbox/owned-directory.ts';
import { connect, runOverview } from '../../store/index.ts';
import type { Pool, RunOverview } from '../../store/index.ts';
import { temporalBin } from './temporal-bin.ts';

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Container labels to look for; `swarmline.` is put before each name. */
export type Labels = Readonly<Record<string, string>>;

export interface TestStack {
  /** For whatever a test needs on disk; removed at the end. */
  readonly dir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly settings: Settings;
  readonly db: Pool;
  readonly client: Client;
  readonly docker: Docker;
  /** The built command, its output through pipes. */
  swarmline(...args: string[]): Promise<Ended>;
  temporal(...args: string[]): Promise<Ended>;
  /** Writes JSON to a file of its own and gives its path. */
  file(name: string, content: unknown): Promise<string>;
  /** Submits a spec as a person would who has only Temporal: `temporal workflow start`. Throws when that fails. */
  submit(run: string, spec: unknown): Promise<void>;
  /** Containers of this stack, stopped ones too. */
  containers(labels?: Labels): Promise<Docker.ContainerInfo[]>;
  /** The run as soon as `test` holds of it. A run that ends, or that only a person can move, without it is a failure soon. */
  awaitRun(run: string, what: string, test: (overview: RunOverview) => boolean, ms?: number): Promise<RunOverview>;
  hubDir(run: string): string;
  stop(): Promise<void>;
}

export async function openTestStack(
  options: { readonly workers?: readonly WorkerName[]; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<TestStack> {
  const dir = await mkdtemp(join(tmpdir(), 'swarmline-e2e-'));
  const quiet = createProgress({ write: () => true });
  const given = { ...(await isolatedEnvironment(dir)), SWARMLINE_TEMPORAL_BIN: temporalBin(), ...options.env };
  const closers: (() => Promise<unknown>)[] = [
    // A worker that was killed has left its workspaces mounted.
    () => removeTree(dir),
  ];
  const stop = async (): Promise<void> => {
    const failures: unknown[] = [];
    for (const close of closers.splice(0).toReversed()) {
      await close().catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw new AggregateError(failures, 'the stack of a test did not stop cleanly');
  };
  try {
    const docker = connectDocker(process.env);
    const stack = await startStack(given, {
      progress: quiet,
      ...(options.workers === undefined ? {} : { workers: options.workers }),
    });
    const { env, settings } = stack;
    const own = { instance: env['SWARMLINE_INSTANCE'] ?? '' };
    const containers = (labels: Labels = {}): Promise<Docker.ContainerInfo[]> =>
      listContainers(docker, { ...own, ...labels });
    closers.push(async () => removeContainers(docker, await containers()));
    closers.push(() => stack.stop());
    const db = connect(env['DATABASE_URL'] ?? '', { max: 3 });
    closers.push(() => db.end());
    const address = env['TEMPORAL_ADDRESS'] ?? '';
    const connection = await Connection.connect({ address });
    closers.push(() => connection.close());

    const file = async (name: string, content: unknown): Promise<string> => {
      const path = join(dir, name);
      await writeFile(path, JSON.stringify(content));
      return path;
    };
    const temporal = (...args: string[]): Promise<Ended> =>
      execute([temporalBin(), ...args, '--address', address], { env });
    return {
      dir,
      env,
      settings,
      db,
      client: new Client({ connection, namespace: settings.namespace }),
      docker,
      swarmline: (...args) => execute([process.execPath, join(projectRoot(), 'dist/cli/main.js'), ...args], { env }),
      temporal,
      file,
      async submit(run, spec) {
        const input = await file(`${run}.json`, spec);
        const start = ['workflow', 'start', '--type', 'runSpec', '--task-queue', 'swarmline', '--fail-existing'];
        const { code, err } = await temporal(...start, '--workflow-id', run, '--input-file', input);
        if (code !== 0) throw new Error(`temporal workflow start failed: ${err}`);
      },
      containers,
      awaitRun: (run, what, test, ms) => awaitRun(db, run, what, test, ms),
      hubDir: (run) => join(settings.stateDir, 'hubs', `${run}.git`),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

export function execute(
  argv: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<Ended> {
  const [file = '', ...args] = argv;
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let [out, err] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, err }));
  });
}

/** Asks every 100 ms until there is an answer other than null and false. */
export async function until<T>(what: string, question: () => Promise<T | null | false>, ms = 120_000): Promise<T> {
  const deadline = Date.now() + ms;
  for (;;) {
    const answer = await question();
    if (answer !== null && answer !== false) return answer;
    if (Date.now() > deadline) throw new Error(`Waited ${ms} ms in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function awaitRun(
  db: Pool,
  run: string,
  what: string,
  test: (overview: RunOverview) => boolean,
  ms = 150_000,
): Promise<RunOverview> {
  const deadline = Date.now() + ms;
  let movedAt = Date.now();
  for (;;) {
    const overview = await runOverview(db, run);
    if (overview !== null && test(overview)) return overview;
    const ended = overview !== null && overview.run.outcome !== null;
    if (overview === null || !needsPerson(overview)) movedAt = Date.now();
    const stuck = Date.now() - movedAt > 20_000;
    if (ended || stuck || Date.now() > deadline) {
      const state = overview === null ? 'it has no row' : statusLines(overview, { width: 200 }).join('\n');
      const how = ended ? 'It ended without' : stuck ? 'It waits for a person without' : `Waited ${ms} ms in vain for`;
      throw new Error(`${how} "${what}" of ${run}:\n${state}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

export function listContainers(docker: Docker, labels: Labels): Promise<Docker.ContainerInfo[]> {
  const label = Object.entries(labels).map(([name, value]) => `swarmline.${name}=${value}`);
  return docker.listContainers({ all: true, filters: { label } });
}

export async function removeContainers(docker: Docker, containers: readonly Docker.ContainerInfo[]): Promise<void> {
  for (const { Id } of containers) {
    await docker
      .getContainer(Id)
      .remove({ force: true })
      .catch((error: { statusCode?: number }) => {
        if (error.statusCode !== 404 && error.statusCode !== 409) throw error; // gone, or on its way
      });
  }
}

/** Lets containers go on that wait with `untilTold`; returns when they have ended. */
export async function tellToGoOn(stack: TestStack, labels: Labels): Promise<void> {
  await until(`the containers of ${JSON.stringify(labels)} go on`, async () => {
    const waiting = await stack.containers({ ...labels, kind: 'agent' });
    const signalled = waiting.map(({ Id }) => stack.docker.getContainer(Id).kill({ signal: 'SIGWINCH' }));
    await Promise.all(signalled.map((sent) => sent.catch(() => undefined))); // it may have ended just now
    return waiting.length === 0;
  });
}

/** State of a task, null where the run has none of that name. */
export const stateOf = (overview: RunOverview, task: string): string | null =>
  overview.tasks.find(({ id }) => id === task)?.state ?? null;
