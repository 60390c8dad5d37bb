/** Queue `swarmline`: workflows and what they write to the store. */
import { Worker } from '@temporalio/worker';
import { createRecordActivities } from '../activities/records.ts';
import { DEFAULT_PRICES } from '../spec/prices.ts';
import { bundlePath } from './bundle-path.ts';
import { notify } from './notify.ts';
import type { RunningRole, WorkerContext } from './role.ts';
import { registerSearchAttributes, WORKER_TIMES } from './temporal.ts';
import { loadPrices } from './upstreams.ts';

export async function startOrchestrator({ config, db, temporal }: WorkerContext): Promise<RunningRole> {
  await registerSearchAttributes(temporal);
  const worker = await Worker.create({
    ...temporal,
    ...WORKER_TIMES,
    taskQueue: 'swarmline',
    workflowBundle: { codePath: bundlePath() },
    activities: createRecordActivities({ db, prices: [loadPrices(config.pricesFile), DEFAULT_PRICES], notify }),
  });
  return { workers: [worker], close: async () => undefined };
}
