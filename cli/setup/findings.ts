/** Looks at everything that swarmline needs on this machine. Reads and asks; starts and installs nothing. */
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { checkEngine } from '../../sandbox/docker.ts';
import { MissingError } from '../exit.ts';
import { installCommand } from './apt.ts';
import { dockerAnswers, dockerClient } from './docker.ts';
import { run, which } from './exec.ts';
import { SANDBOX_IMAGE } from './image-inputs.ts';
import { imageState } from './image.ts';
import { packagedBinaries } from './postgres-files.ts';
import { databaseFault, databaseUrl } from './postgres.ts';
import type { Settings } from './settings.ts';
import { temporalAddress, temporalAnswers, temporalUi } from './temporal-server.ts';
import { findTemporal, TEMPORAL_VERSION } from './temporal.ts';
import { workerHealthy, workerRunning, WORKERS } from './worker-processes.ts';

export interface Finding {
  readonly name: string;
  /** stopped: can run and does not; that is nothing missing. */
  readonly state: 'present' | 'stopped' | 'missing';
  readonly detail: string;
  /** What to type; one line each. */
  readonly command?: readonly string[];
}

/** Below this the sandbox host has no room for images, workspaces and databases. */
const ENOUGH_BYTES = 5 * 2 ** 30;

const UP = ['./swarmline up'];

/** A check that throws MissingError is a finding, too. */
async function find(name: string, look: () => Promise<Omit<Finding, 'name'>>): Promise<Finding> {
  try {
    return { name, ...(await look()) };
  } catch (error) {
    const { what, command } = error instanceof MissingError ? error.explanation : { what: (error as Error).message };
    const commands = command === undefined ? UP : typeof command === 'string' ? [command] : command;
    return { name, state: 'missing', detail: what, command: commands };
  }
}

async function program(name: string, flag: string, packages: readonly string[]): Promise<Omit<Finding, 'name'>> {
  const path = await which(name);
  if (path === null) return { state: 'missing', detail: 'not installed', command: [installCommand(packages)] };
  return { state: 'present', detail: (await run([path, flag])).split('\n')[0]!.trim() };
}

async function engine(settings: Settings): Promise<Omit<Finding, 'name'>> {
  const docker = dockerClient(settings);
  if (!(await dockerAnswers(docker))) {
    const there = (await which('dockerd')) !== null;
    const detail =
      settings.given.dockerHost === null
        ? there
          ? 'installed, does not answer'
          : 'not installed'
        : `does not answer at DOCKER_HOST=${settings.given.dockerHost}`;
    return { state: 'missing', detail, command: ['./swarmline up --yes'] };
  }
  await checkEngine(docker);
  const version = await docker.version();
  return { state: 'present', detail: `${version.Version} at ${settings.given.dockerHost ?? settings.engine.socket}` };
}

async function image(settings: Settings): Promise<Omit<Finding, 'name'>> {
  const docker = dockerClient(settings);
  if (!(await dockerAnswers(docker)))
    return { state: 'missing', detail: 'needs the Docker engine', command: ['./swarmline up --yes'] };
  const state = await imageState(docker);
  if (state === 'present') return { state, detail: SANDBOX_IMAGE };
  return {
    state: 'missing',
    detail: state === 'missing' ? `${SANDBOX_IMAGE} is not built` : `${SANDBOX_IMAGE} is outdated`,
    command: UP,
  };
}

async function postgres(settings: Settings): Promise<Omit<Finding, 'name'>> {
  const url = databaseUrl(settings);
  if (settings.given.databaseUrl !== null) {
    const fault = await databaseFault(settings.given.databaseUrl);
    if (fault === null) return { state: 'present', detail: 'answers at DATABASE_URL' };
    return {
      state: 'missing',
      detail: `does not answer at DATABASE_URL: ${fault}`,
      command: ['psql "$DATABASE_URL" -c "select 1"'],
    };
  }
  const version = (await run([join(packagedBinaries(), 'bin', 'postgres'), '--version'])).trim();
  if (url !== null && (await databaseFault(url)) === null) {
    return { state: 'present', detail: `${version}, answers on port ${settings.ports.postgres}` };
  }
  return { state: 'stopped', detail: `${version}, does not run`, command: UP };
}

async function server(settings: Settings): Promise<Omit<Finding, 'name'>> {
  const address = temporalAddress(settings);
  if (await temporalAnswers(settings)) {
    const ui = temporalUi(settings);
    return { state: 'present', detail: `answers at ${address}${ui === null ? '' : `, UI ${ui}`}` };
  }
  if (settings.given.temporalAddress === null) return { state: 'stopped', detail: 'does not run', command: UP };
  return {
    state: 'missing',
    detail: `does not answer at TEMPORAL_ADDRESS=${address}`,
    command: [`temporal operator cluster health --address ${address}`],
  };
}

async function worker(settings: Settings, name: (typeof WORKERS)[number]): Promise<Omit<Finding, 'name'>> {
  if (await workerHealthy(settings, name)) return { state: 'present', detail: 'ready' };
  const running = await workerRunning(settings, name);
  return { state: 'stopped', detail: running ? 'runs, is not ready' : 'does not run', command: UP };
}

async function room(settings: Settings): Promise<Omit<Finding, 'name'>> {
  const nearest = [settings.stateDir, join(settings.stateDir, '..'), '/'];
  for (const folder of nearest) {
    const stats = await statfs(folder).catch(() => null);
    if (stats === null) continue;
    const free = stats.bavail * stats.bsize;
    const detail = `${(free / 2 ** 30).toFixed(0)} GiB free for ${settings.stateDir}`;
    return free >= ENOUGH_BYTES
      ? { state: 'present', detail }
      : { state: 'missing', detail, command: ['docker system df', './swarmline gc'] };
  }
  return { state: 'present', detail: 'unknown' };
}

/** Everything, in the order in which it is needed. */
export function examine(settings: Settings): Promise<Finding[]> {
  return Promise.all([
    find('Node', async () => ({ state: 'present', detail: process.version })),
    find('git', () => program('git', '--version', ['git'])),
    find('Temporal CLI', async () => {
      const path = await findTemporal(settings);
      return path === null
        ? { state: 'missing', detail: `${TEMPORAL_VERSION} is neither on PATH nor in the cache`, command: UP }
        : { state: 'present', detail: path };
    }),
    find('Docker engine', () => engine(settings)),
    find('sandbox image', () => image(settings)),
    find('Postgres', () => postgres(settings)),
    find('Temporal server', () => server(settings)),
    ...WORKERS.map((name) => find(`${name} worker`, () => worker(settings, name))),
    find('disk', () => room(settings)),
  ]);
}
