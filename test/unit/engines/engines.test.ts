import { describe, expect, test } from '@jest/globals';
import { ENGINE_NAMES, engineFor, EngineInputError, UnknownEngine } from '../../../engines/index.ts';
import type { EngineInput } from '../../../engines/index.ts';
import { ENGINES } from '../../../spec/fields-engines.ts';
import type { TaskSpec } from '../../../spec/model.ts';

const task: TaskSpec = {
  id: 'orders-cancel',
  kind: 'work',
  goal: 'Cancel an order.',
  interface: '',
  files: { allow: ['src/**'], forbid: [], reference: [] },
  acceptance: ['It is cancelled.'],
  tests: {},
  dependsOn: [],
  priority: 0,
  role: 'worker',
  run: ['node', 'tools/codemod.mjs'],
  script: [
    { edits: [{ path: 'a', content: '1' }], waitMs: 0, exitCode: 1 },
    { edits: [{ path: 'a', content: '2' }], waitMs: 0, exitCode: 0 },
  ],
  mayBeEmpty: false,
};
const input: EngineInput = { task, role: { engine: 'command', model: null }, lastFailure: null };
const failed: EngineInput = {
  ...input,
  lastFailure: { cause: 'gate-red', why: 'The step "test" failed.', log: 'expected 1, got 2' },
};

describe('the command engine', () => {
  test('runs the argv of the Task Spec as it stands and feeds it the Task Spec as JSON', () => {
    const command = engineFor('command').command(input);
    expect(command.argv).toEqual(['node', 'tools/codemod.mjs']);
    expect(command.stdinFile).toBe('/run/swarmline/stdin.json');
    const stdin = JSON.parse(command.files['stdin.json'] as string);
    expect(stdin.task.goal).toBe('Cancel an order.');
    expect(stdin.lastFailure).toBeNull();
    expect(JSON.parse(command.files['task.json'] as string).id).toBe('orders-cancel');
  });

  test('at the first attempt there is neither a failure log nor a variable that names one', () => {
    const command = engineFor('command').command(input);
    expect(Object.keys(command.files)).not.toContain('failure.log');
    expect(command.env).toEqual({ SWARMLINE_TASK: '/run/swarmline/task.json' });
  });

  test('afterwards the reason and the log are in the file and on standard input', () => {
    const command = engineFor('command').command(failed);
    expect(command.env['SWARMLINE_FAILURE_LOG']).toBe('/run/swarmline/failure.log');
    expect(command.files['failure.log']).toBe('The step "test" failed.\n\nexpected 1, got 2\n');
    expect(JSON.parse(command.files['stdin.json'] as string).lastFailure).toEqual(failed.lastFailure);
  });

  test('nothing that it is given depends on the attempt number', () => {
    expect(engineFor('command').command({ ...failed, attemptIndex: 2 })).toEqual(
      engineFor('command').command({ ...failed, attemptIndex: 3 }),
    );
  });

  test('a task without a command is a user error that names the task', () => {
    expect(() => engineFor('command').command({ ...input, task: { ...task, run: null } })).toThrow(EngineInputError);
    expect(() => engineFor('command').command({ ...input, task: { ...task, run: null } })).toThrow(/orders-cancel/);
  });

  test('exit codes, deadlines and memory are told apart, with the end of the output quoted', () => {
    const engine = engineFor('command');
    expect(engine.outcome({ end: 'exited', exitCode: 0, output: 'done' })).toMatchObject({
      ok: true,
      cause: null,
      lastMessage: 'done',
    });
    expect(engine.outcome({ end: 'exited', exitCode: 3, output: '\u001b[31mno such file\u001b[0m\n' })).toMatchObject({
      ok: false,
      cause: 'agent-failed',
      why: 'The command exited with code 3. It ended with: no such file',
    });
    expect(engine.outcome({ end: 'timeout', exitCode: 137, output: '' }).cause).toBe('agent-timeout');
    expect(engine.outcome({ end: 'oom', exitCode: 137, output: '' }).cause).toBe('agent-oom');
    expect(engine.outcome({ end: 'disk-full', exitCode: 1, output: '' }).cause).toBe('agent-disk-full');
  });

  test('it refuses to judge a container that was lost or stopped', () => {
    expect(() => engineFor('command').outcome({ end: 'engine-lost', exitCode: null, output: '' })).toThrow(
      'cannot judge',
    );
    expect(() => engineFor('command').outcome({ end: 'killed', exitCode: 137, output: '' })).toThrow('cannot judge');
  });
});

describe('the scripted engine', () => {
  test('attempt n replays entry n, and the last one ever after', () => {
    const content = (attemptIndex: number) =>
      JSON.parse(engineFor('scripted').command({ ...input, attemptIndex }).files['script.json'] as string).edits[0]
        .content;
    expect([1, 2, 3].map(content)).toEqual(['1', '2', '2']);
  });

  test('a task without a script is a user error', () => {
    expect(() => engineFor('scripted').command({ ...input, task: { ...task, script: null } })).toThrow(
      EngineInputError,
    );
  });
});

test('every engine that a spec may name is there, but the one that is kept for later', () => {
  expect(ENGINES.filter((name) => name !== 'external')).toEqual(ENGINE_NAMES);
});

test('an unknown engine is refused with the known ones named', () => {
  expect(() => engineFor('external')).toThrow(UnknownEngine);
  expect(() => engineFor('external')).toThrow(
    'There is no engine "external". Known engines: command, scripted, claude-code, codex, aider.',
  );
});
