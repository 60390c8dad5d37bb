/**
 * What a service's container may do: less than Docker's default, more than a step's, since official images start as root and then step down.
 *
 * Invariants: no network but the step's own namespace; nothing of the host is mounted; memory, CPU, pids and log are limited.
 */
import type Docker from 'dockerode';
import type { Limits, Service } from '../spec/model.ts';
import { confinement } from './confinement.ts';

/** What database images need to take over their data directory and change to their own user. */
const CAPABILITIES = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'KILL', 'SETGID', 'SETUID'];

interface Wanted {
  readonly name: string;
  readonly image: string;
  readonly labels: Record<string, string>;
  readonly service: Service;
  readonly limits: Limits;
  /** Directories that the image declares as volumes: memory instead, so that nothing grows on the host's disk. */
  readonly volumes: readonly string[];
  /** The container whose network namespace it joins; null: it makes the namespace. */
  readonly joins: string | null;
  /** Names that resolve to the loopback address for all that share the namespace. */
  readonly names: readonly string[];
}

export function serviceOptions(wanted: Wanted): Docker.ContainerCreateOptions {
  const { limits, joins } = wanted;
  return {
    name: wanted.name,
    Image: wanted.image,
    Env: Object.entries(wanted.service.env).map(([name, value]) => `${name}=${value}`),
    ...(joins === null ? { Hostname: 'sandbox' } : {}),
    Tty: false,
    OpenStdin: false,
    AttachStdout: true,
    AttachStderr: true,
    StopSignal: 'SIGKILL',
    Healthcheck: { Test: ['NONE'] },
    Labels: wanted.labels,
    HostConfig: {
      ...confinement(limits),
      NetworkMode: joins === null ? 'none' : `container:${joins}`,
      // /etc/hosts is the namespace's, so these hold for the step as well.
      ...(joins === null ? { ExtraHosts: wanted.names.map((name) => `${name}:127.0.0.1`) } : {}),
      CapAdd: CAPABILITIES,
      Tmpfs: Object.fromEntries(
        wanted.volumes.map((path) => [path, `rw,nosuid,nodev,size=${Math.min(limits.diskBytes, limits.memoryBytes)}`]),
      ),
    },
  };
}
