import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import type { RunReport } from '../../../activities/contract.ts';
import { FakeWorld } from '../../support/fake-activities.ts';
import type { World } from '../../support/fake-activities.ts';
import { recordHistories } from '../../support/histories.ts';
import { openStage, until } from '../../support/workflow-stage.ts';
import type { Stage } from '../../support/workflow-stage.ts';

let stage: Stage;
let count = 0;
/** Approved by three, rejected once, one asked again. */
const RECORDED = ['reviewed-1', 'reviewed-3', 'reviewed-7'];
beforeAll(async () => {
  stage = await openStage();
}, 60_000);
afterAll(async () => {
  if (process.env['SWARMLINE_RECORD'] === '1')
    await recordHistories(stage.env.client, 'test/replay/histories', RECORDED);
  await stage.close();
}, 60_000);

const play = async (
  world: World,
  act: (handle: WorkflowHandle, fake: FakeWorld) => Promise<void> = async (handle) => void (await handle.result()),
): Promise<FakeWorld> => {
  const fake = new FakeWorld(world);
  count += 1;
  const options = { taskQueue: 'swarmline', workflowId: `reviewed-${count}`, args: [{}] };
  await stage.play(fake, async () => act(await stage.env.client.workflow.start('runSpec', options), fake));
  return fake;
};
const reviewers = [
  { sees: 'diff', engine: 'claude-code' },
  { sees: 'tree', engine: 'codex' },
  { sees: 'transcript', engine: 'codex' },
];
const two = reviewers.slice(0, 2);

describe('a task with reviewers', () => {
  test('lands when all approve; each was asked once', async () => {
    const fake = await play({ plan: [{ id: 'a' }], reviewers });
    expect(fake.main).toEqual(['a/1']);
    expect(fake.reviews.asked.toSorted()).toEqual(['a/1 0', 'a/1 1', 'a/1 2']);
  }, 60_000);

  test('is never reviewed before its gate is green', async () => {
    const fake = await play({ plan: [{ id: 'a' }], reviewers: two, taskRed: (_, attempt) => attempt === 1 });
    expect(fake.main).toEqual(['a/2']);
    expect(fake.reviews.asked.every((asked) => asked.startsWith('a/2'))).toBe(true);
  }, 60_000);

  test('rejected by one of them, it is tried again and reviewed again', async () => {
    const review = (_: string, attempt: number, reviewer: number): 'approve' | 'reject' =>
      attempt === 1 && reviewer === 1 ? 'reject' : 'approve';
    const fake = await play({ plan: [{ id: 'a' }], reviewers, review });
    expect(fake.main).toEqual(['a/2']);
    expect(fake.started).toEqual(['a/1', 'a/2']);
  }, 60_000);

  test('rejected every time, it is blocked with what they say, and others go on', async () => {
    const review = (task: string): 'approve' | 'reject' => (task === 'a' ? 'reject' : 'approve');
    await play({ plan: [{ id: 'a' }, { id: 'b' }], reviewers: two, review }, async (handle, fake) => {
      await until('a is blocked', () => fake.states.get('a') === 'blocked');
      await until('b landed', () => fake.landed.includes('b/1'));
      expect(fake.started.filter((id) => id.startsWith('a/'))).toHaveLength(4);
      expect(fake.landed).toEqual(['b/1']);
      await handle.cancel();
      await handle.result().catch(() => undefined);
    });
  }, 60_000);

  test('a person may land a blocked one anyway; its gate still decides', async () => {
    let mended = false;
    const world = { plan: [{ id: 'a' }], reviewers: two, review: () => 'reject' as const, policy: { attempts: 1 } };
    await play({ ...world, taskRed: () => mended }, async (handle, fake) => {
      await until('a is blocked', () => fake.states.get('a') === 'blocked');
      const waive = { task: 'a', step: 'review', reason: 'they are wrong' };
      mended = true;
      const said = await handle.executeUpdate<string, [object]>('landAnyway', { args: [waive] });
      expect(said).toContain('blocked');
      mended = false;
      await handle.executeUpdate('landAnyway', { args: [waive] });
      await handle.result();
      expect(fake.main).toEqual(['a/2']); // what was red at the gate was tried once more
      expect(fake.reviews.asked.toSorted()).toEqual(['a/1 0', 'a/1 1']);
    });
  }, 60_000);

  test('majority: one rejection of three does not hold it up', async () => {
    const review = (_: string, __: number, reviewer: number): 'approve' | 'reject' =>
      reviewer === 0 ? 'reject' : 'approve';
    const fake = await play({ plan: [{ id: 'a' }], reviewers, review, policy: { reviews: 'majority' } });
    expect(fake.main).toEqual(['a/1']);
  }, 60_000);

  test('a reviewer without a verdict is asked once more, it alone', async () => {
    const review = (_: string, __: number, reviewer: number, call: number): 'approve' | null =>
      reviewer === 1 && call === 1 ? null : 'approve';
    const fake = await play({ plan: [{ id: 'a' }], reviewers, review });
    expect(fake.main).toEqual(['a/1']);
    expect(fake.reviews.asked.filter((asked) => asked.includes('call'))).toEqual(['a/1 1 call 2']);
  }, 60_000);

  test('one that stays without a verdict is never an approval: the attempt is rejected', async () => {
    const review = (_: string, attempt: number, reviewer: number): 'approve' | null =>
      reviewer === 1 && attempt === 1 ? null : 'approve';
    const fake = await play({ plan: [{ id: 'a' }], reviewers: two, review });
    expect(fake.main).toEqual(['a/2']);
  }, 60_000);

  test('holds its slot while it is reviewed', async () => {
    const fake = await play({ plan: [{ id: 'a' }, { id: 'b' }], reviewers: two, policy: { inFlight: 1 } });
    expect(fake.main).toHaveLength(2);
    expect(fake.peak).toBe(1);
  }, 60_000);
});

test('without reviewers nobody is asked', async () => {
  const fake = await play({ plan: [{ id: 'a' }] }, async (handle) => {
    expect(((await handle.result()) as RunReport).outcome).toBe('completed');
  });
  expect(fake.reviews.asked).toEqual([]);
}, 60_000);
