/**
 * The real Claude Code and the real Codex in their containers, behind the real gateway, through a whole run; only the model's answers are
 * played. No key is anywhere where an agent, a log or a history could show it.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { createProgress } from '../../cli/progress.ts';
import { ensureAgentsImage } from '../../cli/setup/image-agents.ts';
import { AGENTS_IMAGE } from '../../cli/setup/image-inputs.ts';
import { loadSettings } from '../../cli/setup/settings.ts';
import { awaitWorker, launchWorker, workerPidFile } from '../../cli/setup/worker-processes.ts';
import { gitText } from '../../mainline/git.ts';
import { connectDocker } from '../../sandbox/index.ts';
import { removeTree } from '../../sandbox/owned-directory.ts';
import type { RunReport } from '../../activities/contract.ts';
import type { CostReport } from '../../spec/cost-report.ts';
import { makeOrigin, specOf, trailers } from '../support/stack-repository.ts';
import { openTestStack, until } from '../support/stack.ts';
import type { TestStack } from '../support/stack.ts';
import { startModelServer } from '../../bench/model-server/index.ts';
import type { ModelAnswer, ModelRequest, ModelServer } from '../../bench/model-server/index.ts';

jest.setTimeout(300_000);

const KEYS = { anthropic: 'sk-real-anthropic-key-1f0c', openai: 'sk-real-openai-key-77ab' };
let files: string;
let models: ModelServer;
let stack: TestStack;

/** The task that a conversation is about, and whether it was told of a failure. */
const about = ({ messages }: ModelRequest): { task: string; told: boolean } => {
  const prompt = messages.map(({ text }) => text).join('\n');
  return { task: /# Task ([a-z0-9-]+)/.exec(prompt)?.[1] ?? '?', told: prompt.includes('# Earlier attempt') };
};
/** Writes the task's file with the agent's own tool; wrong, until it is shown the log of the gate. */
const writes = (request: ModelRequest): ModelAnswer => {
  const usage = { input: 1_000, cached: 500, output: 100 };
  const { task, told } = about(request);
  if (request.turn === 1 && task === 'tools') {
    const tools = [
      { name: 'mcp__swarmline__worklog_add', input: { kind: 'discovery', text: 'the tests need TZ=UTC' } },
      { name: 'mcp__swarmline__read_interface', input: { path: 'lib.ts' } },
    ];
    return { text: 'I say so.', tools, usage };
  }
  if (task === 'wider' && request.turn < 2) {
    const asks = {
      name: 'mcp__swarmline__request_scope',
      input: { paths: ['extra.txt'], note: 'it belongs together' },
    };
    const files = ['wider.txt', 'extra.txt'].map((path) => ({
      name: 'Write',
      input: { file_path: `/workspace/${path}`, content: 'right\n' },
    }));
    return { text: 'I ask first.', tools: request.turn === 0 ? [asks] : files, usage };
  }
  if (request.turn > 0) return { text: 'Done.', usage };
  const content = task === 'second' && !told ? 'wrong' : `${task} is right`;
  const tools =
    request.format === 'anthropic'
      ? [{ name: 'Write', input: { file_path: `/workspace/${task}.txt`, content: `${content}\n` } }]
      : [{ name: 'exec_command', input: { cmd: `echo ${content} > ${task}.txt` } }];
  return { text: 'I write it.', tools, usage };
};

const task = (id: string, over: object = {}): object => ({
  id,
  goal: `Write ${id}.txt.`,
  files: { allow: [`${id}.txt`] },
  acceptance: [`${id}.txt says that it is right.`],
  ...over,
});
async function submit(run: string, role: object, tasks: readonly object[], over: object = {}): Promise<void> {
  const { url } = await makeOrigin(join(stack.dir, run), { 'README.md': 'empty\n' });
  const spec = specOf(run, url, {
    gate: { lint: 'skip', typecheck: 'skip', test: '! grep -n wrong *.txt *.md', build: 'skip' },
    sandbox: { image: AGENTS_IMAGE, limits: { memory: '1g', disk: '64m', agent: '3m', step: '1m' } },
    roles: { worker: role },
    tasks,
    ...over,
  });
  await stack.submit(run, spec);
}
const ended = async (run: string): Promise<void> => {
  const overview = await stack.awaitRun(run, 'its end', (now) => now.run.outcome !== null, 240_000);
  expect(overview.run.outcome).toBe('completed');
};
const cost = async (run: string): Promise<CostReport> => {
  const { code, out } = await stack.swarmline('cost', run, '--json');
  expect(code).toBe(0);
  return JSON.parse(out) as CostReport;
};
const of = <T>(sums: readonly (readonly [string, T])[], name: string): T | undefined =>
  sums.find(([key]) => key === name)?.[1];

beforeAll(async () => {
  const { cacheDir } = loadSettings(process.env);
  await ensureAgentsImage(connectDocker(process.env), {
    cacheDir,
    yes: true,
    progress: createProgress({ write: () => true }),
  });
  files = await mkdtemp(join(tmpdir(), 'swarmline-agents-'));
  models = await startModelServer(writes);
  await mkdir(join(files, 'keys'));
  for (const [name, key] of Object.entries(KEYS))
    await writeFile(join(files, 'keys', name), `${key}\n`, { mode: 0o600 });
  const upstreams = {
    anthropic: { url: models.url, key: 'anthropic' },
    openai: { url: `${models.url}/v1`, key: 'openai' },
  };
  await writeFile(join(files, 'upstreams.json'), JSON.stringify(upstreams));
  stack = await openTestStack({
    env: {
      SWARMLINE_SLOTS: '2',
      SWARMLINE_CREDENTIALS: join(files, 'keys'),
      SWARMLINE_UPSTREAMS: join(files, 'upstreams.json'),
    },
  });
});
afterAll(async () => {
  await stack?.stop();
  await models?.close();
  await removeTree(files);
});

describe.each([
  ['claude', { engine: 'claude-code', model: 'claude-opus-4-8' }, 'anthropic'],
  ['codex', { engine: 'codex', model: 'gpt-5' }, 'openai'],
] as const)('a run of %s', (run, role, upstream) => {
  beforeAll(async () => {
    await submit(run, role, [task('first'), task('second', { dependsOn: ['first'] })]);
    await ended(run);
  });

  test('lands what the agents wrote; the red one came back right because it was shown the log', async () => {
    expect(await trailers(join(stack.dir, run, '.git'), `main..swarmline/${run}`)).toEqual(['first/1', 'second/2']);
    expect(await gitText(stack.hubDir(run), ['show', 'main:second.txt'])).toBe('second is right');
    const told = models.requests.filter(({ model }) => model === role.model).map((request) => about(request).told);
    expect([told.includes(false), told.includes(true)]).toEqual([true, true]);
  });

  test('is billed as the model server counted: by outcome, with the price of its model', async () => {
    const report = await cost(run);
    const calls = models.requests.filter(({ model }) => model === role.model).length;
    expect(report.total).toMatchObject({
      calls,
      inputTokens: calls * 1_000,
      cachedTokens: calls * 500,
      outputTokens: calls * 100,
      estimatedMicrousd: 0,
    });
    const price =
      run === 'claude' ? 1_000 * 5 + 500 * 0.5 + 100 * 25 : 1_000 * 1.25 + Math.ceil(500 * 0.125) + 100 * 10;
    expect(Math.abs(report.total.microusd - calls * price)).toBeLessThanOrEqual(calls);
    expect(of(report.byOutcome, 'retried')?.calls).toBe(2);
    expect(of(report.byOutcome, 'landed')?.calls).toBe(4);
    expect(report).toMatchObject({ landedTasks: 2, comparison: { of: 'dearest', model: role.model } });
    const { out } = await stack.swarmline('status', run, '--json');
    const { microusd } = report.total;
    expect((JSON.parse(out) as { run: { report: RunReport } }).run.report.cost).toMatchObject({
      microusd,
      calls,
      landedTasks: 2,
      wasted: report.wasted.microusd,
    });
  });

  test('the key went to the model and is nowhere else', async () => {
    const sent = models.requests
      .filter(({ model }) => model === role.model)
      .map(({ headers }) => JSON.stringify(headers));
    for (const headers of sent) expect(headers).toContain(KEYS[upstream]);
    const { rows } = await stack.db.query<{ found: number }>(
      `select count(*)::int as found from artifacts where content like any ($1)`,
      [Object.values(KEYS).map((key) => `%${key}%`)],
    );
    expect(rows[0]?.found).toBe(0);
    const history = await stack.temporal('workflow', 'show', '--workflow-id', `${run}/second`, '--output', 'json');
    expect(history.code).toBe(0);
    const said = history.out.replace(/"data": "([^"]+)"/g, (_, data: string) => Buffer.from(data, 'base64').toString());
    expect(said).toContain('"startFrom":"verified"'); // payloads were decoded
    expect(said).not.toMatch(/sk-real/);
    // Temporal's and Postgres' own pages were asked above; the rest of the state is logs, hubs, sockets, what was in containers.
    const grep = await promisify(execFile)('grep', ['-rlE', 'sk-real', stack.settings.stateDir]).catch(
      (error: { stdout: string }) => error,
    );
    const found = grep.stdout.split('\n').filter((path) => path !== '' && !/\/postgres\/|temporal\.db/.test(path));
    expect(found).toEqual([]);
  });

  test('a person can read what the agent was told and what it did', async () => {
    const { out } = await stack.swarmline('logs', run, 'second', '--attempt', '2');
    expect(out).toContain('# Earlier attempt');
    expect(out).toContain('second.txt');
  });
});

test('an agent uses our tools: what it says is in the work log, what it asks about is read from the mainline', async () => {
  const { url } = await makeOrigin(join(stack.dir, 'tools'), {
    'lib.ts': 'export function f(a: number): string { return `${a}`; }\n',
  });
  const spec = specOf('tools', url, {
    sandbox: { image: AGENTS_IMAGE, limits: { memory: '1g', disk: '64m', agent: '3m', step: '1m' } },
    roles: { worker: { engine: 'claude-code', model: 'claude-sonnet-4-5' } },
    tasks: [task('tools')],
  });
  await stack.submit('tools', spec);
  await ended('tools');
  const { rows } = await stack.db.query<{ message: string }>(
    `select message from log_entries where run = 'tools' and task = 'tools' and kind = 'discovery'`,
  );
  expect(rows).toEqual([{ message: 'the tests need TZ=UTC' }]);
  const heard = models.requests
    .filter(({ model }) => model === 'claude-sonnet-4-5')
    .flatMap(({ messages }) => messages.flatMap(({ toolResults }) => toolResults.map(({ text }) => text)));
  expect(heard.join('\n')).toContain('export function f(a: number): string;');
});

test('an agent that is granted a file while it works may change it; another that asks waits for a person', async () => {
  await submit('wider', { engine: 'claude-code', model: 'claude-sonnet-4-5' }, [task('wider')], {
    policy: { scope: 'grant' },
  });
  await ended('wider');
  expect(await gitText(stack.hubDir('wider'), ['show', 'main:extra.txt'])).toBe('right');
  expect((await stack.swarmline('scope', 'wider')).out).toMatch(/granted \(Granted: the task may change extra\.txt/);
  await submit('asks', { engine: 'claude-code', model: 'claude-sonnet-4-5' }, [task('wider')], {
    policy: { attempts: 1 },
  });
  const { run } = await stack.awaitRun(
    'asks',
    'its attempt has been refused',
    ({ tasks }) => tasks[0]?.state === 'blocked',
  );
  expect(run.outcome).toBeNull();
  const { out } = await stack.swarmline('scope', 'asks');
  expect(out).toMatch(/open \(A person is asked\) {2}wider asks for extra\.txt: it belongs together/);
  const request = /^\S+/.exec(out)?.[0] ?? '';
  expect((await stack.swarmline('status', 'asks')).out).toContain(`swarmline scope asks ${request}`);
  expect(await stack.swarmline('scope', 'asks', request, 'grant')).toMatchObject({ code: 0 });
  expect(await stack.swarmline('retry', 'asks', 'wider')).toMatchObject({ code: 0 });
  await ended('asks');
});

test('a burst of 429 over all agents loses nothing', async () => {
  let refusals = 6;
  models.play((request) => (refusals-- > 0 ? { fail: { status: 429, retryAfter: 1 } } : writes(request)));
  await submit('burst', { engine: 'claude-code', model: 'claude-haiku-4-5' }, [task('one'), task('two')]);
  await ended('burst');
  expect((await cost('burst')).total).toMatchObject({ calls: 4, estimatedMicrousd: 0 });
  models.play(writes);
});

test('a gateway that is killed in the middle loses no count and no task', async () => {
  let asked = 0;
  models.play(async (request) => {
    asked += 1;
    return { ...writes(request), ...(asked === 1 ? { delayMs: 20_000 } : {}) };
  });
  await submit('killed', { engine: 'claude-code', model: 'claude-sonnet-4-6' }, [task('one')]);
  await until('a call is under way', async () => asked === 1);
  process.kill(
    Number((JSON.parse(await readFile(workerPidFile(stack.settings, 'gateway'), 'utf8')) as { pid: number }).pid),
    'SIGKILL',
  );
  // Its port may take a moment to be free.
  await until('it is started again', () =>
    launchWorker(stack.settings, 'gateway', stack.env).then(
      (how) => how === 'started',
      () => false,
    ),
  );
  await awaitWorker(stack.settings, 'gateway');
  await ended('killed');
  const { total, landedTasks } = await cost('killed');
  expect(landedTasks).toBe(1);
  // The call that was cut is in the bill, by our own estimate; the agent made it again.
  expect(total.calls).toBe(3);
  expect(total.estimatedMicrousd).toBeGreaterThan(0);
  models.play(writes);
});

test('a spent budget pauses the run and says so; raising it finishes it', async () => {
  const budget = { tokens: 2_000 };
  await submit('budget', { engine: 'claude-code', model: 'claude-opus-4-8' }, [task('one'), task('two')], { budget });
  await stack.awaitRun('budget', 'it is paused', ({ run }) => run.paused);
  const status = await stack.swarmline('status', 'budget');
  expect(status.out).toContain('has spent its budget of 2000 tokens');
  expect(status.out).toContain('swarmline raise-budget budget');
  expect(await stack.swarmline('raise-budget', 'budget', '--tokens', '1000')).toMatchObject({ code: 2 });
  const raised = await stack.swarmline('raise-budget', 'budget', '--tokens', 'none');
  expect(raised).toMatchObject({ code: 0, out: expect.stringContaining('no limit in tokens') });
  await ended('budget');
});
