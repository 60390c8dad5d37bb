/** Workflow code may change only so that runs that are under way still replay: guarded by histories recorded from test/integration/workflows. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { bundleWorkflowCode, Runtime, Worker } from '@temporalio/worker';
import type { WorkflowBundle } from '@temporalio/worker';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const files = readdirSync(here('histories')).filter((name) => name.endsWith('.json'));
const quiet = { trace() {}, debug() {}, info() {}, warn() {}, error() {}, log() {} };

let workflowBundle: WorkflowBundle;
beforeAll(async () => {
  Runtime.install({ logger: quiet });
  workflowBundle = await bundleWorkflowCode({ workflowsPath: here('../../workflows/index.ts'), logger: quiet });
}, 60_000);

interface Recorded {
  workflowId: string;
  history: { events: { eventType: string }[] };
}
const replay = ({ workflowId, history }: Recorded): Promise<void> =>
  Worker.runReplayHistory({ workflowBundle }, history, workflowId);
const load = (name: string): Recorded => JSON.parse(readFileSync(here(join('histories', name)), 'utf8')) as Recorded;

describe("recorded histories replay on today's code", () => {
  test.each(files)('%s', async (name) => {
    await expect(replay(load(name))).resolves.toBeUndefined();
  });

  test('every workflow type has one', () => {
    const types = new Set(files.map((name) => name.split('-')[0]));
    expect(types).toEqual(new Set(['runSpec', 'mainline', 'wave', 'executeTask', 'planNode']));
  });

  test('a history that the code did not make is found', async () => {
    const name = files.find((file) => file.startsWith('executeTask'))!;
    const recorded = load(name);
    const scheduled = recorded.history.events.find(
      ({ eventType }) => eventType === 'EVENT_TYPE_ACTIVITY_TASK_SCHEDULED',
    ) as unknown as {
      activityTaskScheduledEventAttributes: { activityType: { name: string } };
    };
    scheduled.activityTaskScheduledEventAttributes.activityType.name = 'somethingElse';
    await expect(replay(recorded)).rejects.toThrow(/TMPRL1100|Nondeterminism/);
  });
});
