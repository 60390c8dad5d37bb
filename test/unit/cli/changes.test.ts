import { expect, test } from '@jest/globals';
import { changeLines } from '../../../cli/render/changes.ts';
import { midway, NOW, overview, taskRow } from './overview.fixture.ts';

test('the first look says where things stand, not what once changed', () => {
  expect(changeLines(null, midway())).toEqual([
    'run orders-1: waves, 7 tasks',
    'waits for task locale-de: gate-red: test: 2 failures (type: swarmline logs orders-1 locale-de, then swarmline retry|amend|skip orders-1 locale-de)',
  ]);
});

test('nothing changed, nothing said', () => {
  expect(changeLines(midway(), midway())).toEqual([]);
});

test('every change is one line', () => {
  const before = midway();
  const after = {
    ...before,
    run: { ...before.run, phase: 'deliver', paused: true, details: null },
    tasks: [
      ...before.tasks.map((task) =>
        task.id === 'locale-en'
          ? { ...task, state: 'passed' as const, commit: 'abcdef0123456789' }
          : task.id === 'locale-fr'
            ? { ...task, state: 'retrying' as const, why: 'conflict with rules\nin two files' }
            : task,
      ),
      taskRow('late'),
    ],
    greenPoints: [...before.greenPoints, { n: 2, commit: 'abcdef0123456789', wave: 2, atMs: NOW }],
  };
  expect(changeLines(before, after)).toEqual([
    'run: deliver',
    'run: paused',
    'locale-en: passed, landed as abcdef0123 (3 of 8)',
    'locale-fr: retrying: conflict with rules in two files',
    'late: added',
    'green point 2: abcdef0123, wave 2',
  ]);
});

test('an ejected task is told with its round', () => {
  const before = overview({ tasks: [taskRow('a', { state: 'passed' })] });
  const after = overview({ tasks: [taskRow('a', { state: 'pending', round: 2, why: 'culprit of wave 1' })] });
  expect(changeLines(before, after)).toEqual(['a: pending, round 2: culprit of wave 1']);
});

test('the end is the last line', () => {
  const after = overview({ run: { outcome: 'failed', endedAtMs: NOW, phase: 'done' } });
  expect(changeLines(overview(), after)).toEqual(['run orders-1: failed after 3 min']);
});
