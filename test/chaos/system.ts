/**
 * A whole system whose processes a test kills, and which is brought back as a person would: `./swarmline up`.
 *
 * 1. State folder, ports and container labels are its own; the engine that is killed is its own too, in a network namespace of its own
 *    (else it would take docker0 from the usual one).
 * 2. A kill returns when every process of it is gone. Nothing is waited for by a guess.
 * 3. `close` leaves no process, no container, no mount and no file.
 */
import { mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type Docker from 'dockerode';
import { createProgress } from '../../cli/progress.ts';
import { dockerClient, ensureDocker } from '../../cli/setup/docker.ts';
import { which } from '../../cli/setup/exec.ts';
import { pidFile } from '../../cli/setup/places.ts';
import { databaseUrl } from '../../cli/setup/postgres.ts';
import { processIdentity, readRunning } from '../../cli/setup/process.ts';
import { projectRoot } from '../../cli/setup/root.ts';
import { loadSettings } from '../../cli/setup/settings.ts';
import type { Settings } from '../../cli/setup/settings.ts';
import { isolatedEnvironment } from '../../cli/setup/stack.ts';
import { connectDocker, removeTree } from '../../sandbox/index.ts';
import { connect } from '../../store/index.ts';
import type { Pool } from '../../store/index.ts';
import { execute, listContainers, removeContainers, until } from '../support/stack.ts';
import type { Ended } from '../support/stack.ts';
import { temporalBin } from '../support/temporal-bin.ts';

/** `docker`: the engine. `docker-all`: with its containerd and every container's shim, as when the machine goes down. */
export type Victim = 'orchestrator' | 'mainline' | 'sandbox' | 'temporal' | 'postgres' | 'docker' | 'docker-all';

const IMAGE = 'swarmline/node:22';

export interface System {
  readonly dir: string;
  readonly settings: Settings;
  readonly instance: string;
  readonly docker: Docker;
  readonly db: Pool;
  swarmline(...args: string[]): Promise<Ended>;
  temporal(...args: string[]): Promise<Ended>;
  /** As a person would: the launcher. Returns the milliseconds that it took; throws what it said when it failed. */
  up(): Promise<number>;
  /** kill -9. */
  kill(victims: readonly Victim[]): Promise<void>;
  /** Containers of this system, stopped ones too. */
  containers(): Promise<Docker.ContainerInfo[]>;
  hubDir(run: string): string;
  close(): Promise<void>;
}

export async function openSystem(options: { readonly ownEngine: boolean }): Promise<System> {
  const dir = await mkdtemp(join(tmpdir(), 'swarmline-crash-'));
  const instance = basename(dir);
  const given: NodeJS.ProcessEnv = {
    ...(await isolatedEnvironment(dir)),
    SWARMLINE_TEMPORAL_BIN: temporalBin(),
    SWARMLINE_INSTANCE: instance,
    SWARMLINE_SKIP_BUILD: '1',
  };
  const env = options.ownEngine ? { ...given, ...(await engineOfItsOwn(dir)) } : given;
  if (options.ownEngine) delete env['DOCKER_HOST'];
  const settings = loadSettings(env);
  const docker = options.ownEngine ? dockerClient(settings, env) : connectDocker(env);
  if (options.ownEngine) await startEngine(settings, docker, env);

  const launcher = join(projectRoot(), 'swarmline');
  const swarmline = (...args: string[]): Promise<Ended> => execute([launcher, ...args], { env });
  const up = async (): Promise<number> => {
    const started = performance.now();
    const { code, out, err } = await swarmline('up', '--yes');
    if (code !== 0) throw new Error(`swarmline up exited ${code}:\n${out}${err}`);
    return Math.round(performance.now() - started);
  };
  const containers = (): Promise<Docker.ContainerInfo[]> => listContainers(docker, { instance });
  try {
    await up();
  } catch (error) {
    await swarmline('down');
    throw error;
  }
  const db = connect(databaseUrl(settings) ?? '', { max: 2 });
  return {
    dir,
    settings,
    instance,
    docker,
    db,
    swarmline,
    temporal: (...args) =>
      execute([temporalBin(), ...args, '--address', `127.0.0.1:${settings.ports.temporal}`], { env }),
    up,
    async kill(victims) {
      const pids = (await Promise.all(victims.map((victim) => processesOf(settings, victim)))).flat();
      await killAll(pids);
    },
    containers,
    hubDir: (id) => join(settings.stateDir, 'hubs', `${id}.git`),
    async close() {
      await db.end();
      await swarmline('down');
      await removeContainers(docker, await containers().catch(() => []));
      if (options.ownEngine) await stopEngine(settings);
      await removeTree(dir);
    },
  };
}

// ───────────────────────────── killing ─────────────────────────────

async function processesOf(settings: Settings, victim: Victim): Promise<number[]> {
  const name = { postgres: 'postgres', temporal: 'temporal', docker: 'dockerd', 'docker-all': 'dockerd' } as const;
  const file = victim in name ? name[victim as keyof typeof name] : `worker-${victim}`;
  const record = await readRunning(pidFile(settings, file));
  if (record === null) throw new Error(`${victim} does not run, so it cannot be killed`);
  if (victim === 'postgres') return [record.pid, ...(await childrenOf(record.pid))];
  if (victim === 'docker-all') return [record.pid, ...(await mentioning(settings.engine.execRoot))];
  return [record.pid];
}

const isPid = (name: string): boolean => /^\d+$/.test(name);

async function childrenOf(parent: number): Promise<number[]> {
  const pids = (await readdir('/proc')).filter(isPid);
  const stats = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)));
  // Field 4 of proc(5), right after the state: the parent.
  const parentOf = (stat: string): number => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  return pids.filter((_, at) => parentOf(stats[at] ?? '') === parent).map(Number);
}

/** containerd and shims: their command lines name the engine's own folder. */
async function mentioning(folder: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter(isPid);
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return pids
    .filter((_, at) => lines[at]!.includes(folder))
    .map(Number)
    .filter((pid) => pid !== process.pid);
}

async function killAll(pids: readonly number[]): Promise<void> {
  for (const pid of pids) signal(pid, 'SIGKILL');
  await until(`processes ${pids.join(', ')} are gone`, async () => {
    const left = await Promise.all(pids.map(processIdentity));
    return left.every((identity) => identity === null);
  });
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

// ───────────────────────────── an engine to kill ─────────────────────────────

/** Settings of an engine below `dir`, started by the `dockerd` on this PATH: the real one in a network namespace of its own. */
async function engineOfItsOwn(dir: string): Promise<NodeJS.ProcessEnv> {
  const real = (await which('dockerd', { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/bin` })) ?? 'dockerd';
  const [bin, engine] = [join(dir, 'bin'), join(dir, 'engine')];
  await mkdir(bin);
  await mkdir(engine);
  await writeFile(join(bin, 'dockerd'), `#!/bin/sh\nexec unshare -n ${real} "$@"\n`, { mode: 0o755 });
  return {
    PATH: `${bin}:${process.env['PATH'] ?? ''}`,
    SWARMLINE_DOCKER_SOCKET: join(engine, 'docker.sock'),
    SWARMLINE_DOCKER_DATA: join(engine, 'data'),
    SWARMLINE_DOCKER_EXEC: join(engine, 'exec'),
    SWARMLINE_DOCKER_PIDFILE: join(engine, 'docker.pid'),
    SWARMLINE_DOCKER_OPTIONS: '--bridge=none --iptables=false --ip-forward=false',
  };
}

/** Starts it and gives it the sandbox image of the usual engine: `up` would build one, which needs a network. */
async function startEngine(settings: Settings, docker: Docker, env: NodeJS.ProcessEnv): Promise<void> {
  const usual = process.env['PATH'];
  process.env['PATH'] = env['PATH'];
  try {
    await ensureDocker(settings, { yes: true, progress: createProgress({ write: () => true }) });
  } finally {
    process.env['PATH'] = usual;
  }
  const answer = await docker.loadImage(await connectDocker(process.env).getImage(IMAGE).get());
  await new Promise<void>((resolve, reject) => {
    docker.modem.followProgress(answer, (error) => (error ? reject(error) : resolve()));
  });
}

async function stopEngine(settings: Settings): Promise<void> {
  const record = await readRunning(pidFile(settings, 'dockerd'));
  if (record !== null) {
    signal(record.pid, 'SIGTERM');
    await until('the engine has stopped', async () => (await processIdentity(record.pid)) === null);
  }
  await killAll(await mentioning(settings.engine.execRoot));
}
