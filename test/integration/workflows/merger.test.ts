import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { FakeWorld } from '../../support/fake-activities.ts';
import type { World } from '../../support/fake-activities.ts';
import { recordHistories } from '../../support/histories.ts';
import { openStage } from '../../support/workflow-stage.ts';
import type { Stage } from '../../support/workflow-stage.ts';

let stage: Stage;
let count = 0;
/** A conflict at the gate, one on the line, a second attempt, one given up. */
const RECORDED = ['merged-1', 'merged-2', 'merged-3', 'merged-4'];
beforeAll(async () => {
  stage = await openStage();
}, 60_000);
afterAll(async () => {
  if (process.env['SWARMLINE_RECORD'] === '1')
    await recordHistories(stage.env.client, 'test/replay/histories', RECORDED);
  await stage.close();
}, 60_000);

const play = async (world: World): Promise<FakeWorld> => {
  const fake = new FakeWorld(world);
  count += 1;
  const options = { taskQueue: 'swarmline', workflowId: `merged-${count}`, args: [{}] };
  await stage.play(fake, async () => (await stage.env.client.workflow.start('runSpec', options)).result());
  return fake;
};
const never = (): null => null;
const plan = [{ id: 'a' }];

describe('a conflict', () => {
  test.each(['gate', 'line'] as const)(
    'at the %s goes to the merger; its result goes through the gate and lands as its own',
    async (where) => {
      const fake = await play({ plan, conflict: (id) => (id === 'a/1' ? where : null), mergerRed: never });
      expect(fake.main).toEqual(['a/2']);
      expect(fake.started).toEqual(['a/1']);
      expect(fake.mergers).toEqual(['a/2 of 1']);
      expect(fake.gates).toContain('task:a/2 onto next');
      expect(fake.engines.get('a/2')).toBe('claude-code');
    },
    60_000,
  );

  test('the merger gets a second attempt at the same work', async () => {
    const fake = await play({
      plan,
      conflict: (id) => (id === 'a/1' ? 'line' : null),
      mergerRed: (_, attempt) => (attempt === 2 ? 'it gave up' : null),
    });
    expect(fake.mergers).toEqual(['a/2 of 1', 'a/3 of 1']);
    expect(fake.main).toEqual(['a/3']);
  }, 60_000);

  test('red twice, whether by itself or at the gate, it goes back to the worker, which starts from next', async () => {
    const fake = await play({
      plan,
      conflict: (id) => (id === 'a/1' ? 'gate' : null),
      mergerRed: (_, attempt) => (attempt === 2 ? 'it gave up' : null),
      taskRed: (_, attempt) => attempt === 3,
    });
    expect(fake.mergers).toEqual(['a/2 of 1', 'a/3 of 1']);
    expect(fake.started).toEqual(['a/1', 'a/4']);
    expect(fake.startedFrom.get('a/4')).toBe('next');
    expect(fake.main).toEqual(['a/4']);
    expect(fake.engines.get('a/4')).toBe('command');
  }, 60_000);

  test('of a merger’s own result is a new one: that result is what is merged next', async () => {
    const fake = await play({
      plan,
      conflict: (id) => (id === 'a/1' || id === 'a/2' ? 'line' : null),
      mergerRed: never,
    });
    expect(fake.mergers).toEqual(['a/2 of 1', 'a/3 of 2']);
    expect(fake.main).toEqual(['a/3']);
  }, 60_000);

  test('a merger’s attempts count: the task is blocked at the end of them', async () => {
    const fake = new FakeWorld({ plan, conflict: () => 'line', mergerRed: never, policy: { attempts: 2 } });
    count += 1;
    const options = { taskQueue: 'swarmline', workflowId: `merged-${count}`, args: [{}] };
    await stage.play(fake, async () => {
      const handle = await stage.env.client.workflow.start('runSpec', options);
      while (fake.states.get('a') !== 'blocked') await new Promise((done) => setTimeout(done, 50));
      await handle.cancel();
      await handle.result().catch(() => undefined);
    });
    expect(fake.started).toEqual(['a/1']);
    expect(fake.mergers).toEqual(['a/2 of 1']);
  }, 60_000);

  test('reviewers see a merger’s result as any other', async () => {
    const fake = await play({
      plan,
      conflict: (id) => (id === 'a/1' ? 'gate' : null),
      mergerRed: never,
      reviewers: [{ sees: 'diff', engine: 'codex' }],
    });
    expect(fake.reviews.asked).toEqual(['a/2 0']);
    expect(fake.main).toEqual(['a/2']);
  }, 60_000);

  test('without a merger the next attempt is the worker’s, from next', async () => {
    const fake = await play({ plan, conflict: (id) => (id === 'a/1' ? 'gate' : null) });
    expect(fake.mergers).toEqual([]);
    expect(fake.startedFrom.get('a/2')).toBe('next');
    expect(fake.main).toEqual(['a/2']);
  }, 60_000);
});
