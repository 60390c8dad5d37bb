import { describe, expect, it } from '@jest/globals';
import { answerPage, checkedAnswer, DEFAULT_BOUNDS, readAnswer } from '../../../spec/plan/index.ts';
import { answer, context, planned, problems, task } from './fixture.ts';

describe('a planner’s answer', () => {
  it('without a problem becomes tasks with every default and dependency', () => {
    const checked = checkedAnswer(answer({ dependencies: [{ task: 'print', on: 'earlier' }] }), {
      ...context({ tasks: [planned('earlier')], integrated: ['earlier'] }),
    });
    expect(checked.problems).toEqual([]);
    expect(checked.tasks).toMatchObject([
      { id: 'parse', kind: 'work', role: 'worker', dependsOn: [], files: { forbid: [] } },
      { id: 'print', dependsOn: ['parse', 'earlier'] },
    ]);
  });

  it('is read from the end of what the planner said, and what is wrong with that is said as plainly', () => {
    const said = `Thinking {about} it.\n\n\`\`\`json\n${JSON.stringify(answer())}\n\`\`\`\n`;
    expect(readAnswer(said, context()).answer?.scopes).toHaveLength(1);
    expect(readAnswer('I cannot.', context()).problems).toEqual([
      { path: '', message: expect.stringContaining('no JSON object') },
    ]);
  });

  it('is told all its problems at once, each with its path', () => {
    const bad = {
      decisions: [{ id: 'Bad Id', subject: '', text: 'x' }],
      scopes: [
        { id: 'a', goal: 'A.', files: ['src/a/**'] },
        { id: 'b', goal: '', files: ['src/**/x.ts', '../up'] },
      ],
      tasks: [
        task('parse', { kind: 'fix', acceptance: [] }),
        task('parse', { role: 'reviewer', dependsOn: ['parser'] }),
        { id: 'bare', color: 'red' },
      ],
      dependencies: [{ task: 'nobody', on: 'parse' }],
      drop: [{ task: 'gone', why: '' }],
      more: 1,
    };
    const found = problems(bad);
    expect(found).toMatchInlineSnapshot(`
     [
       "more: unknown field; known here: decisions, scopes, tasks, dependencies, integration, drop, scaffold, done",
       "decisions[0].id: "Bad Id" must be a-z, 0-9, "." or "-", start and end with a letter or digit, and have at most 63 characters",
       "decisions[0].subject: is empty; say what is decided about",
       "scopes[1].goal: is empty; say what is true when it is done",
       "scopes[1].files[1]: "../up" leaves the repository through ".."",
       "scopes[1].files[0]: "src/**/x.ts" of "b" and "src/a/**" of "a" share paths: two planners would decide about the same files",
       "tasks[0].acceptance: is empty; at least one entry is needed",
       "tasks[0].kind: "fix" is not planned; a plan has work, interface-change, dependency-update, split, reconcile",
       "tasks[1].id: the id "parse" is taken by tasks[0]",
       "tasks[1].role: the role "reviewer" is not configured; add roles.reviewer, or take the default "worker"",
       "tasks[1].role: a reviewer edits no files; a planned task has worker, merger, splitter, reconciler",
       "tasks[1].dependsOn[0]: there is no task "parser" (did you mean "parse"?)",
       "tasks[2].goal: is required",
       "tasks[2].files: is required",
       "tasks[2].acceptance: is required",
       "tasks[2].color: unknown field; known here: id, kind, goal, interface, files, acceptance, tests, dependsOn, priority, role, run, script, mayBeEmpty",
       "dependencies[0].task: there is no task "nobody"",
       "drop[0].task: there is no earlier task "gone"",
       "drop[0].why: is empty; say why the task is not needed as it stands",
     ]
    `);
    expect(checkedAnswer(bad, context())).toMatchObject({ answer: null, tasks: [], dependencies: [] });
  });

  it('never throws and never passes, whatever it is', () => {
    for (const input of [
      null,
      1,
      'x',
      [],
      { tasks: 5 },
      { tasks: [null, {}, { files: [] }] },
      { scopes: [{ files: 3 }] },
    ]) {
      expect(problems(input).length).toBeGreaterThan(0);
    }
    let deep: unknown = 1;
    for (let i = 0; i < 50; i++) deep = { deep };
    expect(problems({ tasks: [], deep })).toEqual([expect.stringContaining('levels deep')]);
    expect(problems({ decisions: [{ id: 'a', subject: 'b', text: 'x'.repeat(2e6) }] })[0]).toMatch(/at most 1m/);
  });

  it('that plans nothing has to say that it is done', () => {
    expect(problems({})).toEqual([expect.stringContaining('plans nothing')]);
    expect(problems({ done: true })).toEqual([]);
    expect(problems(answer({ done: true }))).toEqual([expect.stringMatching(/^done: /)]);
  });

  it('holds no secret, and the report does not repeat it', () => {
    const key = `sk-ant-api03-${'a1B2'.repeat(20)}`;
    const found = problems(
      answer({ tasks: [task('parse', { goal: `Use ${key} in src/parse.ts.` })], integration: [] }),
    );
    expect(found.join()).toContain('shape of a key');
    expect(found.join()).not.toContain(key);
  });
});

describe('planning is bounded', () => {
  it('in depth, breadth and number', () => {
    const bounds = { ...DEFAULT_BOUNDS, depth: 1, breadth: 0, tasks: 1, totalTasks: 1, decisions: 0 };
    expect(problems(answer(), { bounds }).map((line) => line.split(' ').slice(0, 6).join(' '))).toEqual([
      'decisions: would make 1; a plan',
      'scopes: would be at level 2',
      'scopes: are 1; one answer has',
      'tasks: are 2; one answer has',
      'tasks: would make 2 tasks in',
    ]);
  });
});

describe('scopes', () => {
  const scope = (id: string, files: string[], more: object = {}) => ({ id, goal: `Do ${id}.`, files, ...more });

  it('of siblings share no path, in this answer or elsewhere in the plan', () => {
    const found = problems(
      { scopes: [scope('a', ['src/a/**', 'src/{x,y}.ts']), scope('b', ['src/*.ts']), scope('c', ['lib/**'])] },
      { otherScopes: [{ id: 'old', files: ['lib/util.ts'] }] },
    );
    expect(found).toEqual([
      expect.stringMatching(/^scopes\[1\]\.files\[0\]: "src\/\*\.ts" of "b" and "src\/\{x,y\}\.ts" of "a" share paths/),
      expect.stringMatching(/^scopes\[2\]\.files\[0\]: "lib\/\*\*" of "c" and "lib\/util\.ts" of "old"/),
    ]);
  });

  it('and tasks stay within the scope of their planner', () => {
    const node = { id: 'core', depth: 1, files: ['src/{a,b}/**', 'test/a.test.ts'] };
    const files = (...allow: string[]) => ({ files: { allow } });
    const found = problems(
      {
        scopes: [scope('in', ['src/a/x/**']), scope('out', ['src/c/**'])],
        tasks: [
          task('t1', files('src/b/*.ts', 'test/a.test.ts')),
          task('t2', files('src/{b,c}/y.ts')),
          task('t3', { ...files('package.json'), kind: 'dependency-update' }),
        ],
      },
      { node },
    );
    expect(found.map((line) => line.replace(/;.*/, ''))).toEqual([
      'scopes[1].files[0]: "src/c/**" is not within your scope (src/{a,b}/**, test/a.test.ts)',
      'tasks[1].files.allow[0]: "src/{b,c}/y.ts" is not within your scope (src/{a,b}/**, test/a.test.ts)',
      'tasks[1].files.allow[0]: "src/{b,c}/y.ts" shares paths with the sub-scope "out"',
      'tasks[1].files.allow[0]: the tasks "t1" and "t2" could run together and may write the same file: "src/b/*.ts" and "src/{b,c}/y.ts"',
    ]);
    expect(found.join()).not.toMatch(/tasks\[2\]/);
  });

  it('are not written by tasks beside them, unless they wait for these', () => {
    const tasks = [task('core', { files: { allow: ['src/a/index.ts'] }, interface: 'x' })];
    expect(problems({ scopes: [scope('sub', ['src/a/**'])], tasks }, { scopeIds: [''] })).toEqual([
      expect.stringMatching(/^tasks\[0\]\.files\.allow\[0\]: .*sub-scope "sub"/),
    ]);
    expect(
      problems({ scopes: [scope('sub', ['src/a/**'], { dependsOn: ['core'] })], tasks }, { scopeIds: [''] }),
    ).toEqual([]);
  });

  it('that others depend on state what those may rely on; one that is the whole is no division', () => {
    expect(problems({ scopes: [scope('a', ['a/**']), scope('b', ['b/**'], { dependsOn: ['a'] })] })).toEqual([
      expect.stringMatching(/^scopes\[0\]\.interface: is empty, but the sub-scope "b" depends/),
    ]);
    expect(problems({ scopes: [scope('all', ['**'])] })).toEqual([expect.stringMatching(/whole of your own scope/)]);
  });
});

describe('the order of a plan', () => {
  it('has no cycle, through earlier tasks and sub-scopes neither', () => {
    const earlier = [planned('old', { dependsOn: [] })];
    const found = problems(
      {
        tasks: [task('a', { dependsOn: ['b'], interface: 'x' }), task('b', { dependsOn: ['old'], interface: 'x' })],
        dependencies: [{ task: 'old', on: 'a' }],
        integration: [
          { of: 'a', by: 'a', test: 'test/a.test.ts' },
          { of: 'b', by: 'a', test: 'test/a.test.ts' },
        ],
      },
      { tasks: earlier, integrated: ['old'] },
    );
    expect(found).toEqual([expect.stringMatching(/^tasks\[\d\]\.dependsOn: a cycle: "old" → "a" → "b" → "old"/)]);
  });

  it('keeps apart tasks that may write the same file, earlier ones too; finished ones are in nobody’s way', () => {
    const tasks = [task('new', { files: { allow: ['src/*.ts'] } })];
    expect(problems({ tasks }, { tasks: [planned('old')] })).toEqual([
      expect.stringMatching(/^tasks\[0\]\.files\.allow\[0\]: the tasks "old" and "new" could run together/),
    ]);
    expect(problems({ tasks }, { tasks: [planned('old', { closed: true, started: true })] })).toEqual([]);
  });

  it('puts them one after the other where the spec says so', () => {
    const where = context({ tasks: [planned('old', { started: true })] });
    const serial = {
      ...where,
      spec: { ...where.spec, policy: { ...where.spec.policy, overlap: 'serialise' as const } },
    };
    const checked = checkedAnswer({ tasks: [task('new', { files: { allow: ['src/*.ts'] } })] }, serial);
    expect(checked.problems).toEqual([]);
    expect(checked.tasks[0]?.dependsOn).toEqual(['old']);
  });

  it('changes nothing that has started', () => {
    const tasks = [planned('busy', { started: true })];
    const found = problems(
      { tasks: [task('a')], dependencies: [{ task: 'busy', on: 'a' }], drop: [{ task: 'busy', why: 'Not needed.' }] },
      { tasks },
    );
    expect(found).toEqual([
      'dependencies[0].task: the task "busy" has started; it cannot be made to wait',
      'drop[0].task: the task "busy" has started; it cannot be dropped',
    ]);
  });

  it('waits for nothing that will never land', () => {
    const tasks = [planned('gone', { started: true, closed: true, dead: true })];
    const found = problems(
      {
        tasks: [task('a', { dependsOn: ['gone'] }), task('b')],
        dependencies: [{ task: 'b', on: 'gone' }],
        scopes: [{ id: 's', goal: 'S.', files: ['s/**'], dependsOn: ['gone'] }],
      },
      { tasks },
    );
    expect(found.map((line) => line.split(': ')[0])).toEqual([
      'scopes[0].dependsOn[0]',
      'tasks[0].dependsOn[0]',
      'dependencies[0].on',
    ]);
  });

  it('lets tasks that have not started be split: what depended on them depends on their parts', () => {
    const where = context({
      tasks: [planned('big'), planned('user', { dependsOn: ['big'] })],
      integrated: ['half-1', 'half-2'],
    });
    const halves = ['half-1', 'half-2'].map((id) => task(id, { interface: 'x' }));
    const checked = checkedAnswer(
      { tasks: halves, drop: [{ task: 'big', why: 'Timed out twice.', replacedBy: ['half-1', 'half-2'] }] },
      where,
    );
    expect(checked.problems).toEqual([]);
    expect(checked.dependencies).toEqual([
      { task: 'user', on: 'half-1' },
      { task: 'user', on: 'half-2' },
    ]);
    expect(problems({ drop: [{ task: 'big', why: 'No.' }] }, where)).toEqual([
      expect.stringMatching(/^drop\[0\]\.replacedBy: is empty, but "user" depends on "big"/),
    ]);
  });
});

describe('upstream must be real', () => {
  it('what others depend on states its interface and has a check that runs it', () => {
    const tasks = [task('parse'), task('print', { dependsOn: ['parse'] })];
    expect(problems({ tasks })).toEqual([
      expect.stringMatching(/^tasks\[0\]\.interface: "parse" states no interface, but "print" depends on it/),
      expect.stringMatching(
        /^tasks\[0\]: "parse" has no integration check, so that "print" could be tested against mocks only/,
      ),
    ]);
  });

  it('whoever brings the check is told so, by a criterion of its own', () => {
    const { tasks } = checkedAnswer(answer(), context());
    expect(tasks.map(({ id, acceptance }) => [id, acceptance.slice(1)])).toEqual([
      ['parse', []],
      ['print', ['`test/print.test.ts` runs what `parse` makes for real; no mock of it stands in.']],
    ]);
  });

  it('the check is among the files of a task that has the real thing before it', () => {
    const by = (more: object) =>
      problems(
        answer({
          tasks: [...(answer()['tasks'] as object[]), task('alone')],
          integration: [{ of: 'parse', by: 'print', test: 'test/print.test.ts', ...more }],
        }),
      );
    expect(by({})).toEqual([]);
    expect(by({ by: 'alone', test: 'test/alone.test.ts' })[1]).toMatch(
      /^integration\[0\]\.by: "alone" does not depend on "parse"/,
    );
    expect(by({ test: 'test/other.test.ts' })[1]).toMatch(
      /^integration\[0\]\.test: .* none of the files that "print" may write/,
    );
    expect(by({ test: 'test/*.ts' })[1]).toMatch(/is a glob/);
    expect(by({ by: 'parse', test: 'test/parse.test.ts' })).toEqual([]);
  });

  it('is asked of an earlier task when something new depends on it, and of no other', () => {
    const tasks = [
      planned('old', { interface: '' }),
      planned('user', { dependsOn: ['old'] }),
      planned('landed', { interface: '', started: true, closed: true }),
    ];
    expect(problems({ tasks: [task('alone')] }, { tasks })).toEqual([]);
    expect(problems({ tasks: [task('new', { dependsOn: ['landed'] })] }, { tasks })).toEqual([]);
    expect(problems({ tasks: [task('new', { dependsOn: ['old'] })] }, { tasks })).toEqual([
      expect.stringMatching(/^tasks\[0\]\.dependsOn: "old" states no interface, but "user", "new" depend on it/),
      expect.stringMatching(/^tasks\[0\]\.dependsOn: "old" has no integration check/),
    ]);
  });

  it('interfaces alone and dependencies have nothing to run', () => {
    const tasks = [
      task('types', { kind: 'interface-change', interface: 'x', files: { allow: ['src/types/a.ts'] } }),
      task('deps', { kind: 'dependency-update', files: { allow: ['package.json'] } }),
      task('user', { dependsOn: ['types', 'deps'] }),
    ];
    expect(problems({ tasks })).toEqual([]);
  });

  it('a task that tests against a mock depends on what the mock stands for', () => {
    const mocked = (text: string) => problems({ tasks: [task('a', { acceptance: [text, '`npm test` passes.'] })] });
    expect(mocked('Works against a mocked payment service.')).toEqual([
      expect.stringMatching(/^tasks\[0\]\.dependsOn: .*"mocked"/),
    ]);
    for (const fine of ['Works without any mock of the service.', 'Uses fake timers.', 'Never stubs the store.']) {
      expect(mocked(fine)).toEqual([]);
    }
  });
});

it('the page of fields names every field of an answer but those of engines without a model', () => {
  const page = answerPage();
  for (const path of [
    'decisions[].supersedes',
    'scopes[].files',
    'tasks[].acceptance',
    'integration[].of',
    'drop[].replacedBy',
  ]) {
    expect(page).toContain(`\`${path}\``);
  }
  expect(page).not.toMatch(/script|\\/);
});
