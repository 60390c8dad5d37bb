import { describe, expect, test } from '@jest/globals';
import { checkedAnswer } from '../../../spec/plan/index.ts';
import { context, problems, task } from './fixture.ts';

const empty = { mayScaffold: true, files: [] };
const answer = (more: object = {}) => ({
  tasks: [task('manifest', { files: { allow: ['gate.sh'] } }), task('words', { files: { allow: ['words.js'] } })],
  scaffold: ['manifest'],
  ...more,
});

describe('starting from nothing', () => {
  test('everything else waits for the scaffold, whatever it names itself', () => {
    const checked = checkedAnswer(answer(), context(empty));
    expect(checked.problems).toEqual([]);
    expect(checked.tasks.map(({ id, dependsOn }) => [id, dependsOn])).toEqual([
      ['manifest', []],
      ['words', ['manifest']],
    ]);
  });

  test('a plan without a scaffold is sent back', () => {
    expect(problems(answer({ scaffold: [] }), empty)).toEqual([
      expect.stringContaining('scaffold: is empty, but so is the repository'),
    ]);
  });

  test('a scaffold is of this answer and depends on nothing else', () => {
    expect(problems(answer({ scaffold: ['manifest', 'manifst'] }), empty)).toEqual([
      'scaffold[1]: there is no task "manifst" in this answer (did you mean "manifest"?)',
    ]);
    const tasks = [
      task('manifest', { dependsOn: ['words'], files: { allow: ['a'] } }),
      task('words', { interface: 'A.', files: { allow: ['b'] } }),
    ];
    const integration = [{ of: 'words', by: 'manifest', test: 'a' }];
    expect(problems(answer({ tasks, integration }), empty)).toEqual([
      'tasks[0].dependsOn: the scaffold task "manifest" depends on "words", which is none',
    ]);
  });

  test('elsewhere there is none', () => {
    expect(problems(answer())).toEqual([
      expect.stringContaining('scaffold: names tasks, but only the first plan of an empty repository'),
    ]);
  });

  test('a later planner’s tasks wait for a scaffold that has not landed', () => {
    const earlier = {
      id: 'manifest',
      kind: 'work' as const,
      files: { allow: ['gate.sh'], forbid: [] },
      interface: '',
      dependsOn: [],
      tests: [],
      started: true,
      closed: false,
      dead: false,
      scaffold: true,
    };
    const only = { tasks: [task('words', { files: { allow: ['words.js'] } })] };
    expect(checkedAnswer(only, context({ ...empty, tasks: [earlier] })).tasks[0]?.dependsOn).toEqual(['manifest']);
    expect(checkedAnswer(only, context({ tasks: [{ ...earlier, closed: true }] })).tasks[0]?.dependsOn).toEqual([]);
  });
});
