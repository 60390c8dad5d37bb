/** What no container of ours is without, step or service: no capability, no new privileges, a limit on every resource, namespaces of its own. */
import type Docker from 'dockerode';
import type { Limits } from '../spec/model.ts';

export function confinement(limits: Limits): Docker.HostConfig {
  return {
    Init: true,
    Privileged: false,
    AutoRemove: false,
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges:true'],
    Memory: limits.memoryBytes,
    MemorySwap: limits.memoryBytes,
    NanoCpus: Math.round(limits.cpus * 1e9),
    PidsLimit: limits.pids,
    OomScoreAdj: 500,
    Ulimits: [
      { Name: 'nofile', Soft: 8192, Hard: 8192 },
      { Name: 'core', Soft: 0, Hard: 0 },
      { Name: 'fsize', Soft: limits.diskBytes, Hard: limits.diskBytes },
    ],
    IpcMode: 'private',
    CgroupnsMode: 'private',
    RestartPolicy: { Name: 'no' },
    LogConfig: { Type: 'none', Config: {} },
  } as Docker.HostConfig; // CgroupnsMode is missing in the types
}
