/** What the sandbox's tests share: a sandbox of an own instance, a repository of given files, a place that goes away. */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type Docker from 'dockerode';
import type { Limits } from '../../../spec/model.ts';
import {
  type Sandbox,
  type StepKey,
  type StepOptions,
  type StepOutcome,
  type StepRequest,
  type Workspace,
  connectDocker,
  createSandbox,
  openWorkspace,
  removeTree,
  sandboxUser,
} from '../../../sandbox/index.ts';

export const IMAGE = process.env['SWARMLINE_TEST_IMAGE'] ?? 'swarmline/node:22';
const MIB = 2 ** 20;
export const LIMITS: Limits = {
  cpus: 1,
  memoryBytes: 256 * MIB,
  pids: 128,
  diskBytes: 64 * MIB,
  outputBytes: MIB,
  agentMs: 60_000,
  stepMs: 60_000,
};

export const quietLog = { info: () => undefined, warn: () => undefined };

export interface Bench {
  readonly docker: Docker;
  readonly sandbox: Sandbox;
  readonly instance: string;
  readonly stateDir: string;
  /** A new bare repository with one commit of these files. A Buffer value is stored as it is. */
  repository(files: Readonly<Record<string, string | Buffer>>): { gitDir: string; commit: string; tree: string };
  workspace(
    repository: { gitDir: string; commit: string },
    options?: { diskBytes?: number; store?: 'auto' | 'loop' | 'directory' },
  ): Promise<Workspace>;
  request(argv: readonly string[], change?: Partial<StepRequest> & { readonly step?: string }): StepRequest;
  /** Runs a shell line with the workspace and returns its outcome and output. */
  run(
    line: string,
    workspace?: Workspace | null,
    change?: Partial<StepRequest>,
    options?: StepOptions,
  ): Promise<StepOutcome & { output: string }>;
  /** Containers of this bench that the engine knows. */
  containers(): Promise<Docker.ContainerInfo[]>;
  close(): Promise<void>;
}

export function openBench(change: { slots?: number; docker?: Docker; hostId?: string } = {}): Bench {
  const stateDir = mkdtempSync(join(tmpdir(), 'swarmline-sandbox-'));
  const instance = `t${randomUUID().slice(0, 8)}`;
  const docker = change.docker ?? connectDocker(process.env);
  const sandbox = createSandbox({
    docker,
    instance,
    hostId: change.hostId ?? 'test-host',
    stateDir,
    caBundle: null,
    slots: change.slots ?? 16,
    log: quietLog,
  });
  const workspaces: Workspace[] = [];
  let count = 0;
  const containers = (): Promise<Docker.ContainerInfo[]> =>
    docker.listContainers({ all: true, filters: { label: [`swarmline.instance=${instance}`] } });

  const request: Bench['request'] = (argv, over = {}) => {
    count += 1;
    const { step, ...rest } = over;
    const key: StepKey = { run: 'r1', task: 't1', attempt: 1, kind: 'agent', step: step ?? `s${count}` };
    return {
      key,
      image: IMAGE,
      argv,
      env: {},
      workspace: null,
      mounts: [],
      stdinFile: null,
      limits: LIMITS,
      deadlineMs: 60_000,
      network: 'none',
      outputFile: join(stateDir, 'out', `${count}.log`),
      ...rest,
    };
  };

  return {
    docker,
    sandbox,
    instance,
    stateDir,
    repository(files) {
      const gitDir = mkdtempSync(join(stateDir, 'repo-'));
      const work = `${gitDir}.files`;
      for (const [path, content] of Object.entries(files)) {
        mkdirSync(join(work, dirname(path)), { recursive: true });
        writeFileSync(join(work, path), content);
      }
      mkdirSync(work, { recursive: true });
      const env = {
        PATH: process.env['PATH'],
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_CONFIG_GLOBAL: '/dev/null',
        HOME: '/nonexistent',
        GIT_DIR: gitDir,
      };
      const git = (args: string[], input = ''): string =>
        execFileSync('git', args, { env, input, cwd: work }).toString().trim();
      git(['init', '-q', '--bare', gitDir]);
      const lines = Object.keys(files).map(
        (path) => `100644 ${git(['hash-object', '-w', '--no-filters', '--', path])}\t${path}\0`,
      );
      git(['update-index', '-z', '--index-info'], lines.join(''));
      const tree = git(['write-tree']);
      const commit = git(['-c', 'user.name=t', '-c', 'user.email=t@t', 'commit-tree', tree, '-m', 'base']);
      return { gitDir, commit, tree };
    },
    async workspace({ gitDir, commit }, options = {}) {
      const opened = await openWorkspace({
        stateDir,
        gitDir,
        treeish: commit,
        diskBytes: options.diskBytes ?? LIMITS.diskBytes,
        uid: sandboxUser().uid,
        name: 'test',
        ...(options.store === undefined ? {} : { store: options.store }),
      });
      workspaces.push(opened);
      return opened;
    },
    request,
    async run(line, workspace = null, over = {}, options = {}) {
      const asked = request(['sh', '-c', line], {
        ...(workspace === null ? {} : { workspace: { dir: workspace.dir, readOnly: false } }),
        ...over,
      });
      const outcome = await sandbox.runStep(asked, options);
      return { ...outcome, output: readFileSync(asked.outputFile, 'latin1') };
    },
    containers,
    async close() {
      for (const { Id } of await containers())
        await docker
          .getContainer(Id)
          .remove({ force: true, v: true })
          .catch(() => undefined);
      for (const workspace of workspaces) await workspace.close();
      await removeTree(stateDir);
    },
  };
}
