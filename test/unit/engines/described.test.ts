/** Engines that a spec describes. What happens to them in a container is in test/integration/engines/described.test.ts. */
import { describe, expect, test } from '@jest/globals';
import { engineFor, EngineInputError, UnknownEngine } from '../../../engines/index.ts';
import type { EngineInput } from '../../../engines/index.ts';
import { gatewayEnvironment } from '../../../engines/forwarder.ts';
import { BUDGET_SPENT } from '../../../spec/budget.ts';
import { GATEWAY_VARIABLES } from '../../../spec/check-engine.ts';
import type { EngineRecipe, TaskSpec } from '../../../spec/model.ts';

const recipe: EngineRecipe = { command: ['mine', '--quiet'], prompt: 'stdin', env: {}, gateway: true };
const input: EngineInput = {
  task: { id: 't' } as TaskSpec,
  role: { engine: 'mine', model: 'large-4' },
  lastFailure: null,
  prompt: 'Do it. {model} {key} $HOME',
};
const made = (change: Partial<EngineRecipe>, asked: Partial<EngineInput> = {}) =>
  engineFor('mine', { mine: { ...recipe, ...change } }).command({ ...input, ...asked });

describe('an engine of the spec', () => {
  test('runs behind the forwarder, with its prompt on standard input and its base URLs in the environment', () => {
    const { argv, env, files, stdinFile, gateway } = made({});
    expect(argv).toEqual(['node', '/run/swarmline/forward.mjs', 'mine', '--quiet']);
    expect([stdinFile, files['prompt.md'], gateway]).toEqual(['/run/swarmline/prompt.md', input.prompt, true]);
    expect(env).toEqual({
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:8787',
      ANTHROPIC_API_KEY: 'swarmline',
      OPENAI_BASE_URL: 'http://127.0.0.1:8787/v1',
      OPENAI_API_BASE: 'http://127.0.0.1:8787/v1',
      OPENAI_API_KEY: 'swarmline',
    });
    expect(Object.keys(gatewayEnvironment)).toEqual(GATEWAY_VARIABLES);
  });

  test('without the gateway is started as it is, and has no way out', () => {
    const { argv, env, files, gateway } = made({ gateway: false });
    expect([argv, env, Object.keys(files), gateway]).toEqual([['mine', '--quiet'], {}, ['prompt.md'], false]);
  });

  test('is told prompt, model, gateway and stand-in key where its placeholders are, each once: what a prompt says is none', () => {
    const command = ['mine', '-m', '{model}', '--url={gateway}/v1', '--key={key}', '{prompt}', '{other}', '{toString}'];
    const { argv, env, stdinFile } = made({ command, prompt: 'argument', env: { M: '{model}', K: '{key}' } });
    expect(argv.slice(3)).toEqual([
      '-m',
      'large-4',
      '--url=http://127.0.0.1:8787/v1',
      '--key=swarmline',
      'Do it. {model} {key} $HOME',
      '{other}',
      '{toString}',
    ]);
    expect(env).toMatchObject({ M: 'large-4', K: 'swarmline' });
    expect(stdinFile).toBeNull();
    const file = made({ command: ['mine', '{promptFile}'], prompt: 'file', env: { P: '@{promptFile}' } });
    expect(file.argv.at(-1)).toBe('/run/swarmline/prompt.md');
    expect(file.env['P']).toBe('@/run/swarmline/prompt.md');
    expect(file.stdinFile).toBeNull();
  });

  test('is given no prompt that is longer than an argument may be', () => {
    const argument = { command: ['mine', '{prompt}'], prompt: 'argument' } as const;
    expect(engineFor('mine', { mine: { ...recipe, ...argument } }).promptBytes).toBe(131_071);
    expect(engineFor('mine', { mine: recipe }).promptBytes).toBeUndefined();
    expect(made(argument, { prompt: 'x'.repeat(131_071) }).argv.at(-1)).toHaveLength(131_071);
    expect(() => made(argument, { prompt: 'ä'.repeat(65_536) })).toThrow(EngineInputError);
    expect(() => made(argument, { prompt: 'ä'.repeat(65_536) })).toThrow('engines.mine.prompt: file');
    const { prompt: _none, ...without } = input;
    expect(() => engineFor('mine', { mine: recipe }).command(without)).toThrow('was given no prompt');
  });

  test('ends as its exit code says; that its budget is spent is read from what it printed', () => {
    const engine = engineFor('mine', { mine: recipe });
    const outcome = (run: Parameters<typeof engine.outcome>[0]) => engine.outcome(run);
    expect(outcome({ end: 'exited', exitCode: 0, output: 'All done.\n' })).toMatchObject({
      ok: true,
      lastMessage: 'All done.',
      usage: null,
    });
    expect(outcome({ end: 'exited', exitCode: 3, output: 'oops' })).toMatchObject({ ok: false, cause: 'agent-failed' });
    expect(outcome({ end: 'timeout', exitCode: null, output: BUDGET_SPENT })).toMatchObject({ cause: 'agent-timeout' });
    const spent = `trying\nAPI error 403: {"message": "${BUDGET_SPENT} task t has spent its budget of 2 USD"}\nbye`;
    expect(outcome({ end: 'exited', exitCode: 1, output: spent })).toMatchObject({
      cause: 'budget',
      why: `${BUDGET_SPENT} task t has spent its budget of 2 USD"}`,
    });
    expect(outcome({ end: 'exited', exitCode: 0, output: spent }).ok).toBe(true);
  });

  test('takes the place of no built-in one, and of nothing that every object has', () => {
    expect(engineFor('codex', { codex: recipe }).command({ ...input }).argv).toContain('codex');
    expect(() => engineFor('toString', {})).toThrow(UnknownEngine);
    expect(() => engineFor('yours', { mine: recipe })).toThrow(/codex, aider, mine\./);
  });
});
