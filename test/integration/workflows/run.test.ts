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
/** Diamond, frontier, retry by a person, red mainline, red integration point, cancelled run, approvals, slots that move between parts. */
const RECORDED = ['run-1', 'run-2', 'run-4', 'run-6', 'run-7', 'run-13', 'run-15', 'run-18'];
beforeAll(async () => {
  stage = await openStage();
}, 60_000);
afterAll(async () => {
  if (process.env['SWARMLINE_RECORD'] === '1')
    await recordHistories(stage.env.client, 'test/replay/histories', RECORDED);
  await stage.close();
}, 60_000);

const start = (): Promise<WorkflowHandle> => {
  count += 1;
  return stage.env.client.workflow.start('runSpec', { taskQueue: 'swarmline', workflowId: `run-${count}`, args: [{}] });
};
const update = (handle: WorkflowHandle, name: string, arg: object): Promise<string> =>
  handle.executeUpdate<string, [object]>(name, { args: [arg] });
const play = async (
  world: World,
  act: (handle: WorkflowHandle, fake: FakeWorld) => Promise<void>,
): Promise<FakeWorld> => {
  const fake = new FakeWorld(world);
  await stage.play(fake, async () => act(await start(), fake));
  return fake;
};
const result = (handle: WorkflowHandle): Promise<RunReport> => handle.result() as Promise<RunReport>;
const DIAMOND = [
  { id: 'a' },
  { id: 'b', dependsOn: ['a'] },
  { id: 'c', dependsOn: ['a'] },
  { id: 'd', dependsOn: ['b', 'c'] },
];

describe('a run', () => {
  test('goes wave by wave, lands every task, and main ends at the last green point', async () => {
    const fake = await play({ plan: DIAMOND }, async (handle) => {
      expect(await result(handle)).toMatchObject({
        outcome: 'completed',
        waves: 3,
        greenPoints: 3,
        tasks: { passed: 4 },
      });
    });
    expect(fake.main.toSorted()).toEqual(['a/1', 'b/1', 'c/1', 'd/1']);
    expect(fake.started.indexOf('d/1')).toBe(3);
  }, 60_000);

  test('frontier: a task starts as soon as its own dependencies have landed', async () => {
    const plan = [{ id: 'slow' }, { id: 'a' }, { id: 'b', dependsOn: ['a'] }, { id: 'c', dependsOn: ['b'] }];
    const fake = await play(
      { plan, policy: { schedule: 'frontier' }, agentMs: (task) => (task === 'slow' ? 9000 : 5) },
      async (handle, world) => {
        await until('c starts while slow still runs', () => world.started.includes('c/1'), 30_000);
        expect(world.landed).not.toContain('slow/1');
        expect(await result(handle)).toMatchObject({ outcome: 'completed', tasks: { passed: 4 } });
      },
    );
    expect(fake.main).toHaveLength(4);
  }, 60_000);

  test('frontier: what runs on landed work that is taken out again goes back to pending and runs anew on its next form', async () => {
    const lineRed = (level: string, requests: readonly string[]): boolean =>
      level === 'wave' && requests.includes('a/1');
    const agentMs = (task: string): number => (task === 'b' ? 4000 : 5);
    const fake = await play(
      { plan: [{ id: 'a' }, { id: 'b', dependsOn: ['a'] }], policy: { schedule: 'frontier' }, lineRed, agentMs },
      async (handle) => {
        expect(await result(handle)).toMatchObject({ outcome: 'completed', tasks: { passed: 2 } });
      },
    );
    expect(fake.main[0]).toBe('a/2');
    expect(fake.cancelledAgents).toBe(1);
    expect(fake.started.filter((id) => id.startsWith('b/'))).toHaveLength(2);
  }, 60_000);

  test('never more tasks hold a slot than policy.inFlight', async () => {
    const plan = Array.from({ length: 8 }, (_, n) => ({ id: `t${n}` }));
    const fake = await play({ plan, policy: { inFlight: 2 }, agentMs: () => 2000 }, async (handle) => {
      await result(handle);
    });
    expect(fake.peak).toBe(2);
    expect(fake.main).toHaveLength(8);
  }, 60_000);

  test('a red attempt is followed by the next one; the last one blocks the task, others go on, and a person retries it', async () => {
    let mended = false;
    await play({ plan: DIAMOND, taskRed: (task) => task === 'b' && !mended }, async (handle, fake) => {
      await until('b is blocked', () => fake.states.get('b') === 'blocked');
      expect(fake.started.filter((id) => id.startsWith('b/'))).toEqual(['b/1', 'b/2', 'b/3', 'b/4']);
      await until('c landed', () => fake.landed.includes('c/1'));
      expect(fake.started).not.toContain('d/1');
      await until('somebody was told', () => fake.notified.includes('blocked:blocked-b-1'));
      const progress = (await handle.query('progress')) as { waiting: { on: string; command: string }[] };
      expect(progress.waiting[0]).toMatchObject({ on: 'task b', command: expect.stringContaining('swarmline retry') });
      mended = true;
      expect(await update(handle, 'retryTask', { task: 'b' })).toContain('round 2');
      expect(await result(handle)).toMatchObject({ outcome: 'completed', tasks: { passed: 4 } });
      expect(fake.landed).toContain('b/5');
    });
  }, 60_000);

  test('a task with a red agent is told apart and tried again', async () => {
    const fake = await play(
      { plan: [{ id: 'a' }], agentRed: (_, attempt) => (attempt < 3 ? 'exit code 1' : null) },
      async (handle) => {
        expect(await result(handle)).toMatchObject({ outcome: 'completed' });
      },
    );
    expect(fake.main).toEqual(['a/3']);
  }, 60_000);
});

describe('a red mainline', () => {
  test('two tasks that break each other: the later one is found, taken out, and lands with its next attempt', async () => {
    const plan = [{ id: 'a' }, { id: 'b' }, { id: 'c' }];
    const lineRed = (_: string, requests: readonly string[]): boolean =>
      requests.some((id) => id.startsWith('a/')) && requests.includes('c/1');
    const fake = await play({ plan, lineRed, agentMs: (task) => (task === 'c' ? 400 : 5) }, async (handle) => {
      expect(await result(handle)).toMatchObject({ outcome: 'completed', tasks: { passed: 3 } });
    });
    expect(fake.main.toSorted()).toEqual(['a/1', 'b/1', 'c/2']);
  }, 60_000);

  test('invariant 1: a red integration point moves main nowhere; its culprit is redone, innocents come back without an agent', async () => {
    const plan = [{ id: 'a' }, { id: 'b' }, { id: 'c' }];
    const lineRed = (level: string, requests: readonly string[]): boolean =>
      level === 'wave' && requests.includes('b/1');
    const fake = await play({ plan, lineRed }, async (handle) => {
      expect(await result(handle)).toMatchObject({ outcome: 'completed', tasks: { passed: 3 } });
    });
    expect(fake.main.toSorted()).toEqual(['a/1', 'b/2', 'c/1']);
    expect(fake.started.filter((id) => !id.startsWith('b/')).toSorted()).toEqual(['a/1', 'c/1']);
  }, 60_000);

  test('a culprit that turns the line red once too often is blocked, and the run says so', async () => {
    const plan = [{ id: 'a' }, { id: 'b' }];
    const lineRed = (level: string, requests: readonly string[]): boolean =>
      level === 'mainline' && requests.some((id) => id.startsWith('b/'));
    await play({ plan, lineRed }, async (handle, fake) => {
      await until('b is blocked', () => fake.states.get('b') === 'blocked', 40_000);
      await until('a is green', () => fake.main.length === 1);
      expect(fake.main).toEqual(['a/1']);
      await update(handle, 'skipTask', { task: 'b', dependants: 'release' });
      expect(await result(handle)).toMatchObject({ outcome: 'completed', tasks: { passed: 1, skipped: 1 } });
    });
  }, 90_000);
});

describe('what people ask for', () => {
  test('skip releases or skips the dependants, as said', async () => {
    const plan = [{ id: 'a' }, { id: 'b', dependsOn: ['a'] }, { id: 'c', dependsOn: ['b'] }];
    await play({ plan, taskRed: (task) => task === 'a' }, async (handle, fake) => {
      await until('a is blocked', () => fake.states.get('a') === 'blocked');
      expect(await update(handle, 'skipTask', { task: 'a', dependants: 'skip' })).toBe('Skipped a, b, c');
      expect(await result(handle)).toMatchObject({ outcome: 'completed', tasks: { skipped: 3 } });
    });
  }, 60_000);

  test('cancelling a task that runs stops its agent and returns when it has stopped', async () => {
    const plan = [{ id: 'a' }, { id: 'long' }];
    await play({ plan, agentMs: (task) => (task === 'long' ? 120_000 : 5) }, async (handle, fake) => {
      await until('long runs', () => fake.started.includes('long/1'));
      const from = Date.now();
      expect(await update(handle, 'cancelTask', { task: 'long' })).toBe('long is cancelled');
      expect(Date.now() - from).toBeLessThan(5000);
      expect(fake.cancelledAgents).toBe(1);
      expect(await result(handle)).toMatchObject({ outcome: 'completed', tasks: { passed: 1, cancelled: 1 } });
    });
  }, 60_000);

  test('while a run is paused nothing starts and nothing merges; resume goes on', async () => {
    const plan = [{ id: 'a' }, { id: 'b', dependsOn: ['a'] }];
    await play({ plan, agentMs: () => 1500 }, async (handle, fake) => {
      await until('a runs', () => fake.started.includes('a/1'));
      expect(await update(handle, 'pause', { drain: false })).toContain('1 container frozen');
      expect(fake.paused).toBe(true);
      await until('a ended', () => fake.running === 0);
      expect(fake.landed).toEqual([]);
      expect(await update(handle, 'resume', {})).toContain('Resumed');
      expect(await result(handle)).toMatchObject({ outcome: 'completed' });
      expect(fake.frozen).toEqual([true, false]);
    });
  }, 60_000);

  test('pause --drain returns when what was running has ended', async () => {
    await play({ plan: [{ id: 'a' }, { id: 'b', dependsOn: ['a'] }], agentMs: () => 1500 }, async (handle, fake) => {
      await until('a runs', () => fake.started.includes('a/1'));
      expect(await update(handle, 'pause', { drain: true })).toContain('has ended');
      expect(fake.running).toBe(0);
      await update(handle, 'resume', {});
      await result(handle);
    });
  }, 60_000);

  test('cancelling the run stops what runs, keeps what is green, and says what can be delivered', async () => {
    const plan = [{ id: 'a' }, { id: 'long', dependsOn: ['a'] }];
    const fake = await play({ plan, agentMs: (task) => (task === 'long' ? 120_000 : 5) }, async (handle, world) => {
      await until('long runs', () => world.started.includes('long/1'));
      const from = Date.now();
      await handle.cancel();
      await expect(result(handle)).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
      expect(Date.now() - from).toBeLessThan(8000);
    });
    expect(fake.reports[0]).toMatchObject({ outcome: 'cancelled', greenPoints: 1, tasks: { passed: 1, cancelled: 1 } });
    expect(fake.reports[0]!.next[0]).toContain('swarmline deliver');
  }, 60_000);

  test('land-anyway waives one task-level step; mainline and wave gates still decide', async () => {
    const taskRed = (task: string, _: number, waived: readonly string[]): boolean =>
      task === 'a' && !waived.includes('test');
    await play({ plan: [{ id: 'a' }, { id: 'b' }], taskRed }, async (handle, fake) => {
      await until('a is blocked', () => fake.states.get('a') === 'blocked');
      expect(await update(handle, 'landAnyway', { task: 'a', step: 'test', reason: 'known' })).toBe('a is passed');
      expect(fake.started.filter((id) => id.startsWith('a/'))).toHaveLength(4);
      expect(await result(handle)).toMatchObject({ outcome: 'completed' });
    });
  }, 60_000);

  test('an added task joins the open wave, and an approval is waited for by name', async () => {
    await play({ plan: [{ id: 'a' }], policy: { approve: ['plan', 'merge', 'delivery'] } }, async (handle, fake) => {
      const waits = async (what: string): Promise<boolean> =>
        ((await handle.query('progress')) as { waiting: { on: string }[] }).waiting.some(({ on }) => on.includes(what));
      await until('plan waits', () => waits('approval: plan'));
      await expect(update(handle, 'approve', { what: 'wave' })).rejects.toMatchObject({
        cause: { message: expect.stringContaining('Nothing waits') },
      });
      expect(await update(handle, 'approve', { what: 'plan' })).toBe('Approved: plan');
      await until('a waits for a merge', () => waits('approval to merge a'));
      expect(await update(handle, 'addTask', { task: { id: 'extra' } })).toBe('Added extra');
      await update(handle, 'approve', { what: 'merge', task: 'a' });
      await until('extra waits for a merge', () => waits('approval to merge extra'));
      await update(handle, 'approve', { what: 'merge', task: 'extra' });
      await until('delivery waits', () => waits('approval: delivery'));
      expect(fake.main.toSorted()).toEqual(['a/1', 'extra/1']);
      await update(handle, 'approve', { what: 'delivery' });
      expect(await result(handle)).toMatchObject({
        outcome: 'completed',
        tasks: { passed: 2 },
        delivered: 'swarmline/fake',
      });
    });
  }, 60_000);

  test('what cannot be done is refused before it enters history, with the reason', async () => {
    await play({ plan: [{ id: 'a' }], agentMs: () => 2000 }, async (handle, fake) => {
      await until('a runs', () => fake.started.includes('a/1'));
      await expect(update(handle, 'retryTask', { task: 'nope' })).rejects.toMatchObject({
        cause: { message: expect.stringContaining('no task "nope"') },
      });
      await expect(update(handle, 'retryTask', { task: 'a' })).rejects.toMatchObject({
        cause: { message: expect.stringContaining('not blocked') },
      });
      await result(handle);
    });
  }, 60_000);
});

describe('policy.inFlight', () => {
  test('the limit holds over the whole run when tasks join an open wave, and nobody starves', async () => {
    const plan = Array.from({ length: 4 }, (_, n) => ({ id: `t${n}` }));
    const fake = await play({ plan, policy: { inFlight: 2 }, agentMs: () => 2500 }, async (handle, world) => {
      await until('two tasks run', () => world.running === 2);
      for (const id of ['x0', 'x1', 'x2']) await update(handle, 'addTask', { task: { id } });
      await result(handle);
    });
    expect(fake.peak).toBe(2);
    expect(fake.main).toHaveLength(7);
    expect(fake.started.indexOf('x0/1')).toBeLessThan(5); // a joining part gets its share; it does not wait for the end of the others
  }, 60_000);

  test('frontier: the limit holds over all the parts that are open', async () => {
    const plan = [0, 1, 2, 3].flatMap((n) => [{ id: `a${n}` }, { id: `b${n}`, dependsOn: [`a${n}`] }]);
    const agentMs = (task: string): number => (task.startsWith('a') ? 300 * Number(task.slice(1)) + 500 : 3000);
    const fake = await play({ plan, policy: { schedule: 'frontier', inFlight: 3 }, agentMs }, async (handle) => {
      await result(handle);
    });
    expect(fake.peak).toBe(3);
    expect(fake.main).toHaveLength(8);
  }, 60_000);

  test('a slot that only waits for a person goes to another part', async () => {
    await play({ plan: [{ id: 'a' }], policy: { inFlight: 1, approve: ['merge'] } }, async (handle, fake) => {
      const waits = async (on: string): Promise<boolean> =>
        ((await handle.query('progress')) as { waiting: { on: string }[] }).waiting.some((wait) => wait.on === on);
      await until('a waits for a merge', () => waits('approval to merge a'));
      await update(handle, 'addTask', { task: { id: 'extra' } });
      await until('extra waits for a merge', () => waits('approval to merge extra'));
      await update(handle, 'approve', { what: 'merge', task: 'extra' });
      await update(handle, 'approve', { what: 'merge', task: 'a' });
      await result(handle);
      expect(fake.main).toHaveLength(2);
    });
  }, 60_000);

  test('a spent budget pauses the run, says so with the command, and raising it goes on', async () => {
    const plan = [{ id: 'a' }, { id: 'b', dependsOn: ['a'] }];
    await play({ plan, agentMs: () => 1500 }, async (handle, fake) => {
      await until('a runs', () => fake.started.includes('a/1'));
      await handle.signal('budgetReached', { why: 'the run has spent its budget of 5 USD' });
      await handle.signal('budgetReached', { why: 'said again by another host' });
      await until('it is frozen', () => fake.frozen.length === 1);
      expect(await handle.query('progress')).toMatchObject({
        paused: true,
        waiting: [
          {
            on: 'budget',
            why: 'the run has spent its budget of 5 USD',
            command: `swarmline raise-budget ${handle.workflowId} --usd N`,
          },
        ],
      });
      expect(await update(handle, 'raiseBudget', { usd: 9 })).toMatch(/raised for the run.*Resumed/);
      expect(await result(handle)).toMatchObject({ outcome: 'completed' });
      expect(fake.frozen).toEqual([true, false]);
    });
  }, 60_000);

  test('a run that a person has paused stays paused when its budget is raised', async () => {
    await play({ plan: [{ id: 'a' }], agentMs: () => 1500 }, async (handle, fake) => {
      await until('a runs', () => fake.started.includes('a/1'));
      await update(handle, 'pause', { drain: false });
      await handle.signal('budgetReached', { why: 'spent' });
      expect(await update(handle, 'raiseBudget', { tokens: null, of: 'worker' })).toMatch(
        /raised for worker; .* stays paused/,
      );
      await update(handle, 'resume', {});
      await result(handle);
    });
  }, 60_000);
});
