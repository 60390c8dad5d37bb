/** Engines that a spec describes: what is accepted, and every way in which it is not. */
import { describe, expect, it, test } from '@jest/globals';
import { DEFAULT_PRICES, unpricedRoles } from '../../../spec/prices.ts';
import { check, context, lines, problems, spec } from './fixture.ts';

type Json = Record<string, unknown>;
const mine = { command: ['mine', '--model', '{model}'], env: { MODE: 'quick' } };
const withEngine = (engine: Json, more: Json = {}): Json =>
  spec({ engines: { mine: engine }, roles: { worker: { engine: 'mine', model: 'm' } }, tasks: [taskOf()], ...more });
const taskOf = (): Json => ({ id: 'a', goal: 'Do it.', files: { allow: ['src/a.ts'] }, acceptance: ['It is done.'] });

it('a few lines make an engine that roles can name; what is not said has its default', () => {
  const { spec: compiled, problems: found, warnings } = check(withEngine(mine));
  expect([found, warnings]).toEqual([[], []]);
  expect(compiled?.engines).toEqual({ mine: { ...mine, prompt: 'stdin', gateway: true } });
  expect(compiled?.roles.worker).toEqual({ engine: 'mine', model: 'm' });
  expect(check(spec()).spec?.engines).toEqual({});
});

describe('refused, each with its path', () => {
  test.each<[string, Json, string]>([
    ['no command', {}, 'engines.mine.command: is required'],
    ['an empty command', { command: [] }, 'engines.mine.command: is empty'],
    ['an empty program', { command: [' '] }, 'engines.mine.command[0]: is empty'],
    ['a shell line', { command: ['mine -q'] }, 'engines.mine.command: is one entry with blanks'],
    ['an unknown field', { ...mine, promt: 'file' }, 'engines.mine.promt: unknown field (did you mean "prompt"?)'],
    ['an unknown way', { ...mine, prompt: 'args' }, 'engines.mine.prompt: must be one of "stdin"'],
    ['a file that is not named', { ...mine, prompt: 'file' }, 'engines.mine.command: names no {promptFile}'],
    ['an argument that has no place', { ...mine, prompt: 'argument' }, 'engines.mine.command: has no {prompt}'],
    [
      '{prompt} beside standard input',
      { command: ['mine', '{prompt}'] },
      'engines.mine.command[1]: {prompt} stands for',
    ],
    [
      '{promptFile} beside standard input',
      { ...mine, env: { P: '{promptFile}' } },
      'engines.mine.env.P: {promptFile} stands',
    ],
    [
      'a prompt in a variable',
      { command: ['m', '{prompt}'], prompt: 'argument', env: { P: '{prompt}' } },
      'engines.mine.env.P: {prompt} goes into the command only',
    ],
    [
      'a misspelt placeholder',
      { command: ['mine', '{modle}'] },
      'engines.mine.command[1]: {modle} is no placeholder (did you mean {model}?)',
    ],
    [
      '{gateway} without one',
      { command: ['mine', '{gateway}'], gateway: false },
      'engines.mine.command[1]: {gateway} has a meaning only',
    ],
    [
      'a variable that is ours',
      { ...mine, env: { OPENAI_BASE_URL: 'https://evil.example' } },
      'engines.mine.env.OPENAI_BASE_URL: is set by us',
    ],
    [
      'a name that is ours',
      { ...mine, env: { SWARMLINE_TASK: 'x' } },
      'engines.mine.env.SWARMLINE_TASK: names beginning with',
    ],
    ['no name', { ...mine, env: { 'A-B': 'x' } }, 'engines.mine.env.A-B: is no name of an environment variable'],
    [
      'a secret by its place',
      { ...mine, env: { GEMINI_API_KEY: 'hunter2' } },
      'engines.mine.env.GEMINI_API_KEY: looks like the place of a secret',
    ],
    [
      'a secret as an option',
      { command: ['mine', '--api-key', 'hunter2'] },
      'engines.mine.command[1]: looks like the place of a secret',
    ],
    [
      'a secret in an option',
      { command: ['mine', '--token=hunter2'] },
      'engines.mine.command[1]: looks like the place of a secret',
    ],
    [
      'a secret by its shape',
      { ...mine, env: { X: `sk-${'a1'.repeat(20)}` } },
      'engines.mine.env.X: contains something of the shape of a key',
    ],
  ])('%s', (_what, engine, message) => {
    const found = problems(withEngine(engine)).filter((line) => !line.startsWith('roles.worker.model'));
    expect(found[0]).toContain(message);
    expect(found.join('\n')).not.toMatch(/hunter2|sk-a1/);
  });

  it('a name that is taken, or no name', () => {
    const named = (name: string) => problems(spec({ engines: { [name]: mine } }));
    for (const name of ['codex', 'external', 'command'])
      expect(named(name)).toEqual([expect.stringContaining('is the name of a built-in engine')]);
    expect(named('My Agent')).toEqual([expect.stringMatching(/^engines\["My Agent"\]: .*for example "my-agent"/)]);
    expect(named('constructor')).toEqual([]);
  });

  it('a role whose engine nobody knows: the nearest one is named, the own ones among them', () => {
    const of = (engine: string, more: Json = {}) =>
      problems(withEngine(mine, { roles: { worker: { engine: 'mine', model: 'm' }, ...more, planner: { engine } } }));
    expect(of('claude')).toEqual([
      expect.stringMatching(
        /^roles\.planner\.engine: is no engine.*there are command, scripted, claude-code, codex, aider, mine, and/,
      ),
    ]);
    expect(of('cladue-code')).toEqual([expect.stringContaining('(did you mean "claude-code"?)')]);
    expect(of('mien')).toEqual([expect.stringContaining('(did you mean "mine"?)')]);
    expect(of('toString')).toEqual([expect.stringContaining('is no engine')]);
    expect(of('external')).toEqual([
      expect.stringContaining(
        'roles.planner.engine: "external" (an agent elsewhere that claims tasks) has its name, but no build carries it yet',
      ),
    ]);
    const several = of('codex', { reviewer: [{ engine: 'mine', model: 'm' }, { engine: 'coedx' }] });
    expect(several).toEqual([
      expect.stringContaining('roles.reviewer[1].engine: is no engine (did you mean "codex"?)'),
    ]);
  });

  it('{model} for a role that names none', () => {
    expect(problems(withEngine(mine, { roles: { worker: { engine: 'mine' } } }))).toEqual([
      'roles.worker.model: is required: the engine "mine" is told its model ({model})',
    ]);
  });

  it('a budget in money for a model without a price, where the engine asks models', () => {
    const own = (gateway: boolean) => ({
      engines: { mine: { gateway } },
      roles: { worker: { engine: 'mine', model: 'nobody-knows-it' } },
      budget: { usd: 5, roles: {}, task: { usd: null } },
    });
    expect(unpricedRoles(own(true)).map(({ path }) => path)).toEqual(['roles.worker.model']);
    expect(unpricedRoles(own(false))).toEqual([]);
    const limited = withEngine(mine, { budget: { usd: 5 } });
    expect(lines(check(limited, { ...context, prices: [DEFAULT_PRICES] }).problems)[0]).toContain(
      'roles.worker.model: the price of "m"',
    );
  });
});

it('what has no effect is warned of: an engine that no role names, a model that its program is not told of', () => {
  expect(lines(check(spec({ engines: { mine } })).warnings)).toEqual(['engines.mine: has no effect: no role names it']);
  const warned = (gateway: boolean) => lines(check(withEngine({ command: ['mine'], gateway })).warnings);
  expect(warned(true)).toEqual([
    expect.stringMatching(/^roles\.worker\.model: .*the gateway lets no other model through/),
  ]);
  expect(warned(false)).toEqual([expect.stringMatching(/^roles\.worker\.model: has no effect/)]);
});

it('what an engine is given for a key, and texts in braces of its own, are accepted', () => {
  const engine = {
    command: [
      'mine',
      '--api-key',
      '{key}',
      '--token={key}',
      '--base',
      '{gateway}/v1',
      '--json',
      '{"a":1}',
      '{file}',
      '{model}',
    ],
    env: { GEMINI_API_KEY: '{key}', MAX_TOKENS: '100' },
  };
  expect(problems(withEngine(engine))).toEqual([]);
});
