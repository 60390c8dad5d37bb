/**
 * Starting a Docker engine by hand, where no service manager does it.
 *
 * Invariants
 * 1. A pid file whose process is gone, is a zombie or is no dockerd is removed first: dockerd would refuse to start.
 * 2. A containerd left behind by a killed dockerd is taken over by dockerd itself; only when the start failed is it
 *    stopped, and only the one whose pid file is below our exec root and whose command line names that root.
 */
import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { MissingError } from '../exit.ts';
import { which } from './exec.ts';
import { logFile, pidFile, startFailure } from './places.ts';
import { poll, processIdentity, readRunning, startDaemon } from './process.ts';
import type { Settings } from './settings.ts';

const NAME = 'dockerd';
const READY_MS = 60_000;

/** The arguments of our engine. Pure. */
export function engineArguments({ engine }: Settings): string[] {
  return [
    '--host',
    `unix://${engine.socket}`,
    '--data-root',
    engine.dataRoot,
    '--exec-root',
    engine.execRoot,
    '--pidfile',
    engine.pidFile,
    ...engine.options,
  ];
}

async function pidIn(file: string): Promise<number | null> {
  const pid = Number((await readFile(file, 'utf8').catch(() => '')).trim());
  return Number.isInteger(pid) && pid > 0 ? pid : null;
}

async function commandOf(pid: number): Promise<string[]> {
  if ((await processIdentity(pid)) === null) return [];
  return (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
}

/** Removes the engine's pid file when it names no dockerd that lives. */
export async function clearStalePid(file: string): Promise<void> {
  const pid = await pidIn(file);
  const command = pid === null ? [] : await commandOf(pid);
  if (!(command[0] ?? '').endsWith('dockerd')) await rm(file, { force: true });
}

/** Stops a containerd that a killed dockerd left below this exec root. */
async function stopLeftover(execRoot: string): Promise<void> {
  const file = join(execRoot, 'containerd', 'containerd.pid');
  const pid = await pidIn(file);
  if (pid === null) return;
  const command = await commandOf(pid);
  if (command.some((argument) => argument.startsWith(`${execRoot}/`))) {
    const identity = await processIdentity(pid);
    process.kill(pid, 'SIGTERM');
    const gone = await poll(async () => ((await processIdentity(pid)) === identity ? null : true), 10_000);
    if (gone === null) process.kill(pid, 'SIGKILL');
  }
  await rm(file, { force: true });
}

/** Starts dockerd and waits until `answers`; throws MissingError with the end of its log. */
export async function startDockerd(settings: Settings, answers: () => Promise<boolean>): Promise<void> {
  const binary = (await which('dockerd', { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/bin` })) ?? 'dockerd';
  for (const last of [false, true]) {
    await clearStalePid(settings.engine.pidFile);
    await mkdir(dirname(settings.engine.socket), { recursive: true });
    if ((await readRunning(pidFile(settings, NAME))) === null) {
      await startDaemon({
        argv: [binary, ...engineArguments(settings)],
        cwd: '/',
        env: process.env,
        logFile: logFile(settings, NAME),
        pidFile: pidFile(settings, NAME),
      });
    }
    const ready = await poll(async () => {
      if (await answers()) return 'ready' as const;
      return (await readRunning(pidFile(settings, NAME))) === null ? ('ended' as const) : null;
    }, READY_MS);
    if (ready === 'ready') return;
    if (last || ready === null) throw await startFailure(settings, NAME, 'The Docker engine', ready === 'ended');
    await stopLeftover(settings.engine.execRoot);
  }
}

/** What a person types to start an engine by hand. */
export const startCommand = (settings: Settings): string => `dockerd ${engineArguments(settings).join(' ')} &`;

/** Thrown where this machine cannot have an engine started by us. */
export function cannotStart(why: string, commands: readonly string[]): MissingError {
  return new MissingError({ what: 'No Docker engine answers on this machine.', why, command: commands });
}
