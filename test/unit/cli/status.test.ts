import { describe, expect, test } from '@jest/globals';
import { overviewJson } from '../../../cli/render/json.ts';
import { reportLines } from '../../../cli/render/report.ts';
import { statusLines } from '../../../cli/render/status.ts';
import { needsPerson, waits } from '../../../cli/render/waiting.ts';
import { pace } from '../../../cli/render/estimate.ts';
import { attemptRow, midway, NOW, overview, taskRow } from './overview.fixture.ts';

const text = (view = midway(), width = 120): string => `\n${statusLines(view, { width }).join('\n')}\n`;

describe('status', () => {
  test('a run midway is told in one screen', () => {
    expect(text()).toMatchInlineSnapshot(`
     "
     run orders-1  waves, since 3 min

     wave   tasks  pending  ready  running  merging  passed  blocked
     1          2        0      0        0        0       2        0
     2          4        0      1        1        1       0        1
     later      1        1      0        0        0       0        0
     all        7        1      1        1        1       2        1

     attempts      9: 2 passed, 5 gate-red, 1 running, 1 in the queue or unverified
     merges        2 green; the oldest in the queue for 4 s
     green points  2, the newest beef012345 (wave 1) 1 min 30 s ago
     rate          40 tasks an hour, over the last 3 min
     time left     about 6 min (an estimate: 4 tasks at that rate)
     time spent    agents 6 min 40 s, gates 3 min 20 s, waiting on us 3 s

     running
       locale-en  attempt 1  gate  since 20 s  host-a

     waiting
       waits for task locale-de, since 1 min: gate-red: test: 2 failures
           type: swarmline logs orders-1 locale-de, then swarmline retry|amend|skip orders-1 locale-de
       locale-fr waits for the mainline, since 4 s: its gate was green
       locale-it waits for a free slot, since 3 min: everything that it depends on has landed
       docs waits for locale-de, locale-en, since 3 min: locale-de is blocked, locale-en is running
     "
    `);
  });

  test('scores of green points are told with their trend while it runs, and by its report afterwards', () => {
    const of = (n: number, score: number | null) => ({ n, commit: 'c', ok: score !== null, score, ms: 1, tail: '' });
    const evaluations = [of(0, 0), of(1, 12), of(2, 15)];
    expect(text({ ...midway(), evaluations })).toContain('score         0 → 12 → 15 (+3), up to green point 2\n');
    expect(reportLines({ scores: evaluations })).toEqual(['  score by green point: 0 → 12 → 15 (+3)']);
    expect(overviewJson({ ...midway(), evaluations })).toMatchObject({ evaluations });
  });

  test('a run that has just begun shows nothing that it does not know', () => {
    expect(text(overview({ run: { phase: 'prepare' } }))).toMatchInlineSnapshot(`
     "
     run orders-1  prepare, since 3 min

     no tasks yet

     attempts      0: none
     merges        none
     green points  none yet
     rate          unknown yet
     time left     unknown yet, 0 tasks to land
     time spent    agents 0 s, gates 0 s, waiting on us 0 s

     waiting
       waits for the baseline, since 3 min: the wave gate is tried on the base commit before any task starts
           type: ./swarmline logs orders-1 baseline
     "
    `);
  });

  test('a run that has ended shows how it ended and no time left', () => {
    const ended = overview({
      run: { outcome: 'completed', endedAtMs: NOW, phase: 'done' },
      tasks: [taskRow('a', { state: 'passed', wave: 1 })],
    });
    expect(text(ended)).toMatchInlineSnapshot(`
     "
     run orders-1  completed after 3 min

     wave  tasks  passed
     1         1       1

     attempts      0: none
     merges        none
     green points  none yet
     rate          unknown yet
     time spent    agents 0 s, gates 0 s, waiting on us 0 s
     "
    `);
  });

  test('no line of waits or running attempts is longer than the terminal, and none carries an escape sequence', () => {
    const view = midway();
    const evil = {
      ...view,
      tasks: [taskRow('x', { state: 'blocked', waitingOn: 'a person', why: `\u001b[2J${'y'.repeat(500)}\nz` })],
    };
    const lines = statusLines(evil, { width: 60 });
    expect(lines.filter((line) => line.includes('x waits')).map((line) => line.length)).toEqual([60]);
    expect(lines.join('')).not.toContain('\u001b');
  });

  test('a thousand waiting tasks are summed up', () => {
    const many = overview({ tasks: Array.from({ length: 1_000 }, (_, i) => taskRow(`t${i}`, { dependsOn: ['t0'] })) });
    const lines = statusLines(many, { width: 120 });
    expect(lines.length).toBeLessThan(40);
    expect(lines.at(-1)).toBe('  and 988 more');
  });
});

describe('waits', () => {
  test('people come first with the command, and nobody is named twice', () => {
    expect(waits(midway()).map(({ task, on }) => [task, on])).toEqual([
      [null, 'task locale-de'],
      ['locale-fr', 'the mainline'],
      ['locale-it', 'a free slot'],
      ['docs', 'locale-de, locale-en'],
    ]);
  });

  test('a merged task waits for verification, since it was merged', () => {
    const view = overview({
      tasks: [taskRow('a', { state: 'merging' })],
      running: [attemptRow('a', { phase: 'merge', requestedAtMs: 1, mergedAtMs: 2 })],
    });
    expect(waits(view)).toMatchObject([{ task: 'a', on: 'verification', sinceMs: 2 }]);
  });

  test('before the first wave everybody waits for the baseline, or for the approval of the plan, not for an integration point', () => {
    const tasks = [taskRow('a'), taskRow('b', { dependsOn: ['a'] })];
    expect(waits(overview({ run: { phase: 'prepare' }, tasks }))).toMatchObject([
      { task: null, on: 'the baseline', command: './swarmline logs orders-1 baseline' },
    ]);
    const approval = { on: 'approval: plan', why: '2 tasks', sinceMs: 5, command: 'swarmline approve orders-1 plan' };
    expect(waits(overview({ run: { phase: 'prepare', details: [approval] }, tasks }))).toEqual([
      { task: null, ...approval },
    ]);
  });

  test('a task that could start says what holds the next wave back', () => {
    const on = (run: Parameters<typeof overview>[0] = {}) =>
      waits(overview({ ...run, tasks: [taskRow('a')] })).find(({ task }) => task === 'a')?.on;
    expect(on()).toBe('its wave');
    expect(on({ run: { paused: true } })).toBe('resume');
    expect(on({ run: { details: [{ on: 'approval: wave', why: 'wave 2 is next' }] } })).toBe('approval: wave');
  });

  test('a worker that is missing comes before all, with the command, until the run has ended', () => {
    const missing = [{ task: null, on: 'the mainline worker', why: 'none', sinceMs: null, command: './swarmline up' }];
    expect(waits(midway(), missing)[0]).toEqual(missing[0]);
    expect(statusLines(midway(), { width: 120, missing }).join('\n')).toContain(
      'waiting\n  waits for the mainline worker: none\n      type: ./swarmline up\n',
    );
    expect(waits({ ...midway(), run: { ...midway().run, outcome: 'failed' } }, missing)).not.toContainEqual(missing[0]);
  });

  test('details that are no list of waits are shown as nothing', () => {
    for (const details of [null, 'x', 3, {}, [null, 4]]) expect(waits(overview({ run: { details } }))).toEqual([]);
  });
});

describe('needs a person', () => {
  const stuck = overview({
    run: { details: [{ on: 'task a', why: 'red', sinceMs: 1, command: 'swarmline retry r a' }] },
    tasks: [taskRow('a', { state: 'blocked' }), taskRow('b', { dependsOn: ['a'] })],
    merges: { ...overview().merges, byState: { green: 3, ejected: 1 } },
  });

  test('when only a blocked task and its dependants are left', () => {
    expect(needsPerson(stuck)).toBe(true);
  });

  test('when a merge waits for approval and nothing else moves', () => {
    const view = {
      ...stuck,
      run: { ...stuck.run, details: [{ on: 'approval to merge a', why: '', sinceMs: 1, command: 'x' }] },
      tasks: [taskRow('a', { state: 'merging' })],
      running: [attemptRow('a', { phase: 'merge' })],
    };
    expect(needsPerson(view)).toBe(true);
  });

  test('when it is paused and nothing runs', () => {
    expect(needsPerson(overview({ run: { paused: true } }))).toBe(true);
  });

  test.each([
    ['an attempt runs', { running: [attemptRow('c')] }],
    ['a merge is not verified yet', { merges: { ...stuck.merges, byState: { merged: 1 } } }],
    ['an integration point is on its way', { merges: { ...stuck.merges, byState: { verified: 1 } } }],
    ['another task moves', { tasks: [...stuck.tasks, taskRow('c', { state: 'retrying' })] }],
    ['nobody is waited for', { run: { ...stuck.run, details: null } }],
    ['it has ended', { run: { ...stuck.run, outcome: 'failed' } }],
  ])('not while %s', (_, more) => {
    expect(needsPerson({ ...stuck, ...more })).toBe(false);
  });
});

describe('time left', () => {
  test('is the tasks left at the rate of what landed, blocked ones not counted', () => {
    const { perHour, remaining, leftMs } = pace(midway());
    expect([perHour, remaining, leftMs]).toEqual([40, 4, 360_000]);
  });

  test('is unknown before two have landed, and while paused', () => {
    const view = midway();
    expect(pace({ ...view, merges: { ...view.merges, landedAtMs: [NOW] } }).leftMs).toBeNull();
    expect(pace({ ...view, run: { ...view.run, paused: true } }).leftMs).toBeNull();
  });
});

test('JSON carries the snapshot and what is derived from it', () => {
  const json = JSON.parse(JSON.stringify(overviewJson(midway())));
  expect(Object.keys(json)).toEqual(
    expect.arrayContaining([
      'run',
      'tasks',
      'running',
      'attempts',
      'merges',
      'greenPoints',
      'pace',
      'waiting',
      'needsPerson',
    ]),
  );
});
