import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { RunReport } from '../../../activities/contract.ts';
import { FakeWorld } from '../../support/fake-activities.ts';
import { openStage, until } from '../../support/workflow-stage.ts';
import type { Stage } from '../../support/workflow-stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(['limit.historyCount.suggestContinueAsNew=120']);
}, 60_000);
afterAll(() => stage.close());

const runsOf = async (workflowId: string): Promise<number> => {
  let count = 0;
  for await (const _ of stage.env.client.workflow.list({ query: `WorkflowId = '${workflowId}'` })) count += 1;
  return count;
};

test.each(['waves', 'frontier'] as const)(
  '%s: run and mainline continue as new in the middle and lose or repeat nothing',
  async (schedule) => {
    const plan = Array.from({ length: 30 }, (_, n) => ({ id: `t${n}`, dependsOn: n < 10 ? [] : [`t${n - 10}`] }));
    const fake: FakeWorld = new FakeWorld({
      plan,
      policy: { schedule },
      taskRed: (task, attempt) => task === 't7' && attempt === 1,
      // The first measure is under way while the run continues as new.
      evaluate: async (n) => (n === 0 ? until('most have landed', () => fake.landed.length >= 25, 60_000) : undefined),
    });
    const id = `long-${schedule}`;
    await stage.play(fake, async () => {
      const handle = await stage.env.client.workflow.start('runSpec', {
        taskQueue: 'swarmline',
        workflowId: id,
        args: [{}],
      });
      expect((await handle.result()) as RunReport).toMatchObject({ outcome: 'completed', tasks: { passed: 30 } });
    });
    expect(await runsOf(`${id}:mainline`)).toBeGreaterThan(1);
    expect(await runsOf(id)).toBeGreaterThan(1);
    expect(fake.main).toHaveLength(30);
    expect(fake.started.filter((attempt) => !attempt.startsWith('t7/'))).toHaveLength(29);
    expect(new Set(fake.started).size).toBe(31);
    expect([...new Set(fake.evaluated)].toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: fake.greenPoints + 1 }, (_, n) => n),
    );
  },
  120_000,
);
