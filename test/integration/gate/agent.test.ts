import { afterEach, describe, expect, test } from '@jest/globals';
import { CancelledFailure } from '@temporalio/common';
import { okResult, RUN, taskOf, world, writes } from './fixture.ts';
import type { World } from './fixture.ts';

const FILES = { 'src/a.js': 'export const a = 1;\n', 'package.json': '{"type":"module"}\n', '.gitignore': 'dist/\n' };
const GATE = { lint: 'true' };

describe('an agent run', () => {
  let at: World;
  afterEach(() => at.close());

  test('becomes one commit in the hub whose parent is the start and whose tree has what was written', async () => {
    at = await world(FILES, {
      gate: GATE,
      tasks: [writes('t1', { 'src/b.js': 'export const b = 2;\n', 'src/a.js': null })],
    });
    const result = okResult(await at.agent('t1'));
    expect(result).toMatchObject({ base: at.base, changed: 2 });
    expect(await at.hub.findAttempt('t1', 1)).toBe(result.commit);
    expect(await at.file(result.commit, 'src/b.js')).toBe('export const b = 2;\n');
    expect(await at.file(result.commit, 'src/a.js')).toBeNull();
    expect(at.store.artifacts.get('t1/1/agent.log')).toBe('wrote src/b.js\ndeleted src/a.js\n');
  });

  test('a finished attempt never runs again, whether the store or only the hub knows of it', async () => {
    at = await world(FILES, { remote: true, gate: GATE, tasks: [writes('t1', { 'src/b.js': '1\n' })] });
    const first = await at.agent('t1');
    expect(await at.agent('t1')).toEqual(first);
    at.deps.store.agentResult = async () => null;
    expect(await at.agent('t1')).toEqual(first);
    expect(at.started).toEqual(['agent agent']);
  });

  test('a store that is away when the agent ends costs no finished work', async () => {
    at = await world(FILES, { gate: GATE, tasks: [writes('t1', { 'src/b.js': '1\n' })] });
    const saveArtifact = at.deps.store.saveArtifact.bind(at.deps.store);
    at.deps.store.saveArtifact = () => Promise.reject(new Error('connection refused'));
    await expect(at.agent('t1')).rejects.toThrow('connection refused');
    at.deps.store.saveArtifact = saveArtifact;
    expect(okResult(await at.agent('t1')).commit).toBe(await at.hub.findAttempt('t1', 1));
    expect(at.started).toEqual(['agent agent']);
  });

  test('an agent that changes nothing has failed, unless the task may be empty', async () => {
    at = await world(FILES, { gate: GATE, tasks: [writes('t1', {}), writes('t2', {}, { mayBeEmpty: true })] });
    expect(await at.agent('t1')).toMatchObject({ ok: false, cause: 'nothing-done' });
    expect(okResult(await at.agent('t2')).changed).toBe(0);
  });

  test('everything outside the scope is named at once, nothing reaches the hub, and the next attempt is told', async () => {
    at = await world(FILES, {
      gate: GATE,
      tasks: [writes('t1', { 'src/b.js': '1\n', 'README.md': 'x\n', 'package.json': '{}\n' })],
    });
    const result = await at.agent('t1');
    expect(result).toMatchObject({ ok: false, cause: 'scope' });
    expect(!result.ok && result.why).toContain('README.md: adds a file that no glob');
    expect(!result.ok && result.why).toContain('package.json:');
    expect(await at.hub.findAttempt('t1', 1)).toBeNull();
    expect((await at.store.lastFailure(RUN, 't1'))?.log).toContain('README.md');
  });

  test('an engine that the spec describes is given its prompt, which is kept, and what it edits becomes the commit', async () => {
    at = await world(FILES, { gate: GATE, tasks: [taskOf('t1', { goal: 'Copy what you are told.' })] });
    const spec = await at.deps.store.spec(RUN);
    const command = ['sh', '-c', 'cp "$0" src/told.md && echo "I am $1"', '{promptFile}', '{model}'];
    at.deps.store.spec = async () => ({
      ...spec,
      engines: { mine: { command, prompt: 'file', env: {}, gateway: false } },
      roles: { worker: { engine: 'mine', model: 'small-1' } },
    });
    const { commit } = okResult(await at.agent('t1'));
    const prompt = at.store.artifacts.get('t1/1/prompt.md');
    expect(prompt).toContain('Copy what you are told.');
    expect(await at.file(commit, 'src/told.md')).toBe(prompt);
    expect(at.store.artifacts.get('t1/1/agent.log')).toBe('I am small-1\n');
  });

  test('a preset test is there for the agent, and what the agent did to it is undone', async () => {
    const preset = { 'test/a.acceptance.test.js': 'the preset\n' };
    at = await world(FILES, {
      gate: GATE,
      engine: 'command',
      tasks: [
        taskOf('t1', {
          tests: preset,
          run: [
            'sh',
            '-c',
            'cat test/a.acceptance.test.js; echo weaker > test/a.acceptance.test.js; echo 2 > src/b.js',
          ],
        }),
        taskOf('t2', { tests: preset, run: ['sh', '-c', 'rm -r test; echo x > test'] }),
      ],
    });
    const result = okResult(await at.agent('t1'));
    expect(at.store.artifacts.get('t1/1/agent.log')).toBe('the preset\n');
    expect(await at.file(result.commit, 'test/a.acceptance.test.js')).toBe('the preset\n');
    expect(result.changed).toBe(1);
    expect(await at.agent('t2')).toMatchObject({ ok: false, cause: 'nothing-done' });
  });

  test('a command learns of its last failure, and only then', async () => {
    const script = 'cat; test -z "$SWARMLINE_FAILURE_LOG" && exit 3; cat "$SWARMLINE_FAILURE_LOG" > src/told.txt';
    at = await world(FILES, { gate: GATE, engine: 'command', tasks: [taskOf('t1', { run: ['sh', '-c', script] })] });
    const first = await at.agent('t1', 1);
    expect(first).toMatchObject({ ok: false, cause: 'agent-failed' });
    expect(at.store.artifacts.get('t1/1/agent.log')).toContain('"lastFailure":null');
    const second = okResult(await at.agent('t1', 2));
    expect(await at.file(second.commit, 'src/told.txt')).toContain('The command exited with code 3.');
  });

  test('a command that does not exist is a failed attempt, not a fault to retry for ever', async () => {
    at = await world(FILES, { gate: GATE, engine: 'command', tasks: [taskOf('t1', { run: ['no-such-program'] })] });
    expect(await at.agent('t1')).toMatchObject({ ok: false, cause: 'agent-failed' });
  });

  test('a deadline and the memory limit are told apart from an error', async () => {
    at = await world(FILES, {
      gate: GATE,
      engine: 'command',
      limits: { agentMs: 1500, memoryBytes: 64 * 2 ** 20 },
      tasks: [
        taskOf('slow', { run: ['sleep', '60'] }),
        taskOf('fat', { run: ['node', '-e', 'const a=[]; for(;;) a.push(Buffer.alloc(8e6, 1))'] }),
      ],
    });
    expect(await at.agent('slow')).toMatchObject({ ok: false, cause: 'agent-timeout' });
    expect(await at.agent('fat')).toMatchObject({ ok: false, cause: 'agent-oom' });
  });

  test('cancelled, its container is gone within five seconds, its log is kept and the attempt is marked', async () => {
    at = await world(FILES, {
      gate: GATE,
      engine: 'command',
      tasks: [taskOf('t1', { run: ['sh', '-c', 'echo working; sleep 600'] })],
    });
    const running = at.start(() =>
      at.activities.runAgent({ run: RUN, task: 't1', round: 1, attempt: 1, startFrom: 'verified' }),
    );
    await running.inContainer();
    const asked = performance.now();
    running.cancel();
    await expect(running.result).rejects.toThrow(CancelledFailure);
    expect(performance.now() - asked).toBeLessThan(5000);
    expect(await at.containers()).toBe(0);
    expect(at.store.artifacts.has('t1/1/agent.log')).toBe(true);
    expect(at.store.ended.get('t1/1')?.outcome).toBe('cancelled');
  });
});
