/** Stopping is a fact when it is said: pause, cancel of a task and cancel of a run, on real containers by the real command (invariant 12). */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { commanded, makeOrigin, specOf, trailers } from '../support/stack-repository.ts';
import { openTestStack, stateOf, until } from '../support/stack.ts';
import type { TestStack } from '../support/stack.ts';

jest.setTimeout(240_000);
/** Milliseconds within which cancel and pause act on a container (DESIGN.md section 4), with what the command itself takes to start. */
const WITHIN_MS = 5_000 + 5_000;

let stack: TestStack;
const origin = (): string => join(stack.dir, 'stop', '.git');
const agents = async (task: string): Promise<number> => (await stack.containers({ run: 'stop', task })).length;

beforeAll(async () => {
  stack = await openTestStack({ env: { SWARMLINE_SLOTS: '4' } });
  const { url } = await makeOrigin(join(stack.dir, 'stop'), { 'README.md': 'empty\n' });
  await stack.submit(
    'stop',
    specOf('stop', url, {
      roles: { worker: { engine: 'command' } },
      tasks: [
        commanded('quick', ['quick.txt'], ['sh', '-c', 'echo done > quick.txt']),
        commanded('long', ['long.txt'], ['sleep', '280'], { dependsOn: ['quick'] }),
        commanded('longer', ['longer.txt'], ['sleep', '290'], { dependsOn: ['quick'] }),
      ],
    }),
  );
  await until('both sleep', async () => (await agents('long')) === 1 && (await agents('longer')) === 1);
});
afterAll(() => stack?.stop());

test('pause freezes every container of the run before it returns, and resume thaws them', async () => {
  const from = Date.now();
  const paused = await stack.swarmline('pause', 'stop');
  expect(paused).toMatchObject({ code: 0 });
  expect(paused.out).toContain('2 containers frozen');
  expect(Date.now() - from).toBeLessThan(WITHIN_MS);
  expect((await stack.containers({ run: 'stop' })).map(({ State }) => State)).toEqual(['paused', 'paused']);
  expect((await stack.swarmline('resume', 'stop')).out).toContain('2 containers thawed');
  expect((await stack.containers({ run: 'stop' })).map(({ State }) => State)).toEqual(['running', 'running']);
});

test('cancel of a task: its container is gone when the command returns, the other runs on', async () => {
  const from = Date.now();
  expect(await stack.swarmline('cancel', 'stop', 'long')).toMatchObject({ code: 0 });
  expect(Date.now() - from).toBeLessThan(WITHIN_MS);
  expect(await agents('long')).toBe(0);
  expect(await agents('longer')).toBe(1);
});

test('cancel of a run: nothing of it runs any more, its commits are kept, and what is green can be delivered afterwards', async () => {
  const cancelled = await stack.swarmline('cancel', 'stop');
  expect(cancelled.out + cancelled.err).toContain('deliver');
  expect(await stack.containers({ run: 'stop' })).toEqual([]);
  const overview = await stack.awaitRun('stop', 'its end', ({ run }) => run.outcome !== null);
  expect(overview.run.outcome).toBe('cancelled');
  expect([stateOf(overview, 'quick'), stateOf(overview, 'long'), stateOf(overview, 'longer')]).toEqual([
    'passed',
    'cancelled',
    'cancelled',
  ]);
  expect(await stack.swarmline('deliver', 'stop')).toMatchObject({ code: 0 });
  expect(await trailers(origin(), 'main..swarmline/stop', 'Swarmline-Task')).toEqual(['quick']);
});
