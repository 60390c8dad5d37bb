/**
 * A sandbox from nothing to gone, against `docker run --rm` of the same image: pairs one after the other, medians.
 *
 * Ours is openWorkspace (checkout of 200 files into a file system of its own), create, start, the command's first output, its end,
 * the container removed, the workspace closed. Docker's is what a person would type, with its default bridge network.
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MissingError } from '../cli/exit.ts';
import type { Progress } from '../cli/progress.ts';
import { git, gitText } from '../mainline/git.ts';
import { runGateSteps } from '../sandbox/gate.ts';
import { collectTree, connectDocker, createSandbox, openWorkspace, removeTree, sandboxUser } from '../sandbox/index.ts';
import type { Sandbox } from '../sandbox/index.ts';
import { openScratch } from '../sandbox/scratch.ts';
import type { PlannedStep } from '../spec/gate/plan.ts';
import type { Limits } from '../spec/model.ts';
import { bareRepository } from './repository.ts';
import { median, row } from './row.ts';
import type { Row } from './row.ts';

const run = promisify(execFile);
/** DESIGN.md section 8. */
const BUDGET = 1.5;
const FILES = 200;
const MANY_FILES = 2000;
const MIB = 2 ** 20;
/** A spec's defaults. */
const LIMITS: Limits = {
  cpus: 1,
  memoryBytes: 1024 * MIB,
  pids: 512,
  diskBytes: 2048 * MIB,
  outputBytes: 10 * MIB,
  agentMs: 900_000,
  stepMs: 600_000,
};
const COMMAND = ['/bin/sh', '-c', 'echo ready'];

export interface SandboxBench {
  readonly pairs: number;
  readonly image: string;
  readonly progress: Progress;
}

interface Place {
  readonly sandbox: Sandbox;
  readonly stateDir: string;
  readonly image: string;
}

export async function sandbox({ pairs, image, progress }: SandboxBench): Promise<Row[]> {
  await checkDocker(image);
  const stateDir = await mkdtemp(join(tmpdir(), 'swarmline-bench-sandbox-'));
  const quiet = { info: () => undefined, warn: () => undefined };
  const box = createSandbox({
    docker: connectDocker(process.env),
    instance: `bench-${randomUUID().slice(0, 8)}`,
    hostId: 'bench',
    stateDir,
    caBundle: null,
    slots: 4,
    log: quiet,
  });
  try {
    return await measure({ sandbox: box, stateDir, image }, pairs, progress);
  } finally {
    await box.stop('bench');
    await removeTree(stateDir);
  }
}

async function measure(place: Place, pairs: number, progress: Progress): Promise<Row[]> {
  const small = await bareRepository(join(place.stateDir, 'small.git'), FILES);
  const many = await bareRepository(join(place.stateDir, 'many.git'), MANY_FILES);
  const times = new Map<string, number[]>();
  const timed = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const started = performance.now();
    const result = await work();
    times.set(name, [...(times.get(name) ?? []), performance.now() - started]);
    return result;
  };
  const whole = async (): Promise<void> => {
    const workspace = await timed('open', () => workspaceOf(place, small));
    await step(place, workspace.dir);
    await timed('close', () => workspace.close());
  };
  const all: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['docker', () => run('docker', ['run', '--rm', place.image, ...COMMAND])],
    ['whole', whole],
    ['docker, no network', () => run('docker', ['run', '--rm', '--network', 'none', place.image, ...COMMAND])],
    ['step', () => step(place, null)],
    ['gate', () => gateStep(place, small)],
  ];
  for (const [, work] of all) await work(); // the first of each warms caches and is not counted
  times.clear();
  await progress.step(`${pairs} pairs of sandbox and docker run`, async (update) => {
    for (let pair = 1; pair <= pairs; pair += 1) {
      update(`${pair} of ${pairs}`);
      const order = pair % 2 === 0 ? all : all.toReversed(); // neither is always the one that comes after the other
      for (const [name, work] of order) await timed(name, work);
    }
  });
  const collected = await progress.step('collecting trees', () => collecting(place, many, Math.min(pairs, 7), timed));
  const of = (name: string): number => median(times.get(name)!);
  const docker = { name: 'docker run --rm', value: of('docker') };
  const bare = { name: 'docker run --rm --network none', value: of('docker, no network') };
  return [
    row({ name: `sandbox: workspace of ${FILES} files and step, opened to removed`, value: of('whole'), unit: 'ms', peer: docker, budget: BUDGET }),
    row({ name: 'sandbox: the same against no network', value: of('whole'), unit: 'ms', peer: bare }),
    row({ name: 'sandbox: step without workspace', value: of('step'), unit: 'ms', peer: docker }),
    row({ name: 'sandbox: step without workspace against no network', value: of('step'), unit: 'ms', peer: bare }),
    row({ name: `sandbox: openWorkspace alone, ${FILES} files`, value: of('open'), unit: 'ms' }),
    row({ name: 'sandbox: closing it', value: of('close'), unit: 'ms' }),
    row({ name: `sandbox: gate of one step \`true\`, ${FILES} files`, value: of('gate'), unit: 'ms', peer: docker }),
    row({ name: `sandbox: collectTree, ${MANY_FILES} files, one changed`, value: collected.ours, unit: 'ms', peer: { name: 'git add --all, write-tree', value: collected.git } }),
  ]; // prettier-ignore
}

async function checkDocker(image: string): Promise<void> {
  await run('docker', ['image', 'inspect', image]).catch((error: unknown) => {
    throw new MissingError({
      what: `docker run cannot be measured with the image ${image}.`,
      why: error instanceof Error ? error.message : String(error),
      command: './swarmline doctor',
    });
  });
}

const workspaceOf = (place: Place, repository: { gitDir: string; commit: string }) =>
  openWorkspace({
    stateDir: place.stateDir,
    gitDir: repository.gitDir,
    treeish: repository.commit,
    diskBytes: LIMITS.diskBytes,
    uid: sandboxUser().uid,
    name: 'bench',
  });

let steps = 0;
async function step({ sandbox: box, stateDir, image }: Place, dir: string | null): Promise<void> {
  const outcome = await box.runStep({
    key: { run: 'bench', task: 't', attempt: 1, kind: 'agent', step: `s${(steps += 1)}` },
    image,
    argv: COMMAND,
    env: {},
    workspace: dir === null ? null : { dir, readOnly: false },
    mounts: [],
    stdinFile: null,
    limits: LIMITS,
    deadlineMs: LIMITS.agentMs,
    network: 'none',
    outputFile: join(stateDir, 'out', `${steps}.log`),
  });
  if (outcome.end !== 'exited' || outcome.exitCode !== 0 || outcome.outputBytes !== 6)
    throw new Error(`A step ended ${outcome.end} with ${outcome.exitCode}: ${outcome.detail ?? ''}`);
}

/** A gate of one step as an activity runs it: scratch repository, fresh checkout, container, everything gone. */
async function gateStep(
  { sandbox: box, stateDir, image }: Place,
  repository: { gitDir: string; tree: string },
): Promise<void> {
  const scratch = await openScratch({ stateDir, source: repository.gitDir, union: [] });
  const planned: PlannedStep = {
    name: 'test',
    command: 'true',
    report: null,
    waived: false,
    coverage: null,
    coverageRequired: false,
  };
  try {
    const verdict = await runGateSteps(
      {
        key: { run: 'bench', task: 't', attempt: (steps += 1), kind: 'gate' },
        prefix: 't/1',
        scratch,
        tree: repository.tree,
        image,
        mounts: [],
        env: {},
        services: {},
        limits: LIMITS,
        changed: [],
        changedLines: async () => new Map(),
        baseline: null,
        rerunRed: false,
        stopAtRed: true,
        signal: new AbortController().signal,
      },
      {
        sandbox: box,
        openWorkspace: (request) => openWorkspace({ ...request, stateDir, uid: sandboxUser().uid }),
        startServices: async () => ({ network: 'none', close: async () => undefined }),
      },
      [planned],
    );
    if (verdict.red !== null) throw new Error('The gate was red');
  } finally {
    await scratch.close();
  }
}

type Timed = <T>(name: string, work: () => Promise<T>) => Promise<T>;

/** The tree of a workspace in which one file has changed, by us and by git itself on the same directory. */
async function collecting(
  place: Place,
  repository: { gitDir: string; commit: string; tree: string },
  times: number,
  timed: Timed,
): Promise<{ ours: number; git: number }> {
  const workspace = await workspaceOf(place, repository);
  const taken = { ours: [] as number[], git: [] as number[] };
  try {
    await run('sh', ['-c', 'echo changed > "$1/src/d0/f0.txt"', 'sh', workspace.dir]);
    for (let time = 0; time < times; time += 1) {
      let started = performance.now();
      const ours = await timed('collect', () =>
        collectTree({
          dir: workspace.dir,
          ...repository,
          objectDir: join(place.stateDir, `objects-${time}`),
          baseTree: repository.tree,
          limits: LIMITS,
        }),
      );
      taken.ours.push(performance.now() - started);
      const env = { GIT_INDEX_FILE: join(place.stateDir, `index-${time}`), GIT_WORK_TREE: workspace.dir };
      started = performance.now();
      await git(repository.gitDir, ['add', '--all', '.'], { env });
      const theirs = await gitText(repository.gitDir, ['write-tree'], { env });
      taken.git.push(performance.now() - started);
      if (!('tree' in ours) || ours.tree !== theirs) throw new Error('collectTree and git disagree about the tree');
    }
  } finally {
    await workspace.close();
  }
  return { ours: median(taken.ours), git: median(taken.git) };
}
