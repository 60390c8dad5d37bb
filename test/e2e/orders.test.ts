/** What people ask of a run, by the real command on a whole system: approvals, retry, amend, land-anyway, skip, add. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { gitText } from '../../mainline/git.ts';
import { makeOrigin, refs, scripted, specOf, trailers } from '../support/stack-repository.ts';
import { openTestStack, stateOf } from '../support/stack.ts';
import type { TestStack } from '../support/stack.ts';

// Nothing here is timed: the machine may have much else to do.
jest.setTimeout(240_000);

interface Shown {
  readonly needsPerson: boolean;
  readonly waiting: readonly { readonly on: string; readonly why: string; readonly command: string | null }[];
}

let stack: TestStack;
const gitDir = (run: string): string => join(stack.dir, run, '.git');

beforeAll(async () => {
  stack = await openTestStack({ env: { SWARMLINE_SLOTS: '4' } });
  const asked = await makeOrigin(join(stack.dir, 'asked'), { 'README.md': 'empty\n' });
  await stack.submit(
    'asked',
    specOf('asked', asked.url, {
      policy: { approve: ['plan', 'merge', 'wave', 'delivery'] },
      tasks: [scripted('a', [{ 'a.txt': 'a\n' }]), scripted('b', [{ 'b.txt': 'b\n' }], { dependsOn: ['a'] })],
    }),
  );
  const mended = await makeOrigin(join(stack.dir, 'mended'), {
    'lint.sh': '! grep BAD "$@"\n',
    'texts/base': 'x\n',
  });
  const text = (id: string, ...attempts: string[]) =>
    scripted(
      id,
      attempts.map((content) => ({ [`texts/${id}`]: `${content}\n` })),
    );
  await stack.submit(
    'mended',
    specOf('mended', mended.url, {
      gate: {
        lint: { task: 'sh lint.sh {changed}', mainline: 'true' },
        typecheck: 'skip',
        test: 'skip',
        build: 'skip',
      },
      policy: { attempts: 1 },
      tasks: [
        text('flop', 'BAD', 'good'),
        text('wrong', 'BAD'),
        text('stubborn', 'BAD'),
        text('never', 'BAD'),
        { ...text('after-never', 'good'), dependsOn: ['never'] },
        text('dropped', 'BAD'),
        { ...text('after-dropped', 'good'), dependsOn: ['dropped'] },
      ],
    }),
  );
});
afterAll(() => stack?.stop());

const status = async (run: string): Promise<Shown> =>
  JSON.parse((await stack.swarmline('status', run, '--json')).out) as Shown;
/** Waits until the run waits for a person on `what`; gives what is shown of it then. */
async function waitsFor(run: string, what: string): Promise<Shown> {
  await stack.awaitRun(run, `waits on ${what}`, ({ run: { details } }) =>
    JSON.stringify(details).includes(`"${what}"`),
  );
  return status(run);
}
/** Types a command that must succeed; gives what it said. */
async function order(...args: string[]): Promise<string> {
  const { code, out, err } = await stack.swarmline(...args);
  expect({ args, code, err: code === 0 ? '' : err }).toEqual({ args, code: 0, err: '' });
  return out;
}
/** Types a command that must be refused as the user's mistake; gives the reason. */
async function refused(...args: string[]): Promise<string> {
  const { code, out, err } = await stack.swarmline(...args);
  expect({ args, code, out }).toEqual({ args, code: 2, out: '' });
  return err;
}
const state = (run: string, task: string, wanted: string) =>
  stack.awaitRun(run, `${task} is ${wanted}`, (overview) => stateOf(overview, task) === wanted);

describe('approvals', () => {
  test('the plan: nothing has started, who waits is told with the command, and watch ends with 1', async () => {
    const { needsPerson, waiting } = await waitsFor('asked', 'approval: plan');
    expect(needsPerson).toBe(true);
    expect(waiting[0]).toMatchObject({ on: 'approval: plan', why: '2 tasks', command: 'swarmline approve asked plan' });
    const { code, out } = await stack.swarmline('watch', 'asked');
    expect(code).toBe(1);
    expect(out).toContain('swarmline approve asked plan');
    expect((await stack.db.query("select 1 from attempts where run = 'asked'")).rows).toEqual([]);
  });

  test('an approval that nobody waits for is refused, with what is waited for', async () => {
    expect(await refused('approve', 'asked', 'delivery')).toMatch(/Nothing waits for approval of "delivery".*plan/);
    expect(await refused('approve', 'asked', 'merge', '--task', 'a')).toContain(
      'a does not wait for an approval; it is pending',
    );
    expect(await refused('approve', 'asked', 'merge', '--task', 'x')).toContain('has no task "x"');
    expect(await refused('approve', 'asked', 'plans')).toContain('plan');
  });

  test('a merge: the task’s gate is green, and nothing of it is on the line before the word', async () => {
    expect(await order('approve', 'asked', 'plan')).toBe('Approved: plan\n');
    await waitsFor('asked', 'approval to merge a');
    const before = await refs(stack.hubDir('asked'));
    expect(before['refs/swarmline/next']).toBe(before['refs/swarmline/base']);
    expect(before['refs/swarmline/tasks/a/1']).toBeDefined();
    await order('approve', 'asked', 'merge', '--task', 'a');
    await state('asked', 'a', 'passed');
  });

  test('a wave and the delivery, in their order', async () => {
    const { waiting } = await waitsFor('asked', 'approval: wave');
    expect(waiting[0]?.command).toBe('swarmline approve asked wave');
    expect(Object.keys(await refs(stack.hubDir('asked')))).toContain('refs/swarmline/green/1');
    await order('approve', 'asked', 'wave');
    await waitsFor('asked', 'approval to merge b');
    await order('approve', 'asked', 'merge', '--task', 'b');
    await waitsFor('asked', 'approval: delivery');
    expect(Object.keys(await refs(gitDir('asked')))).toEqual(['refs/heads/main']);
    await order('approve', 'asked', 'delivery');
    const { run } = await stack.awaitRun('asked', 'its end', (overview) => overview.run.outcome !== null);
    expect(run.outcome).toBe('completed');
    expect(await trailers(gitDir('asked'), 'main..swarmline/asked')).toEqual(['a/1', 'b/1']);
  });
});

describe('tasks that came to nothing', () => {
  const BLOCKED = ['dropped', 'flop', 'never', 'stubborn', 'wrong'];

  test('are blocked and named with what to type, while the run waits', async () => {
    await stack.awaitRun(
      'mended',
      'all are blocked',
      ({ tasks }) => tasks.filter((task) => task.state === 'blocked').length === 5,
    );
    const { needsPerson, waiting } = await status('mended');
    expect(needsPerson).toBe(true);
    const own = waiting.filter(({ command }) => command !== null);
    expect(own.map(({ on }) => on).toSorted()).toEqual(BLOCKED.map((id) => `task ${id}`));
    expect(own.find(({ on }) => on === 'task flop')?.command).toContain('swarmline retry|amend|skip mended flop');
    expect(own[0]?.why).toMatch(/lint/);
  });

  test('retry gives new attempts; a task that is not blocked is refused', async () => {
    expect(await refused('retry', 'mended', 'after-never')).toContain('after-never is pending, not blocked');
    expect(await order('retry', 'mended', 'flop')).toMatch(/^flop is running, round 2/);
    await state('mended', 'flop', 'passed');
  });

  test('amend replaces fields of the task, checks it like a new one, and leaves the start to retry', async () => {
    const bad = await stack.file('bad-amendment.json', { files: { allow: ['lint.sh'] } });
    expect(await refused('amend', 'mended', 'wrong', bad)).toMatch(/task\.files\.allow\[0\]/);
    const good = await stack.file('amendment.json', {
      script: [{ edits: [{ path: 'texts/wrong', content: 'right\n' }] }],
    });
    expect(await order('amend', 'mended', 'wrong', good)).toMatch(
      /wrong is amended and blocked.*swarmline retry mended wrong/,
    );
    await order('retry', 'mended', 'wrong');
    await state('mended', 'wrong', 'passed');
  });

  test('land-anyway waives one step at the task’s level, with a reason that is recorded, and returns when it has landed', async () => {
    expect(await refused('land-anyway', 'mended', 'stubborn', 'lint', '--reason', ' ')).toContain('--reason');
    expect(await refused('land-anyway', 'mended', 'stubborn', 'lnt', '--reason', 'x')).toContain('lint');
    expect(await order('land-anyway', 'mended', 'stubborn', 'lint', '--reason', 'the word is meant')).toBe(
      'stubborn is passed\n',
    );
    expect(await order('logs', 'mended', 'stubborn')).toMatch(
      /task +lint +red, exit 1.*\n +task, round 2 +lint +waived/,
    );
    const { rows } = await stack.db.query<{ message: string }>(
      "select message from log_entries where kind = 'land-anyway'",
    );
    expect(rows).toEqual([{ message: 'Step lint waived: the word is meant' }]);
  });

  test('skip releases what depends on the task, or skips it too', async () => {
    expect(await refused('skip', 'mended', 'flop')).toContain('flop is passed; it can no longer be skipped');
    expect(await order('skip', 'mended', 'never')).toBe('Skipped never; what depends on it is released\n');
    expect(await order('skip', 'mended', 'dropped', '--dependants', 'skip')).toBe('Skipped dropped, after-dropped\n');
    await state('mended', 'after-never', 'passed');
  });
});

test('add takes in a task of a run that goes on, checked like the others, and the run ends with it', async () => {
  const origin = await makeOrigin(join(stack.dir, 'grown'), { 'README.md': 'empty\n' });
  const spec = specOf('grown', origin.url, {
    policy: { approve: ['delivery'], attempts: 1 },
    tasks: [
      scripted('first', [{ 'first.txt': '1\n' }]),
      { ...scripted('stuck', [{ 'stuck.txt': 'x\n' }]), script: [{ exitCode: 1 }] },
    ],
  });
  await stack.submit('grown', spec);
  await state('grown', 'stuck', 'blocked');
  const twice = await stack.file('twice.json', scripted('first', [{ 'other.txt': '1\n' }]));
  expect(await refused('add', 'grown', twice)).toMatch(/first/);
  const second = scripted('second', [{ 'second.txt': '2\n' }], { dependsOn: ['first'] });
  expect(await order('add', 'grown', await stack.file('second.json', second))).toBe('Added second\n');
  await state('grown', 'second', 'passed');
  await order('skip', 'grown', 'stuck');
  await waitsFor('grown', 'approval: delivery');
  // While it waits, what is green can be delivered already.
  expect(await order('deliver', 'grown')).toMatch(/^Pushed [0-9a-f]{40} to swarmline\/grown\n$/);
  expect((await trailers(gitDir('grown'), 'main..swarmline/grown')).toSorted()).toEqual(['first/1', 'second/1']);
  await order('approve', 'grown', 'delivery');
  const { run } = await stack.awaitRun('grown', 'its end', (overview) => overview.run.outcome !== null);
  expect(run.outcome).toBe('completed');
});

test('a run whose tasks passed or were skipped by a person ends completed, with exactly what landed', async () => {
  const { run } = await stack.awaitRun('mended', 'its end', (overview) => overview.run.outcome !== null);
  expect(run).toMatchObject({ outcome: 'completed', report: { tasks: { passed: 4, skipped: 3 } } });
  const landed = await trailers(gitDir('mended'), 'main..swarmline/mended');
  expect(landed.toSorted()).toEqual(['after-never/1', 'flop/2', 'stubborn/1', 'wrong/2']);
  expect(await gitText(gitDir('mended'), ['show', 'swarmline/mended:texts/wrong'])).toBe('right');
  expect(await stack.containers()).toEqual([]);
});
