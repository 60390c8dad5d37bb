/** Queue `swarmline-mainline`, and the HTTP address from which sandbox hosts fetch commits and to which they return results. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from '@temporalio/worker';
import { createHubs } from '../activities/hubs.ts';
import { createMainlineActivities } from '../activities/mainline.ts';
import { startHubServer } from '../mainline/hub-server.ts';
import { credentialsIn } from './credentials.ts';
import type { RunningRole, WorkerContext } from './role.ts';
import { DEFAULT_PRICES } from '../spec/prices.ts';
import { loadPrices } from './upstreams.ts';
import { WORKER_TIMES } from './temporal.ts';

export async function startMainline({ config, db, temporal, log }: WorkerContext): Promise<RunningRole> {
  await mkdir(config.hubRoot, { recursive: true });
  const hubs = createHubs(db, config.hubRoot);
  const credential = credentialsIn(config.credentialsDir, join(config.stateDir, 'known_hosts'));
  const server = await startHubServer({
    root: config.hubRoot,
    token: config.hubToken,
    host: config.hubHost,
    port: Number(new URL(config.hubUrl).port || 80),
    onError: (error) => log.error({ error: String(error) }, 'hub server failed'),
  });
  const worker = await Worker.create({
    ...temporal,
    ...WORKER_TIMES,
    taskQueue: 'swarmline-mainline',
    activities: createMainlineActivities({
      db,
      hubRoot: config.hubRoot,
      hub: hubs.open,
      credential,
      prices: [loadPrices(config.pricesFile), DEFAULT_PRICES],
    }),
  });
  return {
    workers: [worker],
    close: async () => {
      await server.close();
      await hubs.close();
    },
  };
}
