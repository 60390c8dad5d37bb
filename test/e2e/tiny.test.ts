/** The five-task example, submitted by `temporal workflow start` to a whole system, in both schedules; and what it refuses. */
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { WorkflowFailedError } from '@temporalio/client';
import type { ApplicationFailure } from '@temporalio/common';
import { metricsPort, WORKERS } from '../../cli/setup/worker-processes.ts';
import { projectRoot } from '../../cli/setup/root.ts';
import { gitText } from '../../mainline/git.ts';
import { listAttempts } from '../../store/index.ts';
import { refs, trailers, untilTold } from '../support/stack-repository.ts';
import { execute, openTestStack, stateOf, tellToGoOn } from '../support/stack.ts';
import type { Ended, TestStack } from '../support/stack.ts';

// Nothing here is timed: the machine may have much else to do.
jest.setTimeout(400_000);

const TASKS = ['add-slug', 'export-all', 'group-thousands', 'link-report', 'rename-qty'];
const ROOT = projectRoot();

interface Spec {
  [field: string]: unknown;
  policy: Record<string, unknown>;
  tasks: { id: string; run: string[] }[];
}
interface Shown {
  run: { outcome: string | null; report: Record<string, unknown> };
  tasks: { id: string; state: string; wave: number; commit: string }[];
  greenPoints: { n: number; commit: string; wave: number | null }[];
  attempts: { total: number; byOutcome: Record<string, number> };
  merges: { byState: Record<string, number> };
}

let stack: TestStack;
let metrics: string[];
let watched: Ended;
const origin: Record<string, string> = {};

/** The example's repository, made by its own program, and its spec. */
async function prepare(run: string): Promise<Spec> {
  const dir = join(stack.dir, `${run}-origin`);
  origin[run] = join(dir, '.git');
  const out = join(stack.dir, `${run}-spec.json`);
  const { code, err } = await execute([process.execPath, 'examples/tiny/prepare.mjs', dir, '--spec', out], {
    cwd: ROOT,
  });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(readFileSync(out, 'utf8')) as Spec;
}
const status = async (run: string): Promise<Shown> => {
  const { code, out } = await stack.swarmline('status', run, '--json');
  expect(code).toBe(0);
  return JSON.parse(out) as Shown;
};
const readMetrics = (): Promise<string[]> =>
  Promise.all(
    WORKERS.map(async (worker) =>
      (await fetch(`http://127.0.0.1:${metricsPort(stack.settings, worker)}/metrics`)).text(),
    ),
  );

beforeAll(async () => {
  stack = await openTestStack();
  await stack.submit('tiny', await prepare('tiny'));
  await submitFrontier();
  const watching = stack.swarmline('watch', 'tiny');
  await stack.awaitRun('tiny', 'it is in its second wave', ({ tasks }) => tasks.some(({ wave }) => wave === 2));
  metrics = await readMetrics();
  watched = await watching;
});
afterAll(() => stack?.stop());

/** The same tasks, but one of the first wave holds back until it is told to go on. */
async function submitFrontier(): Promise<void> {
  const spec = await prepare('frontier');
  Object.assign(spec.policy, { schedule: 'frontier', gateProof: 'off' });
  Object.assign(spec['sandbox'] as object, { limits: { memory: '512m', disk: '64m', agent: '5m', step: '1m' } });
  Object.assign(spec['gate'] as object, { typecheck: 'skip' }); // the order is what counts here
  const slow = spec.tasks.find(({ id }) => id === 'group-thousands')!;
  slow.run = untilTold(slow.run.join(' '));
  await stack.submit('frontier', spec);
}

describe('five tasks in two waves', () => {
  test('end completed, every task passed, two integration points green', async () => {
    const { run, tasks, greenPoints, merges } = await status('tiny');
    expect(run.outcome).toBe('completed');
    expect(run.report).toMatchObject({
      tasks: { passed: 5 },
      waves: 2,
      greenPoints: 2,
      delivered: 'swarmline/tiny-shop',
    });
    expect(tasks.map(({ id, state }) => `${id} ${state}`).toSorted()).toEqual(TASKS.map((id) => `${id} passed`));
    expect(Object.fromEntries(tasks.map(({ id, wave }) => [id, wave]))).toEqual({
      'group-thousands': 1,
      'add-slug': 1,
      'rename-qty': 1,
      'link-report': 2,
      'export-all': 2,
    });
    expect(greenPoints.map(({ n, wave }) => [n, wave])).toEqual([
      [1, 1],
      [2, 2],
    ]);
    expect(merges.byState).toEqual({ green: 5 });
  });

  test('land exactly once each, on the branch that was delivered to the origin', async () => {
    const delivered = await gitText(origin['tiny']!, ['rev-parse', 'swarmline/tiny-shop']);
    expect((await trailers(origin['tiny']!, 'main..swarmline/tiny-shop', 'Swarmline-Task')).toSorted()).toEqual(TASKS);
    const hub = await refs(stack.hubDir('tiny'));
    const { greenPoints } = await status('tiny');
    for (const ref of ['refs/heads/main', 'refs/swarmline/verified', 'refs/swarmline/next', 'refs/swarmline/green/2'])
      expect({ ref, commit: hub[ref] }).toEqual({ ref, commit: delivered });
    for (const { n, commit } of greenPoints) expect(hub[`refs/swarmline/green/${n}`]).toBe(commit);
    // Nothing of the origin's own was touched.
    expect(Object.keys(await refs(origin['tiny']!))).toEqual(['refs/heads/main', 'refs/heads/swarmline/tiny-shop']);
  });

  test('leave a main whose tree passes the whole gate outside of any container', async () => {
    const clone = join(stack.dir, 'clone');
    await execute(['git', 'clone', '--quiet', '--branch', 'swarmline/tiny-shop', origin['tiny']!, clone]);
    for (const step of [['tools/lint.mjs'], ['--test'], ['tools/build.mjs']]) {
      const { code, out, err } = await execute([process.execPath, ...step], { cwd: clone });
      expect({ step, code, says: code === 0 ? '' : out + err }).toEqual({ step, code: 0, says: '' });
    }
    const { out } = await execute([process.execPath, 'tools/build.mjs'], { cwd: clone });
    expect(out).toContain('built: formatCents, price, quantityOf, reportLine, slug');
  });

  test('rename-qty was red once and came back because of the log of that red', async () => {
    const attempts = await listAttempts(stack.db, 'tiny', 'rename-qty');
    expect(attempts.map(({ attempt, outcome }) => [attempt, outcome])).toEqual([
      [1, 'gate-red'],
      [2, 'passed'],
    ]);
    // The first did not touch the caller that the log names; the second did.
    const changed = async (attempt: number): Promise<string[]> =>
      (
        await gitText(stack.hubDir('tiny'), [
          'diff',
          '--name-only',
          `refs/swarmline/tasks/rename-qty/${attempt}^`,
          `refs/swarmline/tasks/rename-qty/${attempt}`,
        ])
      ).split('\n');
    expect(await changed(1)).toEqual(['src/stock.mjs', 'test/stock.test.mjs']);
    expect(await changed(2)).toEqual(['src/report.mjs', 'src/stock.mjs', 'test/stock.test.mjs']);
    expect((await status('tiny')).attempts).toMatchObject({ total: 6, byOutcome: { passed: 5, 'gate-red': 1 } });
  });

  test('logs tell what the agent and the gate printed, and why it failed', async () => {
    const { code, out } = await stack.swarmline('logs', 'tiny', 'rename-qty', '--attempt', '1');
    expect(code).toBe(0);
    expect(out).toMatch(/^task rename-qty, attempt 1: gate-red\n.*[Ss]tep "?test"? is red/);
    expect(out).toMatch(/task +test +red, exit 1/);
    expect(out).toContain('── agent.log\nsrc/stock.mjs: changed');
    expect(out).toContain("does not provide an export named 'qty'");
    const newest = await stack.swarmline('logs', 'tiny', 'rename-qty');
    expect(newest.out).toMatch(/^task rename-qty, attempt 2: passed\n/);
    expect(newest.out).toContain('src/report.mjs: changed');
    for (const gate of ['baseline', 'wave-1', 'wave-2'])
      expect((await stack.swarmline('logs', 'tiny', gate)).out).toMatch(/wave +test +green/);
  });

  test('watch in a pipe told each change in a line, and its exit code is that of the run', () => {
    expect(watched.code).toBe(0);
    const lines = watched.out.split('\n').map((line) => line.replace(/^[\d:]+ /, ''));
    expect(lines[0]).toMatch(/^run tiny: /);
    for (const task of TASKS)
      expect(lines.filter((line) => line.startsWith(`${task}: passed, landed as`))).toHaveLength(1);
    expect(lines.filter((line) => /^green point \d: /.test(line))).toHaveLength(2);
    expect(watched.out).toMatch(/run tiny: completed after/);
    expect(watched.out).not.toContain('\u001b');
  });

  test('status of a run or task that nobody knows exits 2 and names the nearest', async () => {
    const run = await stack.swarmline('status', 'tinny');
    expect([run.code, run.out]).toEqual([2, '']);
    expect(run.err).toContain('The nearest: tiny');
    const task = await stack.swarmline('logs', 'tiny', 'rename-qtty');
    expect(task.code).toBe(2);
    expect(task.err).toContain('rename-qty');
    const order = await stack.swarmline('pause', 'tiny');
    expect(order.code).toBe(2);
    expect(order.err).toContain('Run tiny has ended.');
  });

  test('/metrics of each worker holds the SDK’s figures, and ours of the run while it was open', () => {
    for (const text of metrics) expect(/^temporal_request\{/m.test(text)).toBe(true);
    const [orchestrator, , sandbox] = metrics;
    for (const name of [
      'swarmline_tasks{run="tiny",state="passed"} 3',
      'swarmline_green_points{run="tiny"} 1',
      'swarmline_runs_open 2',
      'swarmline_attempts{run="tiny",outcome="gate-red"} 1',
    ])
      expect(orchestrator?.split('\n').filter((line) => line.startsWith('swarmline_'))).toContain(name);
    for (const name of [
      'merge_queue_length',
      'merge_queue_oldest_seconds',
      'verification_lag_seconds',
      'unverified_commits',
      'attempts_running',
    ])
      expect([name, new RegExp(`^swarmline_${name}\\{run="tiny"\\} [\\d.]+$`, 'm').test(orchestrator ?? '')]).toEqual([
        name,
        true,
      ]);
    for (const state of ['total', 'taken', 'waiting'])
      expect([state, new RegExp(`^swarmline_slots\\{state="${state}"\\} \\d+$`, 'm').test(sandbox ?? '')]).toEqual([
        state,
        true,
      ]);
  });

  test('the Temporal UI can find, name and explain every workflow of the run', async () => {
    const found = [];
    for await (const workflow of stack.client.workflow.list({ query: 'SwarmRun = "tiny"' })) found.push(workflow);
    expect(found.map(({ workflowId }) => workflowId).toSorted()).toEqual(
      ['tiny', 'tiny:mainline', 'tiny:wave-1.1', 'tiny:wave-2.2', ...TASKS.map((id) => `tiny/${id}`)].toSorted(),
    );
    for (const {
      workflowId,
      searchAttributes,
      status: { name },
    } of found) {
      expect([workflowId, name]).toEqual([workflowId, 'COMPLETED']);
      expect(Object.keys(searchAttributes)).toEqual(expect.arrayContaining(['SwarmKind', 'SwarmRun', 'SwarmState']));
      if (workflowId === 'tiny') continue; // started from outside: its summary is whoever starts it's to give
      const summary = await stack.client.workflow.getHandle(workflowId).describe();
      expect({ workflowId, summary: await summary.staticSummary() }).toEqual({
        workflowId,
        summary: expect.any(String),
      });
    }
    const one = stack.client.workflow.list({
      query: 'SwarmRun = "tiny" AND SwarmTask = "rename-qty" AND SwarmState = "passed" AND SwarmWave = 1',
    });
    const ids = [];
    for await (const { workflowId } of one) ids.push(workflowId);
    expect(ids).toEqual(['tiny/rename-qty']);
    const { out } = await stack.temporal('workflow', 'metadata', '--workflow-id', 'tiny');
    expect(out).toMatch(/\*\*completed\*\* · 2 green points/);
    expect(out).toMatch(/\| 1 \|.* 3 \|/);
  });

  test('all its workflows together cost few events', async () => {
    let events = 0;
    for await (const { workflowId } of stack.client.workflow.list({ query: 'SwarmRun = "tiny"' }))
      events += (await stack.client.workflow.getHandle(workflowId).describe()).historyLength;
    process.stderr.write(`tiny: ${events} events for ${TASKS.length} tasks\n`);
    // A run, its mainline and its waves cost some 400 whatever the number of tasks; what a task adds is measured by the benchmark.
    expect(events).toBeLessThan(400 + 60 * TASKS.length);
  });
});

describe('the same five tasks on the frontier', () => {
  test('a task starts when its own dependencies have landed, whoever else of the first wave is still at work', async () => {
    const held = await stack.awaitRun(
      'frontier',
      'link-report landed',
      (run) => stateOf(run, 'link-report') === 'passed',
    );
    expect(stateOf(held, 'group-thousands')).toBe('running');
    expect(stateOf(held, 'export-all')).toBe('pending'); // it needs the one that is held
    await tellToGoOn(stack, { run: 'frontier', task: 'group-thousands' });
    const { run, tasks } = await stack.awaitRun('frontier', 'its end', (overview) => overview.run.outcome !== null);
    expect(run.outcome).toBe('completed');
    expect(tasks.map(({ state }) => state)).toEqual(TASKS.map(() => 'passed'));
  });

  test('what was delivered holds each task once and passes the gate', async () => {
    expect((await trailers(origin['frontier']!, 'main..swarmline/tiny-shop', 'Swarmline-Task')).toSorted()).toEqual(
      TASKS,
    );
    const clone = join(stack.dir, 'frontier-clone');
    await execute(['git', 'clone', '--quiet', '--branch', 'swarmline/tiny-shop', origin['frontier']!, clone]);
    expect((await execute([process.execPath, '--test'], { cwd: clone })).code).toBe(0);
    expect(await stack.containers()).toEqual([]);
  });
});

describe('a bad spec', () => {
  const bad = async (): Promise<Spec> => {
    const spec = await prepare(`bad-${Math.random().toString(36).slice(2)}`);
    const [first, second, third] = spec.tasks as unknown as Record<string, unknown>[];
    Object.assign(spec, { gaol: 'x', gate: { lint: 'true', typecheck: 'skip', build: 'skip' } });
    Object.assign(first!, { acceptance: [], dependsOn: ['export-all'] });
    Object.assign(second!, { files: { allow: ['../elsewhere'] } });
    Object.assign(third!, { dependsOn: ['rename-qty2'] });
    return spec;
  };
  const PATHS = ['gaol', 'gate.test', 'tasks[0].acceptance', 'tasks[1].files.allow[0]', 'tasks[2].dependsOn[0]'];

  test('fails at once from `temporal workflow start`, with every problem and its path in one message, and leaves nothing', async () => {
    await stack.submit('bad', await bad());
    const failure = await stack.client.workflow
      .getHandle('bad')
      .result()
      .catch((error: unknown) => error);
    const cause = (failure as WorkflowFailedError).cause as ApplicationFailure;
    expect(cause).toMatchObject({ type: 'BadSpec', nonRetryable: true });
    for (const path of PATHS) expect(cause.message).toContain(`\n- ${path}: `);
    expect(cause.message).toMatch(/^The spec has \d+ problems:\n/);
    const { rows } = await stack.db.query('select id from runs where id = $1', ['bad']);
    expect(rows).toEqual([]);
    expect((await readdir(join(stack.settings.stateDir, 'hubs'))).filter((name) => name.startsWith('bad'))).toEqual([]);
    const history = await stack.client.workflow.getHandle('bad').fetchHistory();
    const failed = history.events?.filter(({ activityTaskFailedEventAttributes: found }) => found) ?? [];
    expect(failed).toHaveLength(1);
    expect((await stack.swarmline('watch', 'bad')).code).toBe(2);
  });

  test('`validate` and `run` exit 2 with the same lines, and start nothing', async () => {
    const path = await stack.file('bad.json', await bad());
    const validated = await stack.swarmline('validate', path);
    expect(validated.code).toBe(2);
    const lines = validated.out
      .split('\n')
      .filter((line) => line.startsWith(path) && !line.includes('nothing was started'));
    const said = lines.map((line) => line.replace(/^\S+ /, '')).toSorted();
    const { message } = (await stack.client.workflow
      .getHandle('bad')
      .result()
      .catch((error: unknown) => (error as WorkflowFailedError).cause)) as Error;
    expect(said).toEqual(
      message
        .split('\n')
        .slice(1)
        .map((line) => line.slice(2))
        .toSorted(),
    );
    const run = await stack.swarmline('run', path, '--id', 'bad-too');
    expect(run.code).toBe(2);
    for (const line of lines) expect(run.err).toContain(line);
    const { rows } = await stack.db.query('select id from runs where id = $1', ['bad-too']);
    expect(rows).toEqual([]);
    await expect(stack.client.workflow.getHandle('bad-too').describe()).rejects.toThrow(/not found/);
  });

  test('a repository that cannot be read is told together with the other problems', async () => {
    const spec = await bad();
    await stack.submit('nowhere', { ...spec, repository: { url: 'file:///no/such/repository' } });
    const failure = await stack.client.workflow
      .getHandle('nowhere')
      .result()
      .catch((error: unknown) => error);
    const { message } = (failure as WorkflowFailedError).cause as Error;
    for (const path of [...PATHS, 'repository.url']) expect(message).toContain(`\n- ${path}: `);
    expect((await readdir(join(stack.settings.stateDir, 'hubs'))).filter((name) => name.startsWith('nowhere'))).toEqual(
      [],
    );
  });
});
