/** A run without Temporal, Postgres or a server: a real hub behind its server, a real Docker engine, a store in memory, and the activities over them. */
import { PLANNING } from '../../support/planning.ts';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { ActivityCancellationDetails } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { AttemptDeps, AttemptStore } from '../../../activities/attempt-ports.ts';
import { createAttemptActivities } from '../../../activities/attempt.ts';
import type { AttemptActivities, RunAgentInput, RunGateInput } from '../../../activities/contract.ts';
import type { LastFailure } from '../../../engines/index.ts';
import { git, gitText, readFileAt, writeCommit } from '../../../mainline/git.ts';
import { createHubClient } from '../../../mainline/hub-client.ts';
import { startHubServer } from '../../../mainline/hub-server.ts';
import { createHub } from '../../../mainline/hub.ts';
import type { Hub } from '../../../mainline/hub.ts';
import {
  collectTree,
  connectDocker,
  createSandbox,
  openWorkspace,
  resolveImage,
  sandboxUser,
} from '../../../sandbox/index.ts';
import { removeTree } from '../../../sandbox/owned-directory.ts';
import { startServices } from '../../../sandbox/services.ts';
import { ensureSetup } from '../../../sandbox/setup.ts';
import type { NewReview } from '../../../store/index.ts';
import type { Evaluation } from '../../../spec/evaluation.ts';
import type { Decision } from '../../../spec/plan/index.ts';
import type { BaselineRecord } from '../../../spec/gate/baseline.ts';
import type {
  AgentResult,
  CompiledSpec,
  GateResult,
  GateStep,
  ConfiguredStepName,
  Role,
  TaskSpec,
} from '../../../spec/model.ts';

jest.setTimeout(120_000);
// A red or cancelled activity is what these tests are about, not something to warn of.
const environmentOf = (): MockActivityEnvironment =>
  new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });

const MIB = 2 ** 20;
export const RUN = 'run-1';

export function taskOf(id: string, over: Partial<TaskSpec> = {}): TaskSpec {
  return {
    id, kind: 'work', goal: `Do ${id}.`, interface: '', files: { allow: ['src/**', 'test/**'], forbid: [], reference: [] }, acceptance: ['It is done.'],
    tests: {}, dependsOn: [], priority: 0, role: 'worker', run: null, script: null, mayBeEmpty: false, ...over,
  }; // prettier-ignore
}

/** A task that writes files. */
export const writes = (id: string, files: Record<string, string | null>, over: Partial<TaskSpec> = {}): TaskSpec =>
  taskOf(id, {
    script: [{ edits: Object.entries(files).map(([path, content]) => ({ path, content })), waitMs: 0, exitCode: 0 }],
    ...over,
  });

export type Commands = Partial<
  Record<ConfiguredStepName, string | { report?: string; command: string; wave?: string }>
>;

function steps(commands: Commands): GateStep[] {
  return (
    Object.entries(commands) as [ConfiguredStepName, string | { report?: string; command: string; wave?: string }][]
  ).map(([name, given]) => {
    const step = typeof given === 'string' ? { command: given } : given;
    return {
      name,
      skip: false,
      commands: { task: step.command, mainline: step.command, wave: step.wave ?? step.command },
      report: step.report ?? null,
    };
  });
}

interface SpecChange {
  gate: Commands;
  tasks: TaskSpec[];
  engine?: 'scripted' | 'command' | 'claude-code';
  /** The hub is on another machine: commits come by a mirror. */
  remote?: boolean;
  protected?: string[];
  coverage?: CompiledSpec['gate']['coverage'];
  baseline?: 'refuse' | 'record';
  limits?: Partial<CompiledSpec['sandbox']['limits']>;
  setup?: CompiledSpec['sandbox']['setup'];
  evaluate?: CompiledSpec['evaluate'];
  mutation?: CompiledSpec['policy']['mutation'];
  reviewers?: CompiledSpec['reviewers'];
  merger?: Role;
  /** Instead of its container: what an agent that only answers says, by the name of its step. */
  answers?: (step: string) => string | { exitCode: number };
}

function specOf(change: SpecChange): CompiledSpec {
  return {
    name: RUN, goal: 'Test', deliver: { branch: 'swarmline/run-1' }, tasks: change.tasks,
    repository: {
      url: null, branch: 'main', credentials: null, contracts: [], manifests: ['package.json'], protected: change.protected ?? [], union: [], maxFileBytes: MIB, fieldGuide: 'docs/field-guide',
    },
    gate: { steps: steps(change.gate), coverage: change.coverage ?? null },
    sandbox: {
      image: process.env['SWARMLINE_TEST_IMAGE'] ?? 'swarmline/node:22', setup: change.setup ?? null, services: {},
      limits: { cpus: 1, memoryBytes: 256 * MIB, pids: 128, diskBytes: 64 * MIB, outputBytes: MIB, agentMs: 30_000, stepMs: 30_000, ...change.limits },
    },
    engines: {},
    roles: { worker: { engine: change.engine ?? 'scripted', model: null }, ...(change.merger === undefined ? {} : { merger: change.merger }) },
    reviewers: change.reviewers ?? [],
    planning: PLANNING,
    evaluate: change.evaluate ?? null,
    policy: {
      schedule: 'waves', attempts: 4, fixAttempts: 2, inFlight: 8, overlap: 'refuse', approve: [], baseline: change.baseline ?? 'refuse', scaffold: [], breaks: [],
      gateProof: 'warn', verify: 'batch', scope: 'ask', reviews: 'any-blocking', mutation: change.mutation ?? { check: 'off', timeMs: 300_000, faults: 20 }, keepDays: 14,
    },
    budget: { usd: null, tokens: null, modelCalls: 20, roles: {}, task: { usd: null, tokens: null } }, notify: { on: [], run: null, webhook: null },
  }; // prettier-ignore
}

export interface MemoryStore extends AttemptStore {
  readonly decided: Decision[];
  readonly notes: { kind: string; task: string | null; message: string }[];
  readonly artifacts: Map<string, string>;
  readonly ended: Map<string, { outcome: string; why: string }>;
  readonly gates: Map<string, GateResult>;
  readonly given: Map<string, NewReview[]>;
  /** Findings that a later attempt followed: `<attempt>: <reviewer>.<n>`. */
  readonly followed: string[];
  readonly mergers: Map<string, { ofAttempt: number; paths: readonly string[]; merges: readonly string[] }>;
}

function memoryStore(spec: CompiledSpec): MemoryStore {
  const artifacts = new Map<string, string>();
  const ended = new Map<
    string,
    { outcome: string; why: string; artifact: string | null; attempt: number; task: string }
  >();
  const agents = new Map<string, AgentResult>();
  const gates = new Map<string, GateResult>();
  const decided: Decision[] = [];
  const evaluations: Evaluation[] = [];
  const notes: { kind: string; task: string | null; message: string }[] = [];
  const reviews = new Map<string, NewReview[]>();
  const mergers: MemoryStore['mergers'] = new Map();
  const followed: string[] = [];
  let baseline: BaselineRecord | null = null;
  const of = (key: { task: string | null; attempt: number }): string => `${key.task ?? ''}/${key.attempt}`;
  return {
    artifacts, ended, gates, given: reviews, followed, mergers, decided, notes,
    decisions: async () => decided,
    note: async (_run, { kind, task = null, message }) => void notes.push({ kind, task, message }),
    spec: async () => spec,
    task: async (_run, id) => spec.tasks.find((task) => task.id === id) as TaskSpec,
    tasks: async () => [...spec.tasks],
    agentResult: async (key) => agents.get(of(key)) ?? null,
    startAttempt: async () => undefined,
    recordAgent: async (key, result) => {
      if (!agents.has(of(key))) agents.set(of(key), result);
      return agents.get(of(key)) as AgentResult;
    },
    markAttempt: async () => undefined,
    endAttempt: async (key, { outcome, why, failureArtifact }) =>
      void ended.set(of(key), { outcome, why, artifact: failureArtifact, attempt: key.attempt, task: key.task }),
    plan: async () => ({ spec, nodes: [], tasks: [], decisions: [] }),
    planAnswer: async () => null,
    savePlanAnswer: async () => undefined,
    workLog: async (_run, { kinds, limit }) => notes.filter(({ kind }) => kinds.includes(kind)).map((note, i) => ({ key: String(i), ...note })).slice(-limit),
    takeNotices: async () => [],
    lastFailure: async (_run, id, mergerOf = null) => {
      const last = [...ended.values()].filter((end) => end.task === id && end.outcome !== 'cancelled' && (mergers.get(of(end))?.ofAttempt ?? null) === mergerOf).toSorted((a, b) => b.attempt - a.attempt)[0];
      if (last === undefined) return null;
      return { cause: last.outcome, why: last.why, log: artifacts.get(`${id}/${last.attempt}/${last.artifact}`) ?? '' } as LastFailure;
    },
    saveArtifact: async (name, content) => void artifacts.set(`${of(name)}/${name.name}`, content.toString()),
    artifact: async (name) => artifacts.get(`${of(name)}/${name.name}`) ?? null,
    reviews: async (key) => reviews.get(of(key)) ?? [],
    saveReview: async (key, review) => void reviews.set(of(key), [...(reviews.get(of(key)) ?? []).filter(({ reviewer }) => reviewer !== review.reviewer), review]),
    saveMergerAttempt: async (key, about) => void mergers.set(of(key), about),
    openFindings: async ({ task, attempt }) =>
      [...reviews].flatMap(([id, list]) => {
        const [ofTask, nth] = id.split('/');
        const made = agents.get(id);
        if (ofTask !== task || Number(nth) >= attempt || made?.ok !== true) return [];
        return list.flatMap(({ reviewer, verdict }) =>
          (verdict?.findings ?? []).flatMap(({ file, line }, n) => (file === null ? [] : [{ attempt: Number(nth), reviewer, n, file, line, commit: made.commit }])),
        );
      }),
    markFollowed: async (_run, _task, found) => void followed.push(...found.map(({ attempt, reviewer, n }) => `${attempt}: ${reviewer}.${n}`)),
    gateResult: async (_run, key, level, commit) => gates.get(`${key} ${level} ${commit}`) ?? null,
    saveGateResult: async (ref, result) => void gates.set(`${ref.key} ${ref.level} ${ref.commit}`, result),
    evaluations: async () => evaluations,
    saveEvaluation: async (_run, evaluation) => void evaluations.push(evaluation),
    baseline: async () => baseline,
    noteImage: async () => undefined,
    saveBaseline: async (_run, record) => void (baseline = record),
  }; // prettier-ignore
}

export interface World {
  readonly base: string;
  readonly hub: Hub;
  readonly store: MemoryStore;
  readonly deps: AttemptDeps;
  readonly activities: AttemptActivities;
  /** Containers that were started, by kind and step. */
  readonly started: string[];
  /** Sockets that were opened: role and seat. */
  readonly seats: string[];
  /** What lay in the workspace of an agent that only answers, by the name of its step. */
  readonly shown: ReadonlyMap<string, readonly string[]>;
  perform<T>(work: () => Promise<T>): Promise<T>;
  agent(task: string, attempt?: number, startFrom?: RunAgentInput['startFrom']): Promise<AgentResult>;
  gate(over: Partial<RunGateInput> & { commit: string }): Promise<GateResult>;
  taskGate(task: string, commit: string, over?: Partial<RunGateInput>): Promise<GateResult>;
  proof(commit: string, sample: number): ReturnType<AttemptActivities['proveGate']>;
  /** Runs an activity that can be cancelled. */
  start<T>(work: () => Promise<T>): {
    result: Promise<T>;
    /** Resolves when a container of it is there; rejects when it ended before. */
    inContainer(): Promise<void>;
    cancel(): void;
  };
  file(treeish: string, path: string): Promise<string | null>;
  /** A commit on top of another that puts files, as somebody else's work on the line. */
  commit(over: string, files: Record<string, string | null>): Promise<string>;
  containers(): Promise<number>;
  /** Throws when a container was left behind. */
  close(): Promise<void>;
}

export async function world(files: Record<string, string>, change: SpecChange): Promise<World> {
  const root = await mkdtemp(join(tmpdir(), 'swarmline-gate-'));
  const hub = await createHub({
    dir: join(root, 'hubs', `${RUN}.git`),
    url: null,
    branch: 'main',
    credential: null,
    union: [],
  });
  const commit: World['commit'] = async (over, put) => {
    const env = { GIT_INDEX_FILE: join(root, `index-${randomUUID()}`) };
    await git(hub.dir, ['read-tree', over], { env });
    for (const [path, content] of Object.entries(put)) {
      const oid =
        content === null
          ? '0'.repeat(40)
          : await gitText(hub.dir, ['hash-object', '-w', '--stdin'], { input: content });
      await git(hub.dir, ['update-index', '--add', '--index-info'], {
        env,
        input: `${content === null ? '0' : '100644'} ${oid}\t${path}\n`,
      });
    }
    const tree = await gitText(hub.dir, ['write-tree'], { env });
    return writeCommit(hub.dir, { tree, parents: [over], message: 'Put', atMs: Date.UTC(2026, 10, 30) });
  };
  const base = await commit((await hub.heads()).main, files);
  for (const ref of ['refs/heads/main', 'refs/swarmline/verified', 'refs/swarmline/next'])
    await git(hub.dir, ['update-ref', ref, base]);

  const token = randomUUID();
  const server = await startHubServer({ root: join(root, 'hubs'), token, port: 0, host: '127.0.0.1' });
  const docker = connectDocker(process.env);
  const instance = `g${randomUUID().slice(0, 8)}`;
  const log = { info: () => undefined, warn: () => undefined };
  const sandbox = createSandbox({ docker, instance, hostId: 'host-1', stateDir: root, caBundle: null, slots: 4, log });
  const started: string[] = [];
  const seats: string[] = [];
  const shown = new Map<string, string[]>();
  const store = memoryStore(specOf(change));
  const deps: AttemptDeps = {
    gateway: {
      open: async ({ role, seat }) => {
        if (change.answers === undefined) throw new Error('no gateway in this test');
        seats.push(`${role} ${seat ?? ''}`);
        return root;
      },
      close: async () => undefined,
    },
    hostId: 'host-1', stateDir: root, store, log, now: Date.now, collectTree,
    sandbox: {
      ...sandbox,
      runStep: async (request, options) => {
        started.push(`${request.key.kind} ${request.key.step}`);
        if (change.answers === undefined || (request.key.step === 'agent' && change.engine !== 'claude-code') || request.key.kind !== 'agent') return sandbox.runStep(request, options);
        const said = change.answers(request.key.step);
        shown.set(request.key.step, await readdir(request.workspace!.dir));
        const exitCode = typeof said === 'string' ? 0 : said.exitCode;
        if (typeof said === 'string') await writeFile(request.outputFile, claudeSays(said));
        return { end: 'exited', exitCode, durationMs: 7, outputBytes: 0, truncated: false, childOom: false, detail: null };
      },
    },
    openWorkspace: (request) => openWorkspace({ ...request, stateDir: root, uid: sandboxUser().uid, store: 'directory' }),
    startServices: (request) => startServices({ ...request, sandbox }),
    ensureSetup: (request) => ensureSetup({ ...request, sandbox, cacheDir: join(root, 'setup'), lend: {} }),
    resolveImage: (image) => resolveImage(docker, image),
    hub: createHubClient({ url: server.url, token, mirrorRoot: join(root, 'mirrors'), localRoot: change.remote === true ? null : join(root, 'hubs') }),
  }; // prettier-ignore
  const activities = createAttemptActivities(deps);
  const perform = <T>(work: () => Promise<T>): Promise<T> => environmentOf().run(work);
  const gate: World['gate'] = (over) =>
    perform(() =>
      activities.runGate({
        run: RUN,
        key: 'mainline',
        level: 'mainline',
        base: null,
        task: null,
        attempt: null,
        onto: null,
        rerunRed: false,
        ...over,
      }),
    );
  const containers = async (): Promise<number> =>
    (await docker.listContainers({ all: true, filters: { label: [`swarmline.instance=${instance}`] } })).length;
  return {
    base, hub, store, deps, activities, started, seats, shown, gate, commit, containers, perform,
    agent: (task, attempt = 1, startFrom = 'verified') => perform(() => activities.runAgent({ run: RUN, task, round: 1, attempt, startFrom })),
    taskGate: (task, at, over = {}) => gate({ key: `${task}/1`, level: 'task', base, task, attempt: 1, onto: 'verified', commit: at, ...over }),
    proof: (at, sample) => perform(() => activities.proveGate({ run: RUN, commit: at, sample })),
    start: <T>(work: () => Promise<T>) => {
      const environment = environmentOf();
      const result: Promise<T> = environment.run(work);
      let ended = false;
      result.catch(() => undefined).finally(() => (ended = true));
      return {
        result,
        inContainer: async () => {
          while ((await containers()) === 0) {
            if (ended) throw new Error('It ended without a container', { cause: await result.catch((error: unknown) => error) });
            await new Promise((done) => setTimeout(done, 50));
          }
        },
        cancel: () => environment.cancel('CANCELLED', new ActivityCancellationDetails({ cancelRequested: true })),
      };
    },
    file: async (treeish, path) => (await readFileAt(hub.dir, treeish, path))?.toString('utf8') ?? null,
    close: async () => {
      const left = await containers();
      for (const { Id } of await docker.listContainers({ all: true, filters: { label: [`swarmline.instance=${instance}`] } }))
        await docker.getContainer(Id).remove({ force: true, v: true });
      await server.close();
      await removeTree(root);
      if (left > 0) throw new Error(`${left} containers were left behind`);
    },
  }; // prettier-ignore
}

/** As Claude Code prints an answer without a tool. */
const claudeSays = (text: string): string =>
  [
    { type: 'assistant', message: { content: [{ type: 'text', text }] } },
    { type: 'result', is_error: false, result: text },
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('');

export const okResult = (result: AgentResult): Extract<AgentResult, { ok: true }> => {
  if (!result.ok) throw new Error(`${result.cause}: ${result.why}`);
  return result;
};
