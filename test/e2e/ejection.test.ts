/**
 * Two tasks that break each other though each is green alone, on real containers and a real repository: the mainline, or the
 * integration point, finds the culprit, takes it out, and it comes back right because of the log it is given.
 */
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { gitText } from '../../mainline/git.ts';
import { commanded, isAncestor, makeOrigin, refs, specOf, trailers } from '../support/stack-repository.ts';
import { execute, openTestStack } from '../support/stack.ts';
import type { Ended, TestStack } from '../support/stack.ts';

jest.setTimeout(300_000);

/** Red when two services have the same port. */
const UNIQUE =
  'twice=$(cat ports/* | sort | uniq -d); test -z "$twice" || { echo "port $twice is taken twice"; exit 1; }';
const writer = (id: string, script: string, dependsOn: string[] = []) =>
  commanded(id, [`ports/${id}`], ['sh', '-c', `${script} > ports/${id}`], { dependsOn });
/** Takes port 8080, or, told by a log that it is taken, one of its own. It never learns which attempt it is. */
const service = (id: string, own: number) =>
  writer(id, `if grep -qs "taken twice" "$SWARMLINE_FAILURE_LOG"; then echo ${own}; else echo 8080; fi`, ['ground']);
// A wave of its own: there is a green point that must stand whatever is taken out later.
const TASKS = [
  writer('ground', 'echo 9000'),
  service('alpha', 8081),
  service('beta', 8082),
  writer('innocent', 'echo 7000', ['ground']),
];

interface Shown {
  readonly run: { readonly outcome: string };
  readonly tasks: readonly { readonly id: string; readonly state: string; readonly attempts: number }[];
  readonly attempts: { readonly total: number; readonly byOutcome: Record<string, number> };
  readonly merges: { readonly byState: Record<string, number> };
}
interface News {
  readonly rolledBack: readonly { readonly request: string }[];
  readonly landedAgain: readonly { readonly request: string }[];
}

let stack: TestStack;
const origin = (run: string): string => join(stack.dir, run, '.git');
const refOf = (run: string, name: string): Promise<string> => gitText(stack.hubDir(run), ['rev-parse', name]);
const status = async (run: string): Promise<Shown> => {
  const { code, out } = await stack.swarmline('status', run, '--json');
  expect(code).toBe(0);
  return JSON.parse(out) as Shown;
};
/** What the gate said of heads of the line under this key, oldest first. */
const verdicts = async (run: string, key: string): Promise<{ commit: string; outcome: string }[]> => {
  const sql = "select commit, result ->> 'outcome' as outcome from gate_runs where run = $1 and key = $2 order by at";
  return (await stack.db.query<{ commit: string; outcome: string }>(sql, [run, key])).rows;
};
/** What the mainline told the run of work that had landed before, in the run's own history. */
const news = async (run: string, kind: keyof News): Promise<string[]> => {
  const { events } = await stack.client.workflow.getHandle(run).fetchHistory();
  const reports = (events ?? [])
    .map((event) => event.workflowExecutionSignaledEventAttributes)
    .filter((signal) => signal?.signalName === 'mainlineReport')
    .map((signal) => JSON.parse(Buffer.from(signal!.input!.payloads![0]!.data!).toString()) as News);
  return reports.flatMap((report) => report[kind].map(({ request }) => request)).toSorted();
};
const attempts = async (run: string): Promise<Record<string, (string | null)[]>> => {
  const sql = 'select task, array_agg(outcome order by attempt) as outcomes from attempts where run = $1 group by task';
  const { rows } = await stack.db.query<{ task: string; outcomes: (string | null)[] }>(sql, [run]);
  return Object.fromEntries(rows.map(({ task, outcomes }) => [task, outcomes]));
};

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
        tasks: TASKS,
      }),
    );
  };
  // Each gate of a task runs on what is verified, and that waits until nobody is left to hand in: both are green alone for certain.
  await submit('next', { task: UNIQUE, mainline: UNIQUE, wave: UNIQUE }, { verify: 'wave' });
  await submit('point', { task: 'true', mainline: 'true', wave: UNIQUE }, {});
});
afterAll(() => stack?.stop());

describe.each([
  // Three changes make two probes. How many of them a verification of the mainline meets is a matter of time.
  { run: 'next', what: 'a red mainline', key: 'mainline', searches: [0, 1, 2] },
  { run: 'point', what: 'a red integration point', key: 'wave-2', searches: [2] },
])('run $run: $what', ({ run, key, searches }) => {
  let culprit: string;
  /** The other of the two that break each other. */
  let other: string;
  let hub: string;
  let ejected: string;
  /** What the gate says of a commit of the hub, run by nobody of ours. */
  const judgedOutside = async (commit: string): Promise<Ended> => {
    const dir = await mkdtemp(join(stack.dir, 'outside-'));
    const tar = join(dir, 'tree.tar');
    await gitText(hub, ['archive', '--output', tar, commit]);
    await execute(['tar', '-xf', tar], { cwd: dir });
    return execute(['sh', '-c', UNIQUE], { cwd: dir });
  };
  beforeAll(async () => {
    const { run: row } = await stack.awaitRun(run, 'its end', (now) => now.run.outcome !== null, 240_000);
    expect(row.outcome).toBe('completed');
    hub = stack.hubDir(run);
    const taken = Object.entries(await refs(hub, 'refs/swarmline/ejected/'));
    expect(taken.map(([name]) => name)).toEqual([expect.stringMatching(/^refs\/swarmline\/ejected\/(alpha|beta)\/1$/)]);
    culprit = taken[0]![0].split('/')[3]!;
    other = culprit === 'alpha' ? 'beta' : 'alpha';
    ejected = taken[0]![1];
  });

  test('was red once; the search named the first head that is red outside of any container too', async () => {
    const red = (await verdicts(run, key)).filter(({ outcome }) => outcome === 'red');
    expect(red).toHaveLength(1);
    const probes = await verdicts(run, 'probe');
    expect(searches).toContain(probes.length);
    for (const { commit, outcome } of [...probes, ...red]) {
      const holdsIt = await isAncestor(hub, ejected, commit);
      expect([commit, outcome]).toEqual([commit, holdsIt ? 'red' : 'green']);
    }
    expect(await judgedOutside(`${ejected}^`)).toMatchObject({ code: 0, out: '' });
    expect(await judgedOutside(ejected)).toMatchObject({ code: 1, out: 'port 8080 is taken twice\n' });
  });

  test('the culprit’s second attempt passed, and nobody else needed one', async () => {
    expect(await attempts(run)).toEqual({
      ground: ['passed'],
      [culprit]: ['ejected', 'passed'],
      [other]: ['passed'],
      innocent: ['passed'],
    });
  });

  test('status tells the same', async () => {
    const shown = await status(run);
    expect(shown.run.outcome).toBe('completed');
    expect(shown.attempts).toMatchObject({ total: 5, byOutcome: { passed: 4, ejected: 1 } });
    expect(shown.merges.byState).toEqual({ green: 4, ejected: 1 });
    expect(Object.fromEntries(shown.tasks.map(({ id, state, attempts: made }) => [id, [state, made]]))).toEqual({
      ground: ['passed', 1],
      [culprit]: ['passed', 2],
      [other]: ['passed', 1],
      innocent: ['passed', 1],
    });
  });

  test('each task stands once on what was delivered, the culprit with its second attempt; it is main, verified and next', async () => {
    const delivered = await gitText(origin(run), ['rev-parse', `swarmline/${run}`]);
    for (const name of ['refs/heads/main', 'refs/swarmline/verified', 'refs/swarmline/next'])
      expect([name, await refOf(run, name)]).toEqual([name, delivered]);
    expect((await trailers(origin(run), `main..swarmline/${run}`)).toSorted()).toEqual(
      [`${culprit}/2`, `${other}/1`, 'ground/1', 'innocent/1'].toSorted(),
    );
  });

  test('what was delivered passes outside of any container', async () => {
    const clone = join(stack.dir, `${run}-clone`);
    await execute(['git', 'clone', '--quiet', '--branch', `swarmline/${run}`, origin(run), clone]);
    expect(await execute(['sh', '-c', UNIQUE], { cwd: clone })).toMatchObject({ code: 0, out: '' });
  });

  test('what was ejected is kept, and is no ancestor of main; main never went back', async () => {
    expect(await trailers(hub, `${ejected}^!`)).toEqual([`${culprit}/1`]);
    for (const commit of [ejected, `refs/swarmline/tasks/${culprit}/1`])
      expect([commit, await isAncestor(hub, commit, 'refs/heads/main')]).toEqual([commit, false]);
    // The line without the culprit may have made a point of its own before that one was back.
    const green = Object.keys(await refs(hub, 'refs/swarmline/green/'));
    expect([2, 3]).toContain(green.length);
    const points = ['refs/swarmline/base', ...green];
    for (const [index, point] of points.entries())
      expect([point, await isAncestor(hub, point, points[index + 1] ?? 'refs/heads/main')]).toEqual([point, true]);
    expect(await trailers(hub, 'refs/swarmline/base..refs/swarmline/green/1')).toEqual(['ground/1']);
    expect(await refOf(run, green.at(-1)!)).toBe(await refOf(run, 'refs/heads/main'));
  });

  test('no container is left', async () => {
    expect(await stack.containers({ run })).toEqual([]);
  });

  test('a person who asks is told what happened to the culprit', async () => {
    const { out } = await stack.swarmline('logs', run, culprit, '--attempt', '1');
    expect(out).toContain('ejected');
    expect(out).toContain('is taken twice');
  });

  test('who had landed with the culprit was rolled back and landed again; on the mainline nobody had', async () => {
    const innocents = run === 'point' ? [`${other}/1`, 'innocent/1'].toSorted() : [];
    expect(await news(run, 'rolledBack')).toEqual(innocents);
    expect(await news(run, 'landedAgain')).toEqual(innocents);
  });
});
