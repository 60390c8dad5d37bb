import { describe, expect, it } from '@jest/globals';
import { check, FILES, lines, problems, spec, task } from './fixture.ts';

/** The one problem of a spec; fails when there are more. */
const only = (input: unknown): string => {
  const found = problems(input);
  expect(found).toHaveLength(1);
  return found[0] as string;
};
const repository = (more: object): object => spec({ repository: { url: 'https://example.org/shop.git', ...more } });
const gate = (more: object): object =>
  spec({ gate: { lint: 'make lint', typecheck: 'skip', test: 'make test', build: 'skip', ...more } });

describe('the shape of a spec', () => {
  it('a good spec has no problem and no warning', () => {
    expect(check(spec())).toMatchObject({ problems: [], warnings: [], complete: true });
  });
  it.each([null, 3, 'text', []])('%j is no spec', (input) => {
    expect(check(input)).toMatchObject({ spec: null, problems: [{ path: '' }] });
  });
  it('a spec that is nested without end is refused', () => {
    let deep: unknown = 'x';
    for (let i = 0; i < 100_000; i++) deep = [deep];
    expect(only(spec({ tasks: deep }))).toContain('nested more than 40 levels deep');
  });
  it('an unknown field is refused with the nearest known one', () => {
    expect(only(spec({ polcy: {} }))).toBe('polcy: unknown field (did you mean "policy"?)');
    expect(only(spec({ tasks: [task('a', { depends_on: [] })] }))).toBe(
      'tasks[0].depends_on: unknown field (did you mean "dependsOn"?)',
    );
    expect(only(gate({ test: { tasks: 'x', task: 'y' } }))).toBe(
      'gate.test.tasks: unknown field (did you mean "task"?)',
    );
    expect(only(spec({ sandbox: { services: { db: { image: 'pg', envs: {} } } } }))).toContain(
      'sandbox.services.db.envs: unknown field (did you mean "env"?)',
    );
    expect(only(spec({ deliver: { brunch: 'x' } }))).toContain('did you mean "branch"?');
    expect(only(spec({ zzz: 1 }))).toContain('zzz: unknown field; known here: name, goal, repository');
  });
  it('all problems come back at once', () => {
    const found = problems(
      spec({
        name: 'Bad Name',
        goal: '',
        polcy: {},
        policy: { attempts: 0 },
        tasks: [task('a', { files: { allow: ['../x'] }, dependsOn: ['b'] })],
      }),
    );
    expect(found.map((line) => line.split(':')[0])).toEqual([
      'polcy',
      'name',
      'goal',
      'policy.attempts',
      'tasks[0].files.allow[0]',
      'tasks[0].dependsOn[0]',
    ]);
  });
  it('what is required and missing says what it is for', () => {
    const found = problems({});
    expect(found).toContain('gate: is required: lint, typecheck, test and build, each a command or "skip"');
    expect(found).toContainEqual(expect.stringContaining('roles: is required: say which engine'));
    expect(found).toContainEqual(expect.stringContaining('name: is required'));
  });
  it('a value of the wrong type is named without repeating it', () => {
    expect(only(spec({ policy: { attempts: 'many' } }))).toBe('policy.attempts: must be a number');
    expect(only(spec({ tasks: [task('a', { run: 'node x.mjs' })] }))).toBe('tasks[0].run: must be a list');
    expect(only(spec({ tasks: { a: 1 } }))).toContain('tasks: must be a list');
    expect(only(gate({ lint: 3 }))).toBe('gate.lint: must be a string or an object');
  });
  it.each([
    ['policy', { attempts: 0 }, 'policy.attempts: is out of range: at least 1'],
    ['policy', { attempts: 99 }, 'policy.attempts: is out of range: at most 20'],
    ['policy', { inFlight: 100000 }, 'policy.inFlight: is out of range: at most 5000'],
    ['policy', { keepDays: -1 }, 'policy.keepDays: is out of range: at least 0'],
    ['policy', { overlap: 'ignore' }, 'policy.overlap: must be one of "refuse", "serialise"'],
    ['policy', { approve: ['everything'] }, 'policy.approve[0]: must be one of "plan"'],
    ['sandbox', { limits: { cpus: 0 } }, 'sandbox.limits.cpus: is out of range: at least 0.1'],
    ['sandbox', { limits: { memory: '1k' } }, 'sandbox.limits.memory: is out of range: 32m to 1t'],
    ['sandbox', { limits: { memory: '1024' } }, 'sandbox.limits.memory: must be a size with a unit'],
    ['sandbox', { limits: { agent: '15 minutes' } }, 'sandbox.limits.agent: must be a duration with a unit'],
    ['sandbox', { limits: { agent: '0s' } }, 'sandbox.limits.agent: is out of range: 1s to 1d'],
    ['sandbox', { limits: { pids: 1 } }, 'sandbox.limits.pids: is out of range: at least 16'],
    ['budget', { usd: -5 }, 'budget.usd: is out of range: at least 0'],
    ['roles', { worker: { engine: 'claude' } }, 'roles.worker.engine: is no engine'],
    ['roles', { worker: {} }, 'roles.worker.engine: is required'],
    ['notify', { on: ['red', 'whenever'] }, 'notify.on[1]: must be one of "blocked"'],
  ])('%s %j is refused', (field, value, expected) => {
    expect(only(spec({ [field]: value }))).toContain(expected);
  });
});

describe('names and addresses', () => {
  it.each(['Shop', 'shop/one', 'shop:one', '-shop', 'shop..one', 'shop.lock', 'shop.', 'a'.repeat(64), 'shöp', 'a b'])(
    '%j is no name of a run',
    (name) => {
      expect(only(spec({ name }))).toMatch(/^name: /);
    },
  );
  it('a bad id comes with one that would do', () => {
    expect(only(spec({ name: 'My Shop' }))).toContain('for example "my-shop"');
  });
  it.each([
    ['git@example.org:shop.git', 'ssh://git@example.org/shop.git'],
    ['/srv/shop', 'file:///srv/shop'],
    ['shop', 'must start with https://'],
    ['ftp://example.org/x', 'uses ftp://'],
    ['ext::sh -c x', 'must start with'],
    ['http://example.org/x', 'use https://'],
    ['https://example.org/x?token=abc', 'query'],
    ['https://a b/c', 'blank'],
    ['file://host/x', 'file:///'],
  ])('the address %s is refused', (url, expected) => {
    expect(only(repository({ url }))).toContain(expected);
  });
  it.each(['https://me:hunter2@example.org/x', 'https://hunter2@example.org/x', 'ssh://git:hunter2@example.org/x'])(
    'a password in an address is refused and not repeated',
    (url) => {
      const found = only(repository({ url }));
      expect(found).toContain('password or token');
      expect(found).not.toContain('hunter2');
    },
  );
  it.each(['https://example.org/x.git', 'ssh://git@example.org:22/x', 'file:///srv/x', 'http://127.0.0.1:3000/x'])(
    'the address %s is accepted',
    (url) => {
      expect(problems(repository({ url }))).toEqual([]);
    },
  );
  it('a run needs a repository or an empty start, not both', () => {
    expect(only(spec({ repository: {} }))).toContain('repository.url: is required');
    expect(only(repository({ empty: true }))).toContain('repository.empty: stands beside a url');
  });
  it.each(['', 'a..b', 'a b', 'refs/heads/main', '-x', 'x.lock', 'a//b', 'a~1', '@', 'HEAD'])(
    '%j is no branch',
    (branch) => {
      expect(only(repository({ branch }))).toMatch(/^repository\.branch: /);
    },
  );
  it.each([
    'user:hunter2',
    'path/to/hunter2',
    `ghp_${'a1'.repeat(18)}`,
    '-----BEGIN RSA PRIVATE KEY-----',
    'aGVsbG8gd29ybGQgaHVudGVyMg0123456789',
  ])('a credential that looks like a value is refused and not repeated', (credentials) => {
    const found = problems(repository({ credentials }));
    expect(found).toContainEqual(expect.stringContaining('repository.credentials: '));
    expect(found.join('\n')).not.toContain(credentials);
  });
  it('a credential name is accepted', () => {
    expect(problems(repository({ credentials: 'deploy-key' }))).toEqual([]);
  });
  it('a token anywhere in a spec is refused and not repeated', () => {
    const token = `ghp_${'x1'.repeat(18)}`;
    const found = only(spec({ tasks: [task('a', { run: ['node', 'x.mjs', token] })] }));
    expect(found).toContain('tasks[0].run[2]: contains something of the shape of a key');
    expect(found).not.toContain(token);
  });
  it('an image must be an image reference', () => {
    expect(only(spec({ sandbox: { image: 'Not An Image' } }))).toContain('sandbox.image: ');
    expect(problems(spec({ sandbox: { image: 'ghcr.io/acme/node:22@sha256:' + 'a'.repeat(64) } }))).toEqual([]);
  });
});

describe('the repository of a spec', () => {
  it.each([
    ['../x', '".."'],
    ['/etc', 'absolute'],
    ['src\\x', 'backslash'],
    ['src\0x', 'NUL'],
    ['src/types', 'is a directory of the repository; for everything below it write "src/types/**"'],
  ])('the contract glob %j is refused', (glob, expected) => {
    expect(only(repository({ contracts: [glob] }))).toContain(expected);
  });
  it('lists of manifests and protected files may be empty, which switches their defaults off', () => {
    expect(
      problems(
        spec({
          repository: { url: 'file:///x', manifests: [], protected: [] },
          tasks: [task('a', { files: { allow: ['package.json', 'tsconfig.json'] } })],
        }),
      ),
    ).toEqual([]);
  });
});

describe('the gate', () => {
  it.each(['lint', 'typecheck', 'test', 'build'])('the step %s is configured or "skip" in so many words', (step) => {
    expect(only(gate({ [step]: undefined }))).toBe(
      `gate.${step}: this step is neither configured nor "skip"; write a command, or "skip" in so many words`,
    );
    expect(problems(gate({ [step]: 'skip' }))).toEqual([]);
  });
  it('an empty command is refused', () => {
    expect(only(gate({ lint: ' ' }))).toContain('gate.lint: an empty command is always green');
    expect(only(gate({ lint: 'Skip' }))).toContain('write exactly "skip"');
  });
  it('a required step has a command at the task level', () => {
    expect(only(gate({ test: { wave: 'make test' } }))).toContain(
      'gate.test.task: the step "test" has no command at the level "task"',
    );
    expect(problems(gate({ test: { task: 'skip', wave: 'make test' } }))).toEqual([]);
  });
  it('a command that cannot fail is warned of', () => {
    for (const command of ['true', 'make lint || true', 'exit 0', 'echo fine'])
      expect(check(gate({ lint: command })).warnings).toHaveLength(1);
    expect(check(gate({ lint: 'echo x && make lint' })).warnings).toEqual([]);
  });
  it('a level without a command has that of the level before it', () => {
    const steps = check(gate({ test: { task: 'quick', wave: 'whole' }, integration: { wave: 'slow' } })).spec?.gate
      .steps;
    expect(steps?.find(({ name }) => name === 'test')?.commands).toEqual({
      task: 'quick',
      mainline: 'quick',
      wave: 'whole',
    });
    expect(steps?.find(({ name }) => name === 'integration')?.commands).toEqual({
      task: null,
      mainline: null,
      wave: 'slow',
    });
    expect(steps?.find(({ name }) => name === 'build')).toMatchObject({
      skip: true,
      commands: { task: null, mainline: null, wave: null },
    });
  });
  it('{changed} is not quoted, and not misspelt', () => {
    expect(only(gate({ test: 'run "{changed}"' }))).toContain('stands in quotes');
    expect(only(gate({ test: 'run {files}' }))).toContain('the changed files are {changed}');
  });
  it('a wave that looks at changed files only is warned of', () => {
    expect(lines(check(gate({ test: 'run {changed}' })).warnings)).toEqual([
      expect.stringContaining('gate.test: the wave level runs on changed files only'),
    ]);
  });
  it('coverage needs a report, and a step that writes it', () => {
    expect(only(gate({ coverage: { changedLines: 80 } }))).toContain('gate.coverage.report: is required');
    expect(only(gate({ coverage: { report: 'lcov.info' }, test: 'skip' }))).toContain(
      'no test step that could write the report',
    );
    expect(only(gate({ coverage: { report: '../lcov.info' } }))).toContain('gate.coverage.report: ');
    expect(only(gate({ coverage: 'yes' }))).toContain('gate.coverage: must be "skip" or an object');
    expect(problems(gate({ coverage: 'skip' }))).toEqual([]);
  });
  it('a report belongs to a step that runs', () => {
    expect(only(gate({ report: { tests: 'x.xml' } }))).toContain('gate.report.tests: is no gate step');
    expect(only(gate({ report: { build: 'x.xml' } }))).toContain('which is skipped');
    expect(only(gate({ report: { integration: 'x.xml' } }))).toContain('which is not configured');
    expect(only(gate({ report: { test: '/tmp/x.xml' } }))).toContain('absolute');
  });
  it('recording a red baseline needs a report of the tests', () => {
    expect(only(spec({ policy: { baseline: 'record' } }))).toContain(
      'policy.baseline: "record" tells old failures from new ones by name',
    );
  });
  it('files that gate commands run or are configured by are protected', () => {
    const compiled = check(
      gate({ lint: 'node tools/lint.mjs && npx tsc -p tsconfig.json', test: 'node --test src/index.ts' }),
    ).spec;
    expect(compiled?.repository.protected).toEqual(expect.arrayContaining(['tools/lint.mjs', 'tsconfig.json']));
    expect(compiled?.repository.protected).not.toContain('src/index.ts');
  });
});

describe('sandbox, notification, delivery', () => {
  const setup = (more: object): object =>
    spec({ sandbox: { setup: { run: 'npm ci', files: ['package.json'], provides: 'node_modules', ...more } } });
  it('a good setup is accepted', () => {
    expect(problems(setup({}))).toEqual([]);
  });
  it.each([
    [{ run: ' ' }, 'sandbox.setup.run: is empty'],
    [{ files: [] }, 'sandbox.setup.files: is empty'],
    [{ files: ['*.json'] }, 'is a glob'],
    [{ files: ['yarn.lock'] }, '"yarn.lock" is not in the repository'],
    [{ files: ['../x'] }, '".."'],
    [{ provides: '../x' }, 'name of one directory'],
    [{ provides: 'a/b' }, 'name of one directory'],
    [{ provides: 'etc' }, 'would cover "/etc"'],
  ])('the setup %j is refused', (more, expected) => {
    expect(only(setup(more))).toContain(expected);
  });
  it('services have safe names, images and variables', () => {
    expect(only(spec({ sandbox: { services: { 'My DB': { image: 'pg' } } } }))).toContain(
      'sandbox.services["My DB"]: ',
    );
    expect(only(spec({ sandbox: { services: { db: { image: 'pg', env: { 'A B': 'x' } } } } }))).toContain(
      'no name of an environment variable',
    );
  });
  it('notification goes to a program or an address without a password', () => {
    expect(only(spec({ notify: { webhook: 'hooks' } }))).toContain('notify.webhook: must start with https://');
    expect(only(spec({ notify: { webhook: 'https://a:b@example.org/' } }))).toContain('take it out');
    expect(only(spec({ notify: { run: [] } }))).toContain('notify.run: is empty');
  });
  it('delivery is one of two, and makes sense', () => {
    expect(only(spec({ deliver: { branch: 'x', fastForward: 'main' } }))).toContain('deliver: names both');
    expect(only(spec({ deliver: { branch: 'main' } }))).toContain('deliver: {fastForward: main}');
    expect(only(spec({ deliver: { fastForward: 'release' } }))).toContain('must be repository.branch ("main")');
    expect(only(spec({ deliver: { branch: 'a..b' } }))).toContain('deliver.branch: ');
    expect(only(spec({ repository: { empty: true }, deliver: { branch: 'x' } }))).toContain('no origin to deliver to');
    expect(check(spec()).spec?.deliver).toEqual({ branch: 'swarmline/shop' });
    expect(check(spec({ deliver: { fastForward: 'main' } })).spec?.deliver).toEqual({ fastForward: 'main' });
  });
  it('an agent program that the image does not have is warned of, with the command that makes one', () => {
    const warned = (image: string, ...engines: string[]) => {
      const [worker, ...reviewer] = engines.map((engine) => ({ engine }));
      const { warnings } = check(spec({ roles: { worker, reviewer }, sandbox: { image } }));
      return lines(warnings).filter((line) => line.startsWith('sandbox.image'));
    };
    expect(warned('swarmline/node:22', 'command')).toEqual([]);
    expect(warned('swarmline/node:22', 'claude-code')).toEqual([
      'sandbox.image: "swarmline/node:22" has no program for the engine "claude-code": name one that has, such as "swarmline/agents:1" (`./swarmline image agents` makes it)',
    ]);
    expect(warned('swarmline/node:22', 'command', 'codex', 'claude-code')).toEqual([
      expect.stringContaining('"codex" and "claude-code": name one that has, such as "swarmline/agents:1"'),
    ]);
    expect(warned('swarmline/agents:1', 'claude-code', 'codex')).toEqual([]);
    expect(warned('swarmline/agents:1', 'aider')).toEqual([expect.stringContaining('./swarmline image aider')]);
    expect(warned('swarmline/aider:1', 'aider')).toEqual([]);
    expect(warned('swarmline/aider:1', 'aider', 'codex')).toEqual([
      expect.stringContaining('the engine "codex": no image of ours has them all'),
    ]);
    expect(warned('example.org/own:3', 'aider', 'codex')).toEqual([]);
  });
  it('roles that nobody could be given are warned of', () => {
    expect(
      lines(
        check(
          spec({
            roles: { worker: { engine: 'command' }, splitter: { engine: 'codex' } },
            sandbox: { image: 'swarmline/agents:1' },
          }),
        ).warnings,
      ),
    ).toEqual([expect.stringContaining('roles.splitter: has no effect: no task names it')]);
  });
  it('a spec over the limit of Temporal is refused with the limit and a way out', () => {
    const big = 'x'.repeat(2 * 1024 * 1024);
    const found = only(spec({ goal: big }));
    expect(found).toContain('at most 2 MiB (2097152 bytes)');
    expect(found).toContain('fanOut');
  });
  it('units are compiled to milliseconds and bytes', () => {
    expect(
      check(spec({ sandbox: { limits: { memory: '1.5g', agent: '1h 30m', output: '64KiB' } } })).spec?.sandbox.limits,
    ).toMatchObject({
      memoryBytes: 1.5 * 1024 ** 3,
      agentMs: 90 * 60_000,
      outputBytes: 65536,
      stepMs: 600_000,
    });
  });
  it('the files of the fixture are what the tests rely on', () => {
    expect(FILES).toContain('src/types/order.ts');
  });
});
