/**
 * Two tasks that break each other though each is green alone, on real containers and a real repository: the mainline, or the
 * integration point, finds the culprit, takes it out, and it comes back right because of the log it is given.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { gitText } from '../../mainline/git.ts';
import type { RunOverview } from '../../store/index.ts';
import { commanded, isAncestor, makeOrigin, refs, specOf, trailers } from '../support/stack-repository.ts';
import { openTestStack } from '../support/stack.ts';
import type { TestStack } from '../support/stack.ts';

jest.setTimeout(300_000);

/** Red when two services have the same port. */
const UNIQUE =
  'twice=$(cat ports/* | sort | uniq -d); test -z "$twice" || { echo "port $twice is taken twice"; exit 1; }';
/** Takes port 8080, or, told by a log that it is taken, one of its own. It never learns which attempt it is. */
const service = (id: string, own: number) =>
  commanded(
    id,
    [`ports/${id}`],
    [
      'sh',
      '-c',
      `if grep -qs "taken twice" "$SWARMLINE_FAILURE_LOG"; then echo ${own}; else echo 8080; fi > ports/${id}`,
    ],
  );
const innocent = commanded('innocent', ['ports/innocent'], ['sh', '-c', 'echo 7000 > ports/innocent']);

let stack: TestStack;
const origin = (run: string): string => join(stack.dir, run, '.git');
const ended = async (run: string): Promise<RunOverview> => {
  const overview = await stack.awaitRun(run, 'its end', (now) => now.run.outcome !== null, 240_000);
  expect(overview.run.outcome).toBe('completed');
  return overview;
};
const attempts = async (run: string): Promise<Record<string, (string | null)[]>> => {
  const sql = 'select task, array_agg(outcome order by attempt) as outcomes from attempts where run = $1 group by task';
  const { rows } = await stack.db.query<{ task: string; outcomes: (string | null)[] }>(sql, [run]);
  return Object.fromEntries(rows.map(({ task, outcomes }) => [task, outcomes]));
};
const landed = (run: string): Promise<string[]> =>
  trailers(stack.hubDir(run), 'refs/swarmline/base..refs/heads/main', 'Swarmline-Request');

beforeAll(async () => {
  stack = await openTestStack({ env: { SWARMLINE_SLOTS: '4' } });
  const submit = async (run: string, levels: Record<string, string>, policy: object): Promise<void> => {
    const { url } = await makeOrigin(join(stack.dir, run), { 'ports/none': '1\n' });
    await stack.submit(
      run,
      specOf(run, url, {
        gate: { lint: 'skip', typecheck: 'skip', test: levels, build: 'skip' },
        roles: { worker: { engine: 'command' } },
        policy,
        tasks: [service('alpha', 8081), service('beta', 8082), innocent],
      }),
    );
  };
  // Nothing is verified before all three are merged: the break is there for certain, whoever came first.
  await submit('next', { task: UNIQUE, mainline: UNIQUE, wave: UNIQUE }, { verify: 'wave' });
  await submit('point', { task: 'true', mainline: 'true', wave: UNIQUE }, {});
});
afterAll(() => stack?.stop());

describe.each([
  ['next', 'a red mainline'],
  ['point', 'a red integration point'],
])('run %s: %s', (run) => {
  let overview: RunOverview;
  let culprit: string;
  beforeAll(async () => {
    overview = await ended(run);
    const twice = Object.entries(await attempts(run)).filter(([, outcomes]) => outcomes.length > 1);
    expect(twice).toHaveLength(1);
    culprit = twice[0]![0];
  });

  test('the culprit is one of the two that break each other; its second attempt lands, and nobody else needed one', async () => {
    expect(['alpha', 'beta']).toContain(culprit);
    const other = culprit === 'alpha' ? 'beta' : 'alpha';
    expect(await attempts(run)).toEqual({
      [culprit]: ['ejected', 'passed'],
      [other]: ['passed'],
      innocent: ['passed'],
    });
    expect(overview.tasks.map(({ state }) => state)).toEqual(['passed', 'passed', 'passed']);
  });

  test('on main stands each task once, the culprit with its second attempt', async () => {
    const other = culprit === 'alpha' ? 'beta' : 'alpha';
    expect((await landed(run)).toSorted()).toEqual([`${culprit}/2`, `${other}/1`, 'innocent/1'].toSorted());
    const ports = await Promise.all(
      ['alpha', 'beta', 'innocent'].map((id) => gitText(stack.hubDir(run), ['show', `main:ports/${id}`])),
    );
    expect(new Set(ports).size).toBe(3);
  });

  test('what was ejected is kept, and is no ancestor of main; main never went back', async () => {
    const all = await refs(stack.hubDir(run));
    const ejected = Object.entries(all).filter(([name]) => name.startsWith(`refs/swarmline/ejected/${culprit}/`));
    expect(ejected).toHaveLength(1);
    expect(await isAncestor(stack.hubDir(run), ejected[0]![1], 'refs/heads/main')).toBe(false);
    expect(await isAncestor(stack.hubDir(run), all[`refs/swarmline/tasks/${culprit}/1`]!, 'refs/heads/main')).toBe(
      false,
    );
    const points = Object.entries(all)
      .filter(([name]) => name.startsWith('refs/swarmline/green/'))
      .toSorted(([a], [b]) => Number(a.split('/').at(-1)) - Number(b.split('/').at(-1)))
      .map(([, commit]) => commit);
    expect(points.length).toBeGreaterThan(0);
    for (const [index, point] of points.entries()) {
      expect(await isAncestor(stack.hubDir(run), point, points[index + 1] ?? 'refs/heads/main')).toBe(true);
    }
    expect(points.at(-1)).toBe(all['refs/heads/main']);
  });

  test('what is delivered is main, and no container is left', async () => {
    expect(await gitText(origin(run), ['rev-parse', `swarmline/${run}`])).toBe(
      await gitText(stack.hubDir(run), ['rev-parse', 'refs/heads/main']),
    );
    expect(await stack.containers({ run })).toEqual([]);
  });

  test('a person who asks is told what happened to the culprit', async () => {
    const { out } = await stack.swarmline('logs', run, culprit, '--attempt', '1');
    expect(out).toContain('ejected');
    expect(out).toContain('is taken twice');
  });
});
