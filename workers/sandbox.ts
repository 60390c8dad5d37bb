/** Queues `swarmline-sandbox` (any host) and `swarmline-sandbox@<host>` (this one): containers. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from '@temporalio/worker';
import { Gauge } from 'prom-client';
import type { AttemptDeps } from '../activities/attempt-ports.ts';
import { attemptStore } from '../activities/attempt-store.ts';
import { createAttemptActivities } from '../activities/attempt.ts';
import { createHostActivities } from '../activities/host.ts';
import { controlPath, createGatewayClient } from '../gateway/index.ts';
import { createHubClient } from '../mainline/hub-client.ts';
import {
  collectTree,
  connectDocker,
  createSandbox,
  openWorkspace,
  resolveImage,
  sandboxUser,
} from '../sandbox/index.ts';
import { startServices } from '../sandbox/services.ts';
import { ensureSetup } from '../sandbox/setup.ts';
import { removeHost, touchHost } from '../store/index.ts';
import { admissionSlots } from './admission-slots.ts';
import { every } from './every.ts';
import type { RunningRole, WorkerContext } from './role.ts';
import { WORKER_TIMES } from './temporal.ts';

/** Under the 60 s after which the store takes a host for gone. */
const TOUCH_MS = 5_000;
const REAP_MS = 60_000;

export async function startSandbox({ config, db, temporal, log, registry }: WorkerContext): Promise<RunningRole> {
  const stateDir = join(config.stateDir, 'sandbox');
  await mkdir(stateDir, { recursive: true });
  const docker = connectDocker(process.env);
  const sandbox = createSandbox({ ...config, docker, stateDir, log });
  const client = createHubClient({
    url: config.hubUrl,
    token: config.hubToken,
    mirrorRoot: join(stateDir, 'mirrors'),
    localRoot: config.localHubRoot,
  });
  const { uid } = sandboxUser();
  const deps: AttemptDeps = {
    hostId: config.hostId,
    stateDir,
    store: attemptStore(db),
    hub: client,
    sandbox,
    gateway: createGatewayClient(controlPath(config.gatewayDir)),
    collectTree,
    ensureSetup: (request) => ensureSetup({ ...request, sandbox, cacheDir: join(stateDir, 'setup') }),
    openWorkspace: (request) => openWorkspace({ ...request, stateDir, uid }),
    startServices: (request) => startServices({ ...request, sandbox }),
    resolveImage: (image) => resolveImage(docker, image),
    now: Date.now,
    log,
  };

  const reap = async (): Promise<void> => {
    const gone = await sandbox.reap();
    if (gone > 0) log.info({ gone }, 'removed what a dead worker left behind');
  };
  await reap();
  const touch = (): Promise<void> =>
    touchHost(db, { id: config.hostId, slots: config.slots, running: sandbox.slots.taken });
  await touch();
  const timers = [every(TOUCH_MS, touch, log), every(REAP_MS, reap, log)];

  new Gauge({
    name: 'swarmline_slots',
    help: 'Container slots of this host',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      this.set({ state: 'total' }, sandbox.slots.total);
      this.set({ state: 'taken' }, sandbox.slots.taken);
      this.set({ state: 'waiting' }, sandbox.slots.waiting);
    },
  });

  const attempts = await Worker.create({
    ...temporal,
    ...WORKER_TIMES,
    taskQueue: 'swarmline-sandbox',
    activities: createAttemptActivities(deps),
    tuner: {
      workflowTaskSlotSupplier: { type: 'fixed-size', numSlots: 1 },
      activityTaskSlotSupplier: admissionSlots(sandbox, config.slots, (why) =>
        log.info({ why }, 'takes no work for now'),
      ),
      localActivityTaskSlotSupplier: { type: 'fixed-size', numSlots: 1 },
      nexusTaskSlotSupplier: { type: 'fixed-size', numSlots: 1 },
    },
  });
  const host = await Worker.create({
    ...temporal,
    ...WORKER_TIMES,
    taskQueue: `swarmline-sandbox@${config.hostId}`,
    activities: createHostActivities({ sandbox }),
  });
  return {
    workers: [attempts, host],
    close: async () => {
      for (const timer of timers) clearInterval(timer);
      await removeHost(db, config.hostId).catch(() => undefined); // the database may be gone already; the host then counts as dead in a minute
    },
  };
}
