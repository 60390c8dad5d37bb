import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { TASK_STATES } from '../../../spec/model.ts';
import {
  canMove,
  IllegalMove,
  isClosed,
  isFinal,
  moveTask,
  TASK_EVENTS,
  TASK_MOVES,
  taskStatePicture,
} from '../../../spec/task-state.ts';

describe('the states of a task', () => {
  test('a task that does everything right goes from pending to passed', () => {
    const events = ['dependencies-landed', 'started', 'gate-green', 'landed'] as const;
    expect(events.reduce(moveTask, 'pending')).toBe('passed');
  });

  test('invariant 2: passed is reached only by landing', () => {
    const entrances = TASK_MOVES.filter(({ to }) => to === 'passed').map(({ event }) => event);
    expect(new Set(entrances)).toEqual(new Set(['landed']));
  });

  test('failed is left by an event that follows at once, and by no person', () => {
    expect(TASK_EVENTS.filter((event) => canMove('failed', event))).toEqual(['attempts-left', 'attempts-exhausted']);
  });

  test('skipped and cancelled are final and only a person causes them', () => {
    for (const state of ['skipped', 'cancelled'] as const) {
      expect(TASK_EVENTS.filter((event) => canMove(state, event))).toEqual([]);
      expect(new Set(TASK_MOVES.filter(({ to }) => to === state).map(({ event }) => event)).size).toBe(1);
    }
  });

  test('what was ejected is no longer passed', () => {
    expect(moveTask('passed', 'ejected')).toBe('pending');
    expect(moveTask('passed', 'rolled-back')).toBe('merging');
  });

  test('a move that the table does not have is refused by name', () => {
    expect(() => moveTask('pending', 'landed')).toThrow(IllegalMove);
    expect(() => moveTask('pending', 'landed')).toThrow('A task that is pending cannot take "landed"');
  });

  test('no state has two moves for one event', () => {
    const keys = TASK_MOVES.map(({ from, event }) => `${from} ${event}`);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('every state can be reached and every state but the final ones can be left', () => {
    const reached = new Set(['pending', ...TASK_MOVES.map(({ to }) => to)]);
    expect(reached).toEqual(new Set(TASK_STATES));
    const stuck = TASK_STATES.filter((state) => !TASK_MOVES.some(({ from }) => from === state));
    expect(stuck).toEqual(['skipped', 'cancelled']);
  });

  test('a wave closes over passed, blocked, skipped and cancelled tasks; a run completes without blocked ones', () => {
    expect(TASK_STATES.filter(isClosed)).toEqual(['passed', 'blocked', 'skipped', 'cancelled']);
    expect(TASK_STATES.filter(isFinal)).toEqual(['passed', 'skipped', 'cancelled']);
  });

  test('the picture in docs/task-states.md is the one that the table makes', () => {
    expect(readFileSync('docs/task-states.md', 'utf8')).toContain(taskStatePicture());
  });
});
