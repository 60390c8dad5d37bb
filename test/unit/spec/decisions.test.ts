import { describe, expect, test } from '@jest/globals';
import { consequenceOf, mayRetry } from '../../../spec/causes.ts';
import { ejectionOf, entriesAfter, entriesUpTo } from '../../../spec/line.ts';
import { FAILURE_CAUSES } from '../../../spec/model.ts';
import type { LineEntry, PlanTask, TaskKind } from '../../../spec/model.ts';
import { allDependants, layersOf, startableTasks, unmetDependencies, waveParts } from '../../../spec/schedule.ts';
import type { TaskStanding } from '../../../spec/schedule.ts';
import { culpritIndex, nextProbe, observe, startSearch } from '../../../spec/search.ts';
import { grantSlots, reservedSlots } from '../../../spec/slots.ts';

const task = (id: string, dependsOn: string[] = [], more: Partial<PlanTask> = {}): PlanTask => ({
  id,
  kind: 'work',
  dependsOn,
  priority: 0,
  index: id.charCodeAt(0),
  ...more,
});
const standing = (state: TaskStanding['state'], releasesDependants = false): TaskStanding => ({
  state,
  releasesDependants,
});
const all = (plan: PlanTask[], states: Record<string, TaskStanding> = {}): Map<string, TaskStanding> =>
  new Map(plan.map(({ id }) => [id, states[id] ?? standing('pending')]));

describe('which tasks may start', () => {
  const plan = [task('a'), task('b', ['a']), task('c', ['a', 'b']), task('d')];

  test('only tasks whose dependencies have all landed', () => {
    expect(startableTasks(plan, all(plan)).map(({ id }) => id)).toEqual(['a', 'd']);
    expect(startableTasks(plan, all(plan, { a: standing('merging') })).map(({ id }) => id)).toEqual(['d']);
    expect(startableTasks(plan, all(plan, { a: standing('passed') })).map(({ id }) => id)).toEqual(['b', 'd']);
  });

  test('a skipped dependency releases its dependants only when the person said so', () => {
    expect(unmetDependencies(plan[1]!, all(plan, { a: standing('skipped') }))).toEqual(['a']);
    expect(unmetDependencies(plan[1]!, all(plan, { a: standing('skipped', true) }))).toEqual([]);
    expect(unmetDependencies(plan[1]!, all(plan, { a: standing('cancelled', true) }))).toEqual(['a']);
  });

  test('order: priority, then the longest path below, then age', () => {
    const many = [task('a'), task('b'), task('c', ['b']), task('d', [], { priority: 5 })];
    expect(startableTasks(many, all(many)).map(({ id }) => id)).toEqual(['d', 'b', 'a']);
  });

  test('layers are the waves of a run in which nothing fails', () => {
    expect(layersOf(plan)).toEqual([['a', 'd'], ['b'], ['c']]);
  });

  test('dependants are found through others', () => {
    expect([...allDependants(plan, ['a'])].toSorted()).toEqual(['b', 'c']);
  });

  test('a wave of many tasks is cut into parts that lose none', () => {
    const ids = Array.from({ length: 205 }, (_, n) => n);
    const parts = waveParts(ids, 80);
    expect(parts.map(({ length }) => length)).toEqual([80, 80, 45]);
    expect(parts.flat()).toEqual(ids);
  });
});

describe('slots', () => {
  const seekers = (kinds: TaskKind[]) => kinds.map((kind, n) => ({ task: `${kind}-${n}`, kind }));

  test('never more are held than the limit', () => {
    expect(grantSlots(seekers(['work', 'work', 'work']), seekers(['work']), 3)).toHaveLength(2);
    expect(grantSlots(seekers(['work']), seekers(['work', 'work', 'work']), 3)).toHaveLength(0);
  });

  test('one in ten is kept for fix, merge and split tasks', () => {
    expect(reservedSlots(20)).toBe(2);
    const held = seekers(Array<TaskKind>(18).fill('work'));
    expect(grantSlots(seekers(['work', 'fix', 'merge', 'split']), held, 20).map(({ kind }) => kind)).toEqual([
      'fix',
      'merge',
    ]);
  });

  test('dependency updates run one at a time', () => {
    expect(
      grantSlots(seekers(['dependency-update', 'dependency-update', 'work']), [], 5).map(({ kind }) => kind),
    ).toEqual(['dependency-update', 'work']);
    expect(grantSlots(seekers(['dependency-update']), seekers(['dependency-update']), 5)).toEqual([]);
  });
});

describe('the search for a culprit', () => {
  test.each([1, 2, 3, 7, 64, 100])(
    'finds every possible culprit among %i entries in at most ⌈log2⌉ probes',
    (entries) => {
      for (let culprit = 0; culprit < entries; culprit++) {
        let search = startSearch(entries);
        let probes = 0;
        for (let prefix = nextProbe(search); prefix !== null; prefix = nextProbe(search)) {
          probes += 1;
          search = observe(search, prefix, prefix > culprit);
        }
        expect(culpritIndex(search)).toBe(culprit);
        expect(probes).toBeLessThanOrEqual(Math.ceil(Math.log2(entries)));
      }
    },
  );

  test('an empty line has no culprit to search', () => {
    expect(() => startSearch(0)).toThrow(RangeError);
  });

  test('a prefix that is known is not judged again', () => {
    expect(() => observe(startSearch(4), 4, true)).toThrow('known already');
  });
});

describe('what goes with a culprit', () => {
  const entry = (id: string): LineEntry => ({ commit: `c-${id}`, request: `${id}/1`, task: id, attempt: 1 });
  const entries = ['a', 'b', 'c', 'd'].map(entry);

  test('merged tasks that depend on it, and nobody else', () => {
    const plan = [task('a'), task('b'), task('c', ['b']), task('d')];
    expect(ejectionOf(entries[1]!, entries, plan).map(({ task: id }) => id)).toEqual(['b', 'c']);
  });

  test('a line is cut before and after a commit, and a commit that is not on it cuts off nothing', () => {
    expect(entriesUpTo(entries, 'c-b').map(({ task: id }) => id)).toEqual(['a', 'b']);
    expect(entriesAfter(entries, 'c-b').map(({ task: id }) => id)).toEqual(['c', 'd']);
    expect(entriesUpTo(entries, 'gone')).toEqual([]);
    expect(entriesAfter(entries, 'gone')).toEqual(entries);
  });
});

describe('causes of a red attempt', () => {
  test('every cause has a sentence and a place to start from', () => {
    for (const cause of FAILURE_CAUSES)
      expect(consequenceOf(cause)).toMatchObject({ says: expect.stringMatching(/^(it|its|a|the) /) });
  });

  test('after a conflict the next attempt starts from next, otherwise from verified', () => {
    expect(FAILURE_CAUSES.filter((cause) => consequenceOf(cause).startFrom === 'next')).toEqual(['conflict']);
  });

  test('only being the culprit counts as an ejection', () => {
    expect(FAILURE_CAUSES.filter((cause) => consequenceOf(cause).isEjection)).toEqual(['ejected']);
  });

  test('one attempt and three retries, and no more ejections than fixAttempts', () => {
    const policy = { attempts: 4, fixAttempts: 2 };
    expect([1, 2, 3, 4].map((attempts) => mayRetry(policy, attempts, 0))).toEqual([true, true, true, false]);
    expect([0, 1, 2, 3].map((ejections) => mayRetry(policy, 1, ejections))).toEqual([true, true, true, false]);
  });
});
