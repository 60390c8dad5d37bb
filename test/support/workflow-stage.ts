/** A real Temporal server with workers whose activities are a FakeWorld. One server for a test file, fresh queues are not needed: ids differ. */
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { bundleWorkflowCode, Runtime, Worker } from '@temporalio/worker';
import type { WorkflowBundle } from '@temporalio/worker';
import { SEARCH_ATTRIBUTES } from '../../workflows/attributes.ts';
import type { FakeWorld } from './fake-activities.ts';
import { temporalBin } from './temporal-bin.ts';

const quiet = { trace() {}, debug() {}, info() {}, warn() {}, error: console.error, log() {} };

export interface Stage {
  readonly env: TestWorkflowEnvironment;
  readonly bundle: WorkflowBundle;
  /** Runs `act` while workers serve every queue with this world. */
  play<T>(world: FakeWorld, act: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** @param limits further dynamic configuration of the server, e.g. a history length at which it suggests to continue as new. */
export async function openStage(limits: readonly string[] = []): Promise<Stage> {
  Runtime.install({ logger: quiet });
  const dynamic = [
    'system.enableActivityEagerExecution=true',
    'frontend.activityAPIsEnabled=true',
    'matching.useNewMatcher=true',
    ...limits,
  ];
  const [env, bundle] = await Promise.all([
    TestWorkflowEnvironment.createLocal({
      server: {
        executable: { type: 'existing-path', path: temporalBin() },
        searchAttributes: [...SEARCH_ATTRIBUTES],
        extraArgs: dynamic.flatMap((value) => ['--dynamic-config-value', value]),
      },
    }),
    bundleWorkflowCode({ workflowsPath: new URL('../../workflows/index.ts', import.meta.url).pathname, logger: quiet }),
  ]);
  const worker = (taskQueue: string, activities: object, workflows = false): Promise<Worker> =>
    Worker.create({
      connection: env.nativeConnection,
      taskQueue,
      activities,
      maxHeartbeatThrottleInterval: '1s',
      defaultHeartbeatThrottleInterval: '1s',
      shutdownGraceTime: '1s',
      ...(workflows ? { workflowBundle: bundle } : {}),
    });
  return {
    env,
    bundle,
    async play(world, act) {
      const workers = await Promise.all([
        worker('swarmline', world.records(), true),
        worker('swarmline-mainline', world.mainline()),
        worker('swarmline-sandbox', world.attempts()),
        worker('swarmline-sandbox@fake-host', world.host()),
      ]);
      const [first, ...others] = workers;
      const running = others.map((other) => other.run());
      try {
        return await first.runUntil(act());
      } finally {
        for (const other of others) other.shutdown();
        await Promise.all(running);
      }
    },
    close: () => env.teardown(),
  };
}

/** Waits for a condition, looking every 50 ms; fails with what it waited for. */
export async function until(what: string, test: () => boolean | Promise<boolean>, ms = 20_000): Promise<void> {
  const end = Date.now() + ms;
  while (!(await test())) {
    if (Date.now() > end) throw new Error(`Waited ${ms} ms in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
