import { describe, expect, it } from '@jest/globals';
import { check, context, FILES, lines, problems, spec, task } from './fixture.ts';

const withTasks = (...tasks: object[]): object => spec({ tasks });
const only = (input: unknown): string => {
  const found = problems(input);
  expect(found).toHaveLength(1);
  return found[0] as string;
};

describe('ids and dependencies', () => {
  it.each(['A', 'a/b', 'a:b', 'a~1', '..', 'a..b', 'a.lock', 'a.', '-a', '.a', 'a b', 'x'.repeat(64), ''])(
    'the id %j is refused',
    (id) => {
      expect(only(withTasks(task('b'), { ...task('c'), id }))).toMatch(/^tasks\[1\]\.id: /);
    },
  );
  it('a duplicate id is refused, with the place of the other', () => {
    expect(only(withTasks(task('a'), task('b'), task('a', { files: { allow: ['x.ts'] } })))).toBe(
      'tasks[2].id: the id "a" is taken by tasks[0]',
    );
  });
  it('ids that differ only by case are refused', () => {
    expect(problems(withTasks(task('ab'), task('aB', { files: { allow: ['x.ts'] } })))).toContainEqual(
      expect.stringContaining('the ids "aB" and "ab" (tasks[0]) differ only by case'),
    );
  });
  it('an unknown dependency is refused with the nearest known id', () => {
    expect(only(withTasks(task('orders-types'), task('b', { dependsOn: ['order-types'] })))).toBe(
      'tasks[1].dependsOn[0]: there is no task "order-types" (did you mean "orders-types"?)',
    );
  });
  it('a task that depends on itself is refused', () => {
    expect(only(withTasks(task('a', { dependsOn: ['a'] })))).toBe(
      'tasks[0].dependsOn[0]: the task "a" depends on itself',
    );
  });
  it('a cycle is named in order', () => {
    const found = only(
      withTasks(
        task('x'),
        task('a', { dependsOn: ['c', 'x'] }),
        task('b', { dependsOn: ['a'] }),
        task('c', { dependsOn: ['b'] }),
      ),
    );
    expect(found).toBe(
      'tasks[1].dependsOn: a cycle: "a" → "c" → "b" → "a" (each depends on the next); none of them could ever start',
    );
  });
  it('every cycle is named', () => {
    const found = problems(
      withTasks(
        task('a', { dependsOn: ['b'] }),
        task('b', { dependsOn: ['a'] }),
        task('c', { dependsOn: ['d'] }),
        task('d', { dependsOn: ['c'] }),
      ),
    );
    expect(found.filter((line) => line.includes('a cycle'))).toHaveLength(2);
  });
  it('a cycle is named as it stands, also where an id is taken twice', () => {
    const found = problems(
      withTasks(task('a', { dependsOn: ['b'] }), task('b', { dependsOn: ['a'] }), task('a', { dependsOn: [] })),
    );
    expect(found.some((line) => line.includes('a cycle: "a" → "b" → "a"'))).toBe(true);
  });
  it('a dependency given twice counts once', () => {
    expect(check(withTasks(task('a'), task('b', { dependsOn: ['a', 'a'] }))).spec?.tasks[1]?.dependsOn).toEqual(['a']);
  });
  it('scaffold and breaks name tasks that exist', () => {
    expect(only(spec({ policy: { scaffold: ['aa'] } }))).toContain('policy.scaffold[0]: there is no task "aa"');
    expect(only(spec({ policy: { breaks: ['q'] } }))).toContain('policy.breaks[0]: there is no task "q"');
  });
  it('a scaffold task does not wait for others', () => {
    expect(only(spec({ policy: { scaffold: ['b'] }, tasks: [task('a'), task('b', { dependsOn: ['a'] })] }))).toContain(
      'scaffolding comes before everything else',
    );
  });
  it('a spec without tasks is refused', () => {
    expect(only(withTasks())).toContain('tasks: there is nothing to do');
  });
});

describe('what a task must say', () => {
  it('a task without acceptance criteria is refused', () => {
    expect(only(withTasks(task('a', { acceptance: [] })))).toBe(
      'tasks[0].acceptance: is empty; at least one entry is needed',
    );
    expect(only(withTasks(task('a', { acceptance: undefined })))).toContain('tasks[0].acceptance: is required');
    expect(only(withTasks(task('a', { acceptance: ['  '] })))).toContain('tasks[0].acceptance[0]: is empty');
  });
  it('a task with an empty scope is refused', () => {
    expect(only(withTasks(task('a', { files: { allow: [] } })))).toBe(
      'tasks[0].files.allow: is empty; at least one entry is needed',
    );
    expect(only(withTasks(task('a', { files: { allow: ['src/x/*.ts'], forbid: ['src/**'] } })))).toContain(
      'the scope is empty',
    );
  });
  it('an empty goal is refused', () => {
    expect(only(withTasks(task('a', { goal: ' ' })))).toContain('tasks[0].goal: is empty');
  });
  it.each([
    'Improve the orders module.',
    'Optimise performance',
    'optimize the queries',
    'Refactor src/orders/service.ts.',
    'Clean up the code.',
    'Please clean the whole thing up',
    'Tidy up. Improve the naming.',
    'Make the parser better',
    'We should refactor and simplify this',
  ])('the goal %j says only "better" and is refused', (goal) => {
    expect(
      only(withTasks(task('a', { goal, acceptance: ['The code is nicer.', 'It reads well and/or looks good.'] }))),
    ).toContain('tasks[0].goal: asks only for something better');
  });
  it.each([
    'p95 is under 200 ms.',
    '`npm run lint` is clean.',
    'src/orders/service.ts has no default export.',
    'parseOrder() does not copy.',
    'Every caller compiles.',
    'The snapshot tests pass.',
  ])('a vague goal with the criterion %j is accepted', (criterion) => {
    expect(problems(withTasks(task('a', { goal: 'Refactor the parser.', acceptance: [criterion] })))).toEqual([]);
  });
  it.each([
    'Refactor the parser so that it no longer copies its input.',
    'Improve error messages: every one names the file.\nAdd a test.',
    'Add an endpoint that cancels orders.',
    'Rename qty to quantityOf.',
    'Cleanly separate A and B.',
    'Übersetze die Meldungen.',
  ])('the goal %j says what changes and is accepted', (goal) => {
    expect(problems(withTasks(task('a', { goal, acceptance: ['It is done.'] })))).toEqual([]);
  });
  it('a role that is not configured is refused', () => {
    expect(only(withTasks(task('a', { role: 'merger' })))).toContain(
      'tasks[0].role: the role "merger" is not configured',
    );
  });
  it('the command engine needs a command, as argv', () => {
    expect(only(withTasks(task('a', { run: undefined })))).toContain('tasks[0].run: is required');
    expect(only(withTasks(task('a', { run: ['node tools/x.mjs'] })))).toContain('there is no shell');
    expect(only(withTasks(task('a', { run: [] })))).toContain('tasks[0].run: is empty');
  });
  it('the scripted engine needs a script', () => {
    const scripted = { roles: { worker: { engine: 'scripted' } } };
    expect(only(spec({ ...scripted, tasks: [task('a', { run: undefined })] }))).toContain(
      'tasks[0].script: is required',
    );
    const good = check(
      spec({
        ...scripted,
        tasks: [task('a', { run: undefined, script: [{ edits: [{ path: 'src/a.ts', content: 'x' }], wait: '2s' }] })],
      }),
    );
    expect(good.spec?.tasks[0]?.script).toEqual([
      { edits: [{ path: 'src/a.ts', content: 'x' }], waitMs: 2000, exitCode: 0 },
    ]);
  });
  it('what another engine would ignore is warned of', () => {
    expect(
      lines(check(spec({ roles: { worker: { engine: 'codex' } }, sandbox: { image: 'own:1' } })).warnings),
    ).toEqual([expect.stringContaining('tasks[0].run: has no effect')]);
  });
});

describe('the scope of a task', () => {
  it.each(['../x', '/etc/passwd', 'a/../../x', 'src\\a.ts', 'a\0b', '.git/config', '!src/x', 'src/', 'C:/x'])(
    'the glob %j is refused',
    (glob) => {
      expect(only(withTasks(task('a', { files: { allow: [glob] } })))).toMatch(/^tasks\[0\]\.files\.allow\[0\]: /);
      expect(only(withTasks(task('a', { files: { allow: ['x'], forbid: [glob] } })))).toMatch(
        /^tasks\[0\]\.files\.forbid\[0\]: /,
      );
    },
  );
  it('a directory without /** is refused, since it would match nothing', () => {
    expect(only(withTasks(task('a', { files: { allow: ['src/orders'] } })))).toContain('write "src/orders/**"');
  });
  it.each(['package.json', 'package-lock.json', 'packages/x/Cargo.toml', 'go.sum', '{package.json,x}', '*'])(
    'a manifest or lockfile (%s) in the scope of ordinary work is refused',
    (glob) => {
      expect(problems(withTasks(task('a', { files: { allow: [glob] } })))).toContainEqual(
        expect.stringMatching(
          /is a dependency manifest or lockfile; only a task of kind dependency-update may change it|^$/,
        ),
      );
    },
  );
  it('a manifest is a dependency-update task to change', () => {
    expect(
      problems(
        withTasks(task('a', { kind: 'dependency-update', files: { allow: ['package.json', 'package-lock.json'] } })),
      ),
    ).toEqual([]);
  });
  it('a broad glob over a manifest is accepted once the manifest is forbidden', () => {
    const allow = ['*.json'];
    expect(problems(withTasks(task('a', { files: { allow } })))).not.toEqual([]);
    expect(problems(withTasks(task('a', { files: { allow, forbid: ['package*.json', 'tsconfig.json'] } })))).toEqual(
      [],
    );
  });
  it('a contract in the scope of anything but an interface change is refused', () => {
    expect(only(withTasks(task('a', { files: { allow: ['src/types/order.ts'] } })))).toContain(
      'is an interface contract',
    );
    expect(only(withTasks(task('a', { files: { allow: ['src/**'] } })))).toContain(
      '"src/types/order.ts" is an interface contract',
    );
    expect(
      problems(withTasks(task('a', { kind: 'interface-change', files: { allow: ['src/types/order.ts'] } }))),
    ).toEqual([]);
  });
  it('gate configuration is in no scope', () => {
    expect(only(withTasks(task('a', { files: { allow: ['tsconfig.json'] } })))).toContain(
      '"tsconfig.json" is protected',
    );
    expect(only(withTasks(task('a', { files: { allow: ['.github/workflows/new.yml'] } })))).toContain('is protected');
    expect(only(withTasks(task('a', { files: { allow: ['tools/*'] } })))).toContain(
      '"tools/lint.mjs" is run or read by a gate command',
    );
  });
  it('protected files are in no scope', () => {
    expect(
      only(
        spec({
          repository: { url: 'file:///x', protected: ['src/index.ts'] },
          tasks: [task('a', { files: { allow: ['src/*.ts'] } })],
        }),
      ),
    ).toContain('"src/index.ts" is protected');
  });
  it('preset tests are in no scope, not even in that of their own task', () => {
    const tests = { 'tests/cancel.test.ts': { content: 'x' } };
    expect(only(withTasks(task('a', { tests, files: { allow: ['tests/**'] } })))).toContain(
      '"tests/cancel.test.ts" is a preset acceptance test',
    );
    expect(only(withTasks(task('a', { tests }), task('b', { files: { allow: ['tests/cancel.test.ts'] } })))).toContain(
      'tasks[1].files.allow[0]: "tests/cancel.test.ts" is a preset',
    );
    expect(
      problems(withTasks(task('a', { tests, files: { allow: ['tests/**'], forbid: ['tests/cancel.test.ts'] } }))),
    ).toEqual([]);
  });
  it('without the files of the repository, what a glob names in so many words is refused all the same', () => {
    expect(problems(withTasks(task('a', { files: { allow: ['package.json'] } })), { files: null })).toHaveLength(1);
  });
  it('a reference that nobody makes is warned of', () => {
    expect(
      lines(check(withTasks(task('a', { files: { allow: ['x.ts'], reference: ['src/missing.ts'] } }))).warnings),
    ).toEqual([expect.stringContaining('is not in the repository, and no task makes it')]);
    expect(
      check(withTasks(task('a', { files: { allow: ['x.ts'], reference: ['src/b.ts'] } }), task('b'))).warnings,
    ).toEqual([]);
  });
});

describe('preset tests', () => {
  const tests = (given: object): object => withTasks(task('a', { tests: given }));
  it('are read from the base commit, or given in place', () => {
    expect(check(tests({ 'tests/x.test.ts': 'acceptance/cancel.test.ts' })).spec?.tasks[0]?.tests).toEqual({
      'tests/x.test.ts': 'content of acceptance/cancel.test.ts',
    });
    expect(check(tests({ 'tests/x.test.ts': { content: 'y' } })).spec?.tasks[0]?.tests).toEqual({
      'tests/x.test.ts': 'y',
    });
  });
  it('that are not in the base commit are refused, with the nearest that is', () => {
    expect(only(tests({ 'tests/x.test.ts': 'acceptance/cancl.test.ts' }))).toContain(
      'tasks[0].tests["tests/x.test.ts"]: "acceptance/cancl.test.ts" is not a text file of the base commit (did you mean "acceptance/cancel.test.ts"?)',
    );
  });
  it.each(['../x.test.ts', '/x.test.ts', 'tests/*.ts'])('do not go to %s', (path) => {
    expect(problems(tests({ [path]: { content: 'x' } }))).toContainEqual(
      expect.stringContaining(`tasks[0].tests[${JSON.stringify(path)}]: `),
    );
  });
  it('have one content for one path', () => {
    const at = 'tests/x.test.ts';
    expect(
      only(
        withTasks(task('a', { tests: { [at]: { content: '1' } } }), task('b', { tests: { [at]: { content: '2' } } })),
      ),
    ).toContain('the task "a" presets another content');
  });
  it('in no content or the wrong form are refused', () => {
    expect(only(tests({ 'tests/x.test.ts': { content: '' } }))).toContain('is an empty test');
    expect(only(tests({ 'tests/x.test.ts': 3 }))).toContain('must be a string or an object');
  });
});

describe('tasks that may write the same file', () => {
  const over = (allow: string[], more: object = {}): object => task('a', { files: { allow }, ...more });
  const pair = (a: string[], b: string[], more: object = {}): object =>
    spec({ tasks: [over(a), task('b', { files: { allow: b } })], ...more });
  it('are refused, with both names and the glob', () => {
    expect(only(pair(['src/orders/service.ts'], ['src/orders/service.ts']))).toBe(
      'tasks[1].files.allow[0]: the tasks "a" and "b" could run together and may write the same file: "src/orders/service.ts"; narrow one of them, let one depend on the other, or set policy.overlap: serialise',
    );
    expect(only(pair(['src/orders/**'], ['src/*/service.ts']))).toContain(
      '"src/orders/**" and "src/*/service.ts", for example "src/orders/service.ts"',
    );
  });
  it('are refused for files that do not exist yet', () => {
    expect(only(pair(['src/new/**'], ['src/**/x.ts']))).toContain('may write the same file');
  });
  it('are refused without the files of the repository too', () => {
    expect(problems(pair(['src/orders/**'], ['src/*/service.ts']), { files: null })).toHaveLength(1);
  });
  it('are accepted when one depends on the other, directly or through others', () => {
    const chain = [
      task('a', { files: { allow: ['x.ts'] } }),
      task('b', { dependsOn: ['a'] }),
      task('c', { files: { allow: ['x.ts'] }, dependsOn: ['b'] }),
    ];
    expect(problems(withTasks(...chain))).toEqual([]);
  });
  it('are accepted when the common part is forbidden to one of them', () => {
    expect(
      problems(
        withTasks(
          task('a', { files: { allow: ['src/**'], forbid: ['src/orders/**', 'src/types/**'] } }),
          task('b', { files: { allow: ['src/orders/*.ts'] } }),
        ),
      ),
    ).toEqual([]);
  });
  it('are accepted for files whose lines git keeps from both', () => {
    expect(
      problems(
        pair(['CHANGELOG.md', 'a.ts'], ['CHANGELOG.md', 'b.ts'], {
          repository: { url: 'file:///x', union: ['CHANGELOG.md'] },
        }),
      ),
    ).toEqual([]);
  });
  it('are put one after the other in spec order with overlap: serialise', () => {
    const serialise = { policy: { overlap: 'serialise' } };
    const spec3 = check(
      spec({ ...serialise, tasks: ['a', 'b', 'c'].map((id) => task(id, { files: { allow: ['x.ts'] } })) }),
    ).spec;
    expect(spec3?.tasks.map((one) => one.dependsOn)).toEqual([[], ['a'], ['b']]);
    const late = check(
      spec({
        ...serialise,
        tasks: [
          task('a', { files: { allow: ['x.ts'] }, dependsOn: ['b'] }),
          task('b', { files: { allow: ['y.ts'] } }),
          task('c', { files: { allow: ['x.ts'] } }),
        ],
      }),
    ).spec;
    expect(late?.tasks.map((one) => [one.id, one.dependsOn])).toEqual([
      ['a', ['b']],
      ['b', []],
      ['c', ['a']],
    ]);
  });
  it('are put one after the other when both update dependencies, which run one at a time anyway', () => {
    const update = (id: string): object => task(id, { kind: 'dependency-update', files: { allow: ['package.json'] } });
    expect(check(withTasks(update('a'), update('b'))).spec?.tasks[1]?.dependsOn).toEqual(['a']);
  });
  it('in large numbers are counted after the first fifty', () => {
    const found = problems(
      withTasks(...Array.from({ length: 20 }, (_, i) => task(`t${i}`, { files: { allow: ['x.ts'] } }))),
    );
    expect(found).toHaveLength(51);
    expect(found).toContainEqual(expect.stringContaining('140 more pairs of tasks'));
  });
});

describe('fan-outs', () => {
  const body = (more: object = {}): object => ({
    goal: 'Translate {file}.',
    files: { allow: ['{file}'] },
    acceptance: ['{file} exports `messages`.'],
    run: ['node', 'x.mjs', '{file}'],
    ...more,
  });
  const fan = (more: object = {}, rest: object = {}): object =>
    spec({
      tasks: [],
      fanOut: [
        { id: 'locale-{stem}', over: { files: ['src/locales/*.ts'], except: ['**/index.ts'] }, task: body(), ...more },
      ],
      ...rest,
    });
  it('make one task per file, with its name where the template says so', () => {
    const tasks = check(fan()).spec?.tasks ?? [];
    expect(tasks.map((one) => one.id)).toEqual(['locale-en', 'locale-fr', 'locale-zh-cn']);
    expect(tasks[0]).toMatchObject({
      goal: 'Translate src/locales/en.ts.',
      files: { allow: ['src/locales/en.ts'] },
      run: ['node', 'x.mjs', 'src/locales/en.ts'],
    });
  });
  it('make one task per chunk', () => {
    const tasks = check(
      fan({
        id: 'locales-{n}',
        over: { files: ['src/locales/*.ts'], chunk: 3 },
        task: body({
          goal: 'Translate {files}.',
          files: { allow: ['{files}'] },
          acceptance: ['All of {files} compile.'],
          run: ['node', 'x.mjs', '{files}'],
        }),
      }),
    ).spec?.tasks;
    expect(tasks?.map((one) => [one.id, one.files.allow.length, one.run?.length])).toEqual([
      ['locales-1', 3, 5],
      ['locales-2', 1, 3],
    ]);
    expect(tasks?.[1]?.goal).toBe('Translate src/locales/zh-CN.ts.');
  });
  it('name all their tasks in dependsOn, scaffold and breaks', () => {
    const compiled = check(
      fan({}, { tasks: [task('z', { dependsOn: ['locale'] })], policy: { breaks: ['locale'] } }),
    ).spec;
    expect(compiled?.tasks[0]?.dependsOn).toEqual(['locale-en', 'locale-fr', 'locale-zh-cn']);
    expect(compiled?.policy.breaks).toHaveLength(3);
    expect(check(fan({ name: 'all' }, { tasks: [task('z', { dependsOn: ['all'] })] })).problems).toEqual([]);
  });
  it('that match nothing are refused, with a file that is near', () => {
    expect(only(fan({ over: { files: ['src/locales/*.js'] } }))).toContain(
      'fanOut[0].over.files: match no file of the base commit; there is, for example, "src/locales/en.ts"',
    );
  });
  it('that make too many tasks are refused', () => {
    const files = Array.from({ length: 6000 }, (_, i) => `src/locales/f${i}.ts`);
    const found = problems(fan(), { files });
    expect(found).toEqual([expect.stringContaining('fanOut[0].over: makes 6000 tasks; a run has at most 5000')]);
  });
  it('need a placeholder in the id, and a known one', () => {
    expect(problems(fan({ id: 'locale' }))).toContainEqual(expect.stringContaining('fanOut[0].id: has no placeholder'));
    expect(problems(fan({ id: 'locale-{steem}' }))).toContainEqual(expect.stringContaining('(did you mean "{stem}"?)'));
    expect(only(fan({ id: '{stem}' }))).toContain('fanOut[0].name: is required when the id begins with a placeholder');
  });
  it('whose files give the same id are refused', () => {
    const files = [...FILES, 'lib/locales/en.ts'];
    expect(problems(fan({ over: { files: ['**/locales/en.ts'] } }), { files })).toEqual([
      expect.stringContaining('the id "locale-en" is taken by fanOut[0] (add {dir} or {n} to the template)'),
    ]);
  });
  it('with a chunk have no placeholder for a single file', () => {
    expect(problems(fan({ over: { files: ['src/locales/*.ts'], chunk: 2 } }))).toContainEqual(
      expect.stringContaining('which stands for one file'),
    );
  });
  it('do not depend on themselves', () => {
    expect(problems(fan({ task: body({ dependsOn: ['locale'] }) }))).toContainEqual(
      expect.stringContaining('the tasks of the fan-out "locale" depend on themselves'),
    );
  });
  it('have names apart from ids and each other', () => {
    expect(only(fan({}, { tasks: [task('locale')] }))).toContain('is also the name of a fan-out');
    const one = (fan() as { fanOut: object[] }).fanOut[0] as object;
    expect(
      problems(
        spec({
          tasks: [],
          fanOut: [one, { ...one, id: 'locale-2-{stem}', name: 'locale' }],
          policy: { overlap: 'serialise' },
        }),
      ),
    ).toContainEqual(expect.stringContaining('a second fan-out is called "locale"'));
  });
  it('report what is wrong with the template once, at the template', () => {
    expect(only(fan({ task: body({ acceptance: [] }) }))).toContain('fanOut[0].task.acceptance: is empty');
    expect(only(fan({ task: body({ run: undefined }) }))).toContain('fanOut[0].task.run: is required');
    expect(only(fan({ task: body({ files: { allow: ['../{file}'] } }) }))).toContain('fanOut[0].task.files.allow[0]: ');
  });
  it('over files with brackets in their names mean exactly these files', () => {
    const files = ['app/[id]/page.ts', 'app/i/page.ts'];
    const tasks = check(fan({ id: 'page-{dir}', over: { files: ['app/**/page.ts'] } }), { files }).spec?.tasks;
    expect(tasks?.map((one) => one.id)).toEqual(['page-app-id', 'page-app-i']);
    expect(tasks?.[0]?.files.allow).toEqual(['app/\\[id\\]/page.ts']);
  });
  it('whose tasks take contract files are refused, with the name of the task', () => {
    expect(only(fan({ id: 'type-{stem}', over: { files: ['src/types/*.ts'] } }))).toContain(
      'fanOut[0].task.files.allow[0]: task "type-order": "src/types/order.ts" is an interface contract',
    );
  });
  it('are checked as far as possible before the files are known', () => {
    const checked = check(fan({}, { tasks: [task('z', { dependsOn: ['locale', 'locale-en'] })] }), { files: null });
    expect(checked).toMatchObject({ problems: [], complete: false });
    expect(checked.spec?.tasks.map((one) => one.id)).toEqual(['z']);
    expect(problems(fan({ task: body({ acceptance: [] }) }), { files: null })).toHaveLength(1);
  });
});

describe('many tasks', () => {
  it('a thousand tasks over two thousand files are checked in about a second', () => {
    const files = Array.from({ length: 2000 }, (_, i) => `src/m${i % 50}/f${i}.ts`);
    const tasks = Array.from({ length: 1000 }, (_, i) =>
      task(`t${i}`, {
        files: {
          allow: [`src/m${i % 50}/f${i}.ts`, `tests/m${i}/**/*.test.ts`, `docs/**/t${i}.md`],
          forbid: ['src/shared/**'],
        },
        dependsOn: i < 100 ? [] : [`t${i % 100}`],
      }),
    );
    const start = performance.now();
    const found = problems(withTasks(...tasks), { ...context, files });
    const took = performance.now() - start;
    expect(found).toEqual([]);
    expect(took).toBeLessThan(10_000);
  });
});
