/**
 * A Docker engine that a test may kill: own data root, socket, containerd and pid file. Needs root and dockerd.
 *
 * It runs in a network namespace of its own. Without one, `--bridge=none` deletes the host's docker0, which is the usual engine's, and every
 * container with a network fails from then on. (It happened.) So its tcp address is a forwarder of ours to its socket.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type Docker from 'dockerode';
import { connectDocker, removeTree } from '../../../sandbox/index.ts';

export const canRunEngine =
  process.getuid?.() === 0 && spawnSync('unshare', ['-n', 'dockerd', '--version']).status === 0;

export interface OwnEngine {
  readonly socket: string;
  readonly tcp: string;
  readonly docker: Docker;
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

export async function ownEngine(): Promise<OwnEngine> {
  const dir = mkdtempSync(join(tmpdir(), 'swarmline-engine-'));
  const socket = join(dir, 'docker.sock');
  const forwarder = createServer((near) => {
    const far = connect(socket);
    near.on('error', () => far.destroy()).on('close', () => far.destroy());
    far.on('error', () => near.destroy()).on('close', () => near.destroy());
    near.pipe(far).pipe(near);
  }).listen(0, '127.0.0.1');
  await once(forwarder, 'listening');
  const tcp = `tcp://127.0.0.1:${(forwarder.address() as AddressInfo).port}`;
  const docker = connectDocker({ DOCKER_HOST: `unix://${socket}` });
  let daemon: ChildProcess | null = null;
  const containerdFile = join(dir, 'exec/containerd/containerd.pid');

  /** A containerd whose engine was killed dies with it, a moment later, and may stay as a zombie that the next engine takes for alive. */
  async function forgetContainerd(): Promise<void> {
    for (let round = 0; round < 50 && existsSync(containerdFile); round += 1) {
      const stat = await readFile(`/proc/${readFileSync(containerdFile, 'utf8')}/stat`, 'utf8').catch(() => null);
      if (stat === null || stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z')) rmSync(containerdFile);
      else await sleep(100);
    }
  }

  async function start(): Promise<void> {
    await forgetContainerd();
    rmSync(join(dir, 'pid'), { force: true }); // a killed engine leaves it, and the next one refuses to start
    const log = openSync(join(dir, 'log'), 'a');
    const args = [
      '--data-root',
      join(dir, 'data'),
      '--exec-root',
      join(dir, 'exec'),
      '--pidfile',
      join(dir, 'pid'),
      '--host',
      `unix://${socket}`,
    ];
    // unshare becomes dockerd, so the pid is the engine's.
    daemon = spawn('unshare', ['-n', 'dockerd', ...args, '--bridge=none', '--iptables=false', '--ip-forward=false'], {
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    const end = Date.now() + 60_000;
    for (;;) {
      try {
        await docker.ping();
        return;
      } catch (error) {
        if (Date.now() > end || daemon.exitCode !== null)
          throw new Error(`dockerd did not start: ${readFileSync(join(dir, 'log'), 'utf8').slice(-2000)}`, {
            cause: error,
          });
        await sleep(100);
      }
    }
  }

  async function kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const running = daemon;
    if (running === null || running.exitCode !== null || running.signalCode !== null) return;
    const exit = once(running, 'exit');
    running.kill(signal);
    await exit;
  }

  mkdirSync(join(dir, 'data'));
  await start();
  return {
    socket,
    tcp,
    docker,
    kill,
    start,
    async close() {
      for (const { Id } of await docker.listContainers({ all: true }).catch(() => []))
        await docker
          .getContainer(Id)
          .remove({ force: true })
          .catch(() => undefined);
      await kill('SIGTERM');
      await forgetContainerd();
      if (existsSync(containerdFile)) process.kill(Number(readFileSync(containerdFile, 'utf8')), 'SIGKILL'); // one that was adopted outlives its engine
      forwarder.close();
      await removeTree(dir);
    },
  };
}
