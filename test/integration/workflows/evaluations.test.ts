import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { FakeWorld } from '../../support/fake-activities.ts';
import type { World } from '../../support/fake-activities.ts';
import { openStage, until } from '../../support/workflow-stage.ts';
import type { Stage } from '../../support/workflow-stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
}, 60_000);
afterAll(() => stage.close(), 60_000);

const start = (id: string) =>
  stage.env.client.workflow.start('runSpec', { taskQueue: 'swarmline', workflowId: id, args: [{}] });
const PLAN: World['plan'] = [{ id: 'a' }, { id: 'b', dependsOn: ['a'] }];

test('a measure of a green point holds up no wave, and the run ends only when the last one is in', async () => {
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  const fake = new FakeWorld({ plan: PLAN, evaluate: () => gate });
  await stage.play(fake, async () => {
    const handle = await start('measured-1');
    await until('both waves are green while nothing is measured', () => fake.greenPoints === 2);
    expect(fake.evaluated).toEqual([]);
    await until(
      'it waits for the measures',
      async () => (await handle.query<{ phase: string }>('progress')).phase === 'evaluate',
    );
    expect(fake.reports).toEqual([]);
    open();
    await handle.result();
    expect(fake.evaluated.toSorted((a, b) => a - b)).toEqual([0, 1, 2]);
  });
}, 60_000);

test('a measure that cannot be had is noted, and the run ends as it would have', async () => {
  const { ApplicationFailure } = await import('@temporalio/common');
  const fake = new FakeWorld({
    plan: [{ id: 'a' }],
    evaluate: async () => {
      throw ApplicationFailure.nonRetryable('There is no image "x".');
    },
  });
  await stage.play(fake, async () => {
    await (await start('measured-2')).result();
    expect(fake.main).toEqual(['a/1']);
    expect(fake.logged).toContain('Green point 1 could not be measured: There is no image "x".');
  });
}, 60_000);

test('without policy.evaluate nothing is measured', async () => {
  const fake = new FakeWorld({ plan: [{ id: 'a' }] });
  await stage.play(fake, async () => {
    await (await start('measured-3')).result();
    expect(fake.evaluated).toEqual([]);
  });
}, 60_000);
