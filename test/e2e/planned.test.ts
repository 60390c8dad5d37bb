/**
 * From a written description to a program that runs: examples/words, with the real Claude Code and the real Codex in their containers,
 * behind the real gateway; only the models' answers are played. On its way one plan is sent back, one task goes red, one is rejected in
 * review, two conflict, the provider refuses a burst of calls, the gateway is killed, and the budget runs out.
 */
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { createProgress } from '../../cli/progress.ts';
import { ensureAgentsImage } from '../../cli/setup/image-agents.ts';
import { AGENTS_IMAGE } from '../../cli/setup/image-inputs.ts';
import { loadSettings } from '../../cli/setup/settings.ts';
import { awaitWorker, launchWorker, workerPidFile } from '../../cli/setup/worker-processes.ts';
import { readSpecFile } from '../../cli/read-spec-file.ts';
import { gitText } from '../../mainline/git.ts';
import { connectDocker } from '../../sandbox/index.ts';
import { removeTree } from '../../sandbox/owned-directory.ts';
import type { CostReport } from '../../spec/cost-report.ts';
import { startModelServer } from '../../bench/model-server/index.ts';
import type { ModelAnswer, ModelRequest, ModelServer } from '../../bench/model-server/index.ts';
import { execute, openTestStack, until } from '../support/stack.ts';
import type { TestStack } from '../support/stack.ts';
import { trailers } from '../support/stack-repository.ts';
import { ALL } from '../../bench/words/program.ts';
import { promptOf, wordsScript } from '../../bench/words/script.ts';

jest.setTimeout(600_000);

const RUN = 'words';
let files: string;
let models: ModelServer;
let stack: TestStack;
/** Calls that the provider refuses, from the first worker's on. */
let refusals = 8;
let killAt: 'waiting' | 'asked' | 'done' = 'waiting';

/** The played models, with what goes wrong at a provider. */
const script = async (request: ModelRequest): Promise<ModelAnswer> => {
  const prompt = promptOf(request);
  const isCommand = prompt.includes('Write the command');
  if (isCommand && refusals > 0) {
    refusals -= 1;
    return { fail: { status: 429, retryAfter: 1 } };
  }
  if (killAt === 'waiting' && /# Task lower/.test(prompt) && request.turn === 0) {
    killAt = 'asked';
    return { ...(await wordsScript(request)), delayMs: 20_000 };
  }
  return wordsScript(request);
};

beforeAll(async () => {
  const { cacheDir } = loadSettings(process.env);
  const progress = createProgress({ write: () => true });
  await ensureAgentsImage(connectDocker(process.env), { cacheDir, yes: true, progress });
  files = await mkdtemp(join(tmpdir(), 'swarmline-words-'));
  models = await startModelServer(script);
  const upstreams = { anthropic: { url: models.url, key: null }, openai: { url: `${models.url}/v1`, key: null } };
  await writeFile(join(files, 'upstreams.json'), JSON.stringify(upstreams));
  stack = await openTestStack({ env: { SWARMLINE_SLOTS: '3', SWARMLINE_UPSTREAMS: join(files, 'upstreams.json') } });

  const { raw } = await readSpecFile('examples/words/spec.yaml');
  // Enough for the plan and some tasks; then a person is asked.
  await stack.submit(RUN, { ...(raw as object), budget: { usd: 0.2, modelCalls: 8 } });
  await until('a call is under way that will be cut', async () => killAt === 'asked', 300_000);
  killAt = 'done';
  const { pid } = JSON.parse(await readFile(workerPidFile(stack.settings, 'gateway'), 'utf8')) as { pid: number };
  process.kill(pid, 'SIGKILL');
  // Its port may take a moment to be free.
  await until('the gateway is started again', () =>
    launchWorker(stack.settings, 'gateway', stack.env).then(
      (how) => how === 'started',
      () => false,
    ),
  );
  await awaitWorker(stack.settings, 'gateway');
  await stack.awaitRun(RUN, 'it is paused at its budget', ({ run }) => run.paused, 300_000);
  expect((await stack.swarmline('status', RUN)).out).toContain('has spent its budget of 0.2 USD');
  expect(await stack.swarmline('raise-budget', RUN, '--usd', '20')).toMatchObject({ code: 0 });
  const { run } = await stack.awaitRun(RUN, 'its end', ({ run: now }) => now.outcome !== null, 500_000);
  expect(run.outcome).toBe('completed');
});
afterAll(async () => {
  await stack?.stop();
  await models?.close();
  await removeTree(files);
});

const cost = async (): Promise<CostReport> =>
  JSON.parse((await stack.swarmline('cost', RUN, '--json')).out) as CostReport;

describe('a description becomes a program', () => {
  test('every planned task landed, in waves, and main holds what they wrote', async () => {
    const overview = await stack.awaitRun(RUN, 'its end', ({ run }) => run.outcome !== null);
    expect(overview.tasks.map(({ id }) => id).toSorted()).toEqual(ALL.map(({ id }) => id).toSorted());
    expect(new Set(overview.tasks.map(({ state }) => state))).toEqual(new Set(['passed']));
    expect(Math.max(...overview.tasks.map(({ wave }) => wave ?? 0))).toBeGreaterThanOrEqual(3);
    const landed = await trailers(stack.hubDir(RUN), 'main', 'Swarmline-Task');
    expect(new Set(landed)).toEqual(new Set(ALL.map(({ id }) => id)));
  });

  test('the program runs', async () => {
    const dir = join(files, 'built');
    expect(await execute(['git', 'clone', '--quiet', '--branch', 'main', stack.hubDir(RUN), dir])).toMatchObject({
      code: 0,
    });
    await writeFile(join(dir, 'text'), 'b a b\n');
    const words = async (...args: string[]): Promise<string> => {
      const argv = [
        'docker',
        'run',
        '--rm',
        '--network',
        'none',
        '-v',
        `${dir}:/built:ro`,
        '-w',
        '/built',
        AGENTS_IMAGE,
      ];
      const { code, out, err } = await execute([...argv, 'node', 'src/main.js', ...args]);
      return `${code} ${out}${err}`;
    };
    expect(await words('unique', 'text')).toBe('0 b a\n');
    expect(await words('reverse', 'text')).toBe('0 b a b\n');
    expect(await words('count', 'text')).toBe('0 3\n');
    expect(await words('nothing')).toMatch(/^2 usage: /);
  });

  test('the wrong plan went back with every problem, and the right one was taken', async () => {
    const prompts = models.requests.map(promptOf).filter((prompt) => prompt.includes('# You plan'));
    const sentBack = prompts.find((prompt) => prompt.includes('# Your last answer was sent back')) ?? '';
    expect(sentBack).toContain('`scaffold`: is empty, but so is the repository');
    expect(sentBack).toContain('the tasks "count" and "count-again" could run together');
    const { out } = await stack.swarmline('plan', RUN);
    expect(out).toContain('the first planner (**): ');
    expect(out).toContain('1 sent back');
    expect(out).toContain('planner of command-line (src/main.js');
    expect(out).toContain('words-split');
  });

  test('a planner that would edit is told that it cannot, and goes on to plan', async () => {
    const heard = models.requests
      .filter((request) => promptOf(request).includes('# You plan'))
      .flatMap(({ messages }) => messages.flatMap(({ toolResults }) => toolResults.map(({ text }) => text)));
    expect(heard.length).toBeGreaterThan(0);
    for (const text of heard) expect(text).toMatch(/read-only|EROFS/i);
    expect(await gitText(stack.hubDir(RUN), ['ls-tree', '-r', '--name-only', 'main'])).not.toContain('planner.txt');
  });

  test('the red task came back right because of the log; the rejected one because of the finding', async () => {
    const outcomes = async (task: string): Promise<string[]> => {
      const { rows } = await stack.db.query<{ outcome: string }>(
        'select outcome from attempts where run = $1 and task = $2 order by attempt',
        [RUN, task],
      );
      return rows.map(({ outcome }) => outcome);
    };
    expect(await outcomes('reverse')).toEqual(['gate-red', 'passed']);
    expect(await outcomes('unique')).toEqual(['rejected', 'passed']);
    const told = models.requests.map(promptOf).filter((prompt) => prompt.includes('# Task unique'));
    expect(told.join('\n')).toContain('The test passes whatever unique returns.');
  });

  test('the conflict went to the merger, who saw both tasks', async () => {
    const merges = models.requests.map(promptOf).filter((prompt) => prompt.includes('# You merge'));
    expect(merges.length).toBeGreaterThan(0);
    expect(merges[0]).toContain('notes-move');
    expect(merges[0]).toContain('notes-commands');
    expect(await gitText(stack.hubDir(RUN), ['show', 'main:docs/NOTES.md'])).toContain('Words stand');
  });

  test('the burst of refusals lost nothing, and every call that came to an end is billed as the provider counted', async () => {
    expect(refusals).toBe(0);
    const { total, byRole } = await cost();
    // Each answered call: 2000 in, 1000 from the cache, 200 out; the one that was cut with the gateway is an estimate, and asked again.
    const whole = total.calls - 1;
    expect(total.estimatedMicrousd).toBeGreaterThan(0);
    expect(total.cachedTokens).toBe(whole * 1_000);
    expect(byRole.map(([role]) => role).toSorted()).toEqual(['merger', 'planner', 'reviewer', 'worker']);
  });

  test('the report says what it cost, and what the same would have cost on the planner’s model', async () => {
    const { out } = await stack.swarmline('cost', RUN);
    expect(out).toMatch(/the same tokens all on .*would have cost/i);
    expect(out).toMatch(/rejected/);
  });
});
