/**
 * What a step's container may do. Measured: all of the hardening costs at most 5 % of a start.
 *
 * Invariants
 * 1. Not root, no capability, no new privileges, default seccomp, read-only root, own pid, ipc and cgroup namespaces, never privileged.
 * 2. Every resource has a limit: memory with swap, CPU, pids, files, tmpfs bytes and inodes, shared memory, file size.
 * 3. The environment is a list made here; nothing of the worker's own enters.
 * 4. Mounts are `Mounts`, never `Binds` (which would create a missing source as root), and never beneath /workspace, where the agent could plant a link.
 */
import type Docker from 'dockerode';
import { confinement } from './confinement.ts';
import { RequestRefused } from './faults.ts';
import type { Mount, StepRequest } from './types.ts';
import { sandboxUser } from './user.ts';

const MIB = 2 ** 20;

export function createOptions(
  request: StepRequest,
  name: string,
  labels: Record<string, string>,
): Docker.ContainerCreateOptions {
  const { uid, gid } = sandboxUser();
  const { limits, workspace, network } = request;
  const joined = typeof network === 'object';
  return {
    name,
    Image: request.image,
    // As entrypoint, so that an image's own cannot wrap it; with an entrypoint given the image's Cmd does not apply either.
    Entrypoint: commandOf(request),
    Cmd: [],
    User: `${uid}:${gid}`,
    WorkingDir: workspace === null ? '/tmp' : '/workspace',
    ...(joined ? {} : { Hostname: 'sandbox' }),
    Env: environment(request.env),
    Tty: false,
    OpenStdin: false,
    AttachStdout: true,
    AttachStderr: true,
    StopSignal: 'SIGKILL',
    Healthcheck: { Test: ['NONE'] },
    Labels: labels,
    HostConfig: {
      ...confinement(limits),
      NetworkMode: joined ? `container:${network.container}` : network,
      ReadonlyRootfs: true,
      Tmpfs: tmpfs(limits.memoryBytes, uid, gid),
      ShmSize: Math.min(64 * MIB, Math.floor(limits.memoryBytes / 16)),
      Mounts: mountsOf(request),
    },
  };
}

/** argv itself, or argv with a file as its standard input; argv passes as positional parameters, so nothing of it is interpreted. */
function commandOf(request: StepRequest): string[] {
  if (request.argv.length === 0) throw new RequestRefused(`Step ${request.key.step} has an empty argv.`);
  if (request.stdinFile === null) return [...request.argv];
  return ['/bin/sh', '-c', 'exec "$@" < "$0"', request.stdinFile, ...request.argv];
}

function environment(env: Readonly<Record<string, string>>): string[] {
  return Object.entries({ HOME: '/home/agent', LANG: 'C.UTF-8', CI: '1', ...env }).map(
    ([name, value]) => `${name}=${value}`,
  );
}

/** tmpfs counts as memory: together with shared memory these stay under it, so that filling them gives ENOSPC, not an out-of-memory kill. */
function tmpfs(memoryBytes: number, uid: number, gid: number): Record<string, string> {
  const tmp = Math.min(512 * MIB, Math.floor(memoryBytes / 2));
  const home = Math.min(256 * MIB, Math.floor(memoryBytes / 4));
  return {
    '/tmp': `rw,exec,nosuid,nodev,size=${tmp},nr_inodes=65536,mode=1777`,
    '/home/agent': `rw,exec,nosuid,nodev,size=${home},nr_inodes=32768,uid=${uid},gid=${gid},mode=0700`,
  };
}

function mountsOf(request: StepRequest): Docker.MountConfig {
  const all: Mount[] = request.mounts.map((mount) => checked(mount));
  if (request.workspace !== null) {
    all.unshift({ source: request.workspace.dir, target: '/workspace', readOnly: request.workspace.readOnly });
  }
  return all.map((mount) => ({
    Type: 'bind' as const,
    Source: mount.source,
    Target: mount.target,
    ReadOnly: mount.readOnly,
    BindOptions: { Propagation: 'rprivate' as const, NonRecursive: true },
  })) as Docker.MountConfig;
}

function checked(mount: Mount): Mount {
  const { source, target } = mount;
  if (!source.startsWith('/') || !target.startsWith('/') || /(^|\/)\.\.?(\/|$)/.test(target)) {
    throw new RequestRefused(`A mount needs two absolute plain paths, not ${source} at ${target}.`);
  }
  if (target === '/workspace' || target.startsWith('/workspace/')) {
    throw new RequestRefused(
      `Nothing is mounted at or beneath /workspace (${target}): the agent could have planted a link there.`,
    );
  }
  return mount;
}
