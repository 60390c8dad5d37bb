/** The Docker engine: the given one, the one at the default socket, or one that we install and start with leave. */
import { existsSync } from 'node:fs';
import { access, constants, readdir } from 'node:fs/promises';
import type Docker from 'dockerode';
import { connectDocker } from '../../sandbox/docker.ts';
import { engineCall } from '../../sandbox/engine-call.ts';
import { MissingError } from '../exit.ts';
import type { Progress } from '../progress.ts';
import { canInstall, install, installCommand } from './apt.ts';
import { askConsent } from './consent.ts';
import { cannotStart, startCommand, startDockerd } from './docker-daemon.ts';
import { run, which } from './exec.ts';
import { poll } from './process.ts';
import { DEFAULT_SOCKET } from './settings.ts';
import type { Settings } from './settings.ts';

const PACKAGES = ['docker.io', 'containerd', 'runc', 'iptables', 'ca-certificates'];
const PING_MS = 5_000;
/** How long an engine that a package or service manager has just started may take. */
const SERVICE_MS = 30_000;

/** A client for the engine that set-up is about. Opens nothing. */
export function dockerClient(settings: Settings, env: NodeJS.ProcessEnv = process.env): Docker {
  const ours = settings.given.dockerHost === null && settings.engine.socket !== DEFAULT_SOCKET;
  return connectDocker(ours ? { ...env, DOCKER_HOST: `unix://${settings.engine.socket}` } : env);
}

/** Does an engine answer? */
export async function dockerAnswers(docker: Docker): Promise<boolean> {
  try {
    await engineCall('ping', PING_MS, () => docker.ping());
    return true;
  } catch {
    return false;
  }
}

const installed = async (): Promise<boolean> =>
  (await which('dockerd', { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/bin` })) !== null;

/** Is systemd the service manager that runs? Its own way of asking. */
const systemdRuns = (): boolean => existsSync('/run/systemd/system');

/** An engine of ours has run here before: leave to start it was given then. */
const startedBefore = async (settings: Settings): Promise<boolean> =>
  (await readdir(settings.engine.dataRoot).catch(() => [])).length > 0;

/** The socket is there but not for this user; null when that is not the matter. */
async function forbidden(settings: Settings): Promise<MissingError | null> {
  if (!existsSync(settings.engine.socket)) return null;
  const allowed = await access(settings.engine.socket, constants.R_OK | constants.W_OK).then(
    () => true,
    () => false,
  );
  if (allowed) return null;
  return new MissingError({
    what: `This user may not use the Docker engine at ${settings.engine.socket}.`,
    command: ['sudo usermod -aG docker "$USER"', 'newgrp docker'],
  });
}

export interface EngineOptions {
  readonly yes: boolean;
  readonly progress: Progress;
}

/** An engine that answers. Throws MissingError with what to type when there is none and we may not start one. */
export async function ensureDocker(
  settings: Settings,
  { yes, progress }: EngineOptions,
): Promise<{ docker: Docker; how: 'given' | 'already running' | 'started' }> {
  const docker = dockerClient(settings);
  const answers = (): Promise<boolean> => dockerAnswers(docker);
  if (await answers()) return { docker, how: settings.given.dockerHost === null ? 'already running' : 'given' };
  if (settings.given.dockerHost !== null) {
    throw new MissingError({
      what: `No Docker engine answers at DOCKER_HOST=${settings.given.dockerHost}.`,
      command: ['docker version', 'unset DOCKER_HOST   # to use this machine’s own'],
    });
  }
  const denied = await forbidden(settings);
  if (denied !== null) throw denied;

  const present = await installed();
  const service = systemdRuns() && settings.engine.socket === DEFAULT_SOCKET;
  const start = service ? 'systemctl enable --now docker' : startCommand(settings);
  const commands = [...(present ? [] : [installCommand(PACKAGES)]), start];
  if (process.getuid?.() !== 0) {
    throw cannotStart(
      'Installing and starting one needs root.',
      commands.map((command) => `sudo sh -c '${command}'`),
    );
  }
  if (!present && !(await canInstall())) {
    throw cannotStart('swarmline can install one on Debian and Ubuntu only.', [
      'install Docker Engine as its documentation says for this system',
      'export DOCKER_HOST=tcp://host:2376   # to use another machine’s',
    ]);
  }
  const offer = {
    what: present ? 'The Docker engine is installed but does not run.' : 'There is no Docker engine on this machine.',
    commands,
  };
  await askConsent(offer, yes || (present && (await startedBefore(settings))));
  if (!present) await progress.step('installing the Docker engine', (note) => install(PACKAGES, note));
  await progress.step('starting the Docker engine', async () => {
    // The package may have started it already; a service manager is always asked first.
    if (service) await run(['systemctl', 'enable', '--now', 'docker']).catch(() => '');
    if (service && (await poll(async () => ((await answers()) ? true : null), SERVICE_MS)) !== null) return;
    if (await answers()) return;
    await startDockerd(settings, answers);
  });
  return { docker, how: 'started' };
}
