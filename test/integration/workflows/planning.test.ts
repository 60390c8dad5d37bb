/** Planners in a run: first plan, sub-scopes, answers sent back, planning while work goes on. Workflows and server are real. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import type { PlanTaken, RunReport } from '../../../activities/contract.ts';
import type { PlanTask } from '../../../spec/model.ts';
import { FakeWorld } from '../../support/fake-activities.ts';
import type { World } from '../../support/fake-activities.ts';
import { recordHistories } from '../../support/histories.ts';
import { openStage, until } from '../../support/workflow-stage.ts';
import type { Stage } from '../../support/workflow-stage.ts';

let stage: Stage;
let count = 0;
/** Scopes and replanning, an answer sent back, a blocked task dropped. */
const RECORDED = ['planned-1', 'planned-2', 'planned-4'];
beforeAll(async () => {
  stage = await openStage();
}, 60_000);
afterAll(async () => {
  if (process.env['SWARMLINE_RECORD'] === '1')
    await recordHistories(stage.env.client, 'test/replay/histories', RECORDED);
  await stage.close();
}, 60_000);

const play = async (
  world: Partial<World>,
  act: (handle: WorkflowHandle, fake: FakeWorld) => Promise<void>,
): Promise<FakeWorld> => {
  const fake = new FakeWorld({ plan: [], ...world });
  count += 1;
  const workflowId = `planned-${count}`;
  await stage.play(fake, async () =>
    act(await stage.env.client.workflow.start('runSpec', { taskQueue: 'swarmline', workflowId, args: [{}] }), fake),
  );
  return fake;
};
const result = (handle: WorkflowHandle): Promise<RunReport> => handle.result() as Promise<RunReport>;
const update = (handle: WorkflowHandle, name: string, arg: object): Promise<string> =>
  handle.executeUpdate<string, [object]>(name, { args: [arg] });

let index = 0;
const task = (id: string, dependsOn: string[] = [], more: Partial<PlanTask> = {}): PlanTask => ({
  id,
  kind: 'work',
  dependsOn,
  priority: 0,
  index: index++,
  ...more,
});
const taken = (more: Partial<Extract<PlanTaken, { ok: true }>> = {}): PlanTaken => ({
  ok: true,
  tasks: [],
  changed: [],
  dropped: [],
  scopes: [],
  done: false,
  score: ['3 tasks in 2 waves'],
  ...more,
});
const DONE = taken({ done: true });
const asked = (fake: FakeWorld): string[] => fake.asked.map(({ node, attempt }) => `${node || 'first'} ${attempt}`);

describe('a run that plans', () => {
  test('carries out what planners planned, sub-scopes too, and asks again when a wave has landed', async () => {
    const fake = await play(
      {
        planner: ({ node, attempt }) => {
          if (node === '' && attempt === 1)
            return taken({
              tasks: [task('types')],
              scopes: [
                { id: 'api', dependsOn: [] },
                { id: 'docs', dependsOn: ['types'] },
              ],
            });
          if (node === 'api' && attempt === 1) return taken({ tasks: [task('orders', ['types'])] });
          if (node === 'docs' && attempt === 1) return taken({ tasks: [task('manual', ['types'])] });
          return DONE;
        },
      },
      async (handle) => {
        expect(await result(handle)).toMatchObject({ outcome: 'completed', tasks: { passed: 3 } });
      },
    );
    expect(asked(fake).slice(0, 2)).toEqual(['first 1', 'api 1']);
    expect(asked(fake).toSorted()).toEqual(['api 1', 'api 2', 'docs 1', 'docs 2', 'first 1', 'first 2']);
    expect(fake.asked.find(({ node, attempt }) => node === 'api' && attempt === 2)?.occasion).toContain(
      'has landed; of your tasks: orders',
    );
    expect(fake.main.toSorted()).toEqual(['manual/1', 'orders/1', 'types/1']);
  }, 60_000);

  test('an answer that is wrong goes back, and the next one is taken', async () => {
    const fake = await play(
      {
        planner: ({ attempt }) =>
          attempt === 1
            ? { ok: false, why: 'tasks[0].id: is required' }
            : attempt === 2
              ? taken({ tasks: [task('only')] })
              : DONE,
      },
      async (handle) => {
        expect(await result(handle)).toMatchObject({ outcome: 'completed', tasks: { passed: 1 } });
      },
    );
    expect(asked(fake)).toEqual(['first 1', 'first 2', 'first 3']);
    expect(fake.asked[1]?.occasion).toBe('');
  }, 60_000);

  test('a planner that comes to nothing is told to a person, who calls it again with a word', async () => {
    const fake = await play(
      {
        planner: ({ attempt, occasion }) =>
          attempt < 4
            ? { none: 'its model is away' }
            : occasion.includes('smaller')
              ? taken({ tasks: [task('only')] })
              : DONE,
      },
      async (handle) => {
        await until('it waits for a person', async () => {
          const { waiting } = await handle.query<{ waiting: { on: string; command: string }[] }, []>('progress');
          return waiting.some(
            ({ on, command }) => on === 'its planner' && command === `swarmline replan planned-${count}`,
          );
        });
        expect(await update(handle, 'replan', { scope: '', say: 'plan it smaller' })).toContain('1 tasks more');
        expect(await result(handle)).toMatchObject({ outcome: 'completed', tasks: { passed: 1 } });
      },
    );
    expect(asked(fake)).toEqual(['first 1', 'first 2', 'first 3', 'first 4', 'first 5']);
  }, 60_000);

  test('a blocked task is dropped for what its planner puts in its place', async () => {
    const fake = await play(
      {
        policy: { attempts: 1 },
        agentRed: (id) => (id === 'big' ? 'too much' : null),
        planner: ({ attempt, occasion }) => {
          if (attempt === 1) return taken({ tasks: [task('big'), task('after', ['big'])] });
          if (!occasion.includes('big is blocked')) return DONE;
          return taken({
            tasks: [task('half'), task('rest')],
            changed: [task('after', ['half', 'rest'])],
            dropped: [{ task: 'big', why: 'too large', replacedBy: ['half', 'rest'] }],
          });
        },
      },
      async (handle) => {
        expect(await result(handle)).toMatchObject({ outcome: 'completed', tasks: { passed: 3, cancelled: 1 } });
      },
    );
    expect(fake.states.get('big')).toBe('cancelled');
    expect(fake.started.indexOf('after/1')).toBe(3);
  }, 60_000);

  test('a task that ran into its deadline twice goes back to its planner instead of trying on', async () => {
    const fake = await play(
      {
        agentRed: (id) => (id === 'slow' ? 'timeout' : null),
        planner: ({ attempt, occasion }) =>
          attempt === 1
            ? taken({ tasks: [task('slow')] })
            : occasion.includes('deadline twice')
              ? taken({ tasks: [task('part')], dropped: [{ task: 'slow', why: 'too long', replacedBy: ['part'] }] })
              : DONE,
        planning: { replan: ['timeout'] },
      },
      async (handle) => {
        expect(await result(handle)).toMatchObject({ outcome: 'completed', tasks: { passed: 1, cancelled: 1 } });
      },
    );
    expect(fake.started).toEqual(['slow/1', 'slow/2', 'part/1']);
  }, 60_000);

  test('what began before it was dropped goes on, and what should take its place does not start', async () => {
    const fake = await play(
      {
        agentMs: (id) => (id === 'late' ? 3_000 : 5),
        policy: { attempts: 1 },
        agentRed: (id) => (id === 'bad' ? 'no' : null),
        planner: ({ attempt, occasion }) =>
          attempt === 1
            ? taken({ tasks: [task('bad'), task('late')] })
            : occasion.includes('bad is blocked')
              ? taken({
                  tasks: [task('other')],
                  dropped: [
                    { task: 'late', why: 'not needed', replacedBy: ['other'] },
                    { task: 'bad', why: 'not needed', replacedBy: [] },
                  ],
                })
              : DONE,
      },
      async (handle) => {
        expect(await result(handle)).toMatchObject({ outcome: 'completed', tasks: { passed: 1, cancelled: 2 } });
      },
    );
    expect(fake.started).not.toContain('other/1');
  }, 60_000);

  test('frontier: planned tasks start as soon as theirs have landed', async () => {
    await play(
      {
        policy: { schedule: 'frontier' },
        planner: ({ attempt }) => (attempt === 1 ? taken({ tasks: [task('x'), task('y', ['x'])] }) : DONE),
      },
      async (handle) => {
        expect(await result(handle)).toMatchObject({ outcome: 'completed', tasks: { passed: 2 } });
      },
    );
  }, 60_000);

  test('decisions that decide the same are brought together by a task before the run is done', async () => {
    let made = false;
    const fake = await play(
      {
        planner: ({ attempt }) => (attempt === 1 ? taken({ tasks: [task('x')] }) : DONE),
        planning: { reconciler: true },
        reconcile: () => (made ? [] : ((made = true), [task('reconcile-a-b', [], { kind: 'reconcile' })])),
      },
      async (handle) => {
        expect(await result(handle)).toMatchObject({ outcome: 'completed', tasks: { passed: 2 } });
      },
    );
    expect(fake.asked.some(({ node }) => node === 'reconciler')).toBe(true);
  }, 60_000);

  test('a plan that waits for approval may be edited first', async () => {
    const fake = await play(
      {
        policy: { approve: ['plan'] },
        planner: ({ attempt }) => (attempt === 1 ? taken({ tasks: [task('keep'), task('drop')] }) : DONE),
      },
      async (handle, now) => {
        await until('the plan waits', async () => {
          const { waiting } = await handle.query<{ waiting: { on: string; why: string }[] }, []>('progress');
          return waiting.some(({ on, why }) => on === 'approval: plan' && why.includes('2 tasks; 3 tasks in 2 waves'));
        });
        expect(now.started).toEqual([]);
        await update(handle, 'cancelTask', { task: 'drop' });
        await update(handle, 'addTask', { task: { id: 'more' } });
        await update(handle, 'approve', { what: 'plan' });
        expect(await result(handle)).toMatchObject({ outcome: 'completed', tasks: { passed: 2, cancelled: 1 } });
      },
    );
    expect(fake.started.toSorted()).toEqual(['keep/1', 'more/1']);
  }, 60_000);

  test('a run that is cancelled while somebody plans ends', async () => {
    await play({ planner: () => ({ none: 'x' }), planning: { asks: 1000 } }, async (handle, fake) => {
      await until('somebody plans', () => fake.asked.length > 2);
      await handle.cancel();
      await expect(result(handle)).rejects.toThrow('cancelled');
      expect(fake.reports.at(-1)).toMatchObject({ outcome: 'cancelled' });
    });
  }, 60_000);
});

describe('an agent that asks for more files', () => {
  const asked = { request: 'w/1/k', task: 'w', paths: ['lib.ts'], note: 'its type is wrong' };
  const ask = async (handle: WorkflowHandle, fake: FakeWorld): Promise<void> => {
    await until('the task runs', () => fake.started.includes('w/1'));
    await handle.signal('scopeRequested', asked);
  };
  const waits = (handle: WorkflowHandle) => async (): Promise<boolean> => {
    const { waiting } = await handle.query<{ waiting: { on: string }[] }, []>('progress');
    return waiting.some(({ on }) => on === 'files for w');
  };
  const world = (more: Partial<World> = {}): World => ({ plan: [{ id: 'w' }], agentMs: () => 4_000, ...more });

  test('is answered by a person, who is told what to type', async () => {
    const answers: string[] = [];
    await play(
      world({
        answerScope: (request, answer) => {
          answers.push(`${request} ${answer}`);
          return answer === 'grant'
            ? { refused: 'another task may write lib.ts' }
            : { refused: null, text: 'a task of its own', task: task('scope-w') };
        },
      }),
      async (handle, fake) => {
        await ask(handle, fake);
        await until('a person is asked', waits(handle));
        await expect(update(handle, 'answerScope', { request: asked.request, answer: 'grant' })).rejects.toMatchObject({
          cause: { message: 'another task may write lib.ts' },
        });
        await update(handle, 'answerScope', { request: asked.request, answer: 'task' });
        expect(await waits(handle)()).toBe(false);
        expect(await result(handle)).toMatchObject({ outcome: 'completed', tasks: { passed: 2 } });
      },
    );
    expect(answers).toEqual(['w/1/k grant', 'w/1/k task']);
  }, 60_000);

  test('is answered by policy, and by a person where policy cannot', async () => {
    for (const refused of [null, 'another task may write lib.ts']) {
      await play(
        world({
          policy: { scope: 'grant' },
          answerScope: () => (refused === null ? { refused, text: 'granted', task: task('w') } : { refused }),
        }),
        async (handle, fake) => {
          await ask(handle, fake);
          if (refused !== null) await until('a person is asked', waits(handle));
          expect(await result(handle)).toMatchObject({ outcome: 'completed', tasks: { passed: 1 } });
          expect(await waits(handle)()).toBe(refused !== null);
        },
      );
    }
  }, 60_000);

  test('makes its planner look again', async () => {
    const fake = await play(
      {
        agentMs: () => 4_000,
        planner: ({ attempt }) => (attempt === 1 ? taken({ tasks: [task('w')] }) : DONE),
        planning: { replan: ['scope'] },
      },
      async (handle, now) => {
        await ask(handle, now);
        expect(await result(handle)).toMatchObject({ outcome: 'completed' });
      },
    );
    expect(fake.asked.at(-1)?.occasion).toContain('asks to change lib.ts');
  }, 60_000);
});
