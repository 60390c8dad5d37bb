/** CLIs that a spec describes, in a real container behind the real gateway: nothing but their lines in the spec tells how they are run. */
import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { BUDGET_SPENT } from '../../../spec/budget.ts';
import type { EngineRecipe } from '../../../spec/model.ts';
import { validateSpec } from '../../../spec/validate.ts';
import type { ModelRequest } from '../../../bench/model-server/index.ts';
import { KEYS, openAgentBench } from './fixture.ts';
import type { AgentBench } from './fixture.ts';

jest.setTimeout(120_000);

let agents: AgentBench;
beforeAll(async () => {
  agents = await openAgentBench('plain');
});
afterAll(() => agents?.close());
beforeEach(() => {
  agents.settled.length = 0;
});

/** Asks a model over Chat Completions, as SDKs do that know no more than the environment, and writes its answer to hello.txt. */
const CLI = `import { readFileSync, writeFileSync } from 'node:fs';
const options = Object.fromEntries(process.argv.slice(2).map((text) => text.split(/=(.*)/s, 2)));
const prompt = options['--prompt'] ?? readFileSync(options['--file'] ?? 0, 'utf8');
const base = options['--base'] ?? process.env.OPENAI_BASE_URL;
const answer = await fetch(base + '/chat/completions', {
  method: 'POST',
  headers: { authorization: 'Bearer ' + (process.env.MINE_API_KEY ?? process.env.OPENAI_API_KEY), 'content-type': 'application/json' },
  body: JSON.stringify({ model: options['--model'], messages: [{ role: 'user', content: prompt }] }),
});
const said = await answer.json();
if (!answer.ok) {
  console.error('API error', answer.status, JSON.stringify(said));
  process.exit(2);
}
writeFileSync('hello.txt', said.choices[0].message.content + '\\n');
console.log('Wrote hello.txt');
`;
/** The same for the Messages API, as a shell script. */
const SHELL = `#!/bin/sh
set -e
body=$(node -p 'JSON.stringify({ model: process.argv[1], max_tokens: 50, messages: [{ role: "user", content: require("fs").readFileSync(0, "utf8") }] })' "$MINE_MODEL")
node -e 'fetch(process.env.ANTHROPIC_BASE_URL + "/v1/messages", { method: "POST", body: process.argv[1], headers: { "x-api-key": process.env.ANTHROPIC_API_KEY } }).then((r) => r.json()).then((m) => console.log(m.content[0].text))' "$body" > hello.txt
echo "Wrote hello.txt"
`;
const files = { 'tools/mine.mjs': CLI, 'tools/mine.sh': SHELL };

/** The engine as it comes out of a whole spec. */
function enginesOf(mine: object): Readonly<Record<string, EngineRecipe>> {
  const { spec, problems } = validateSpec(
    {
      name: 'own-engine',
      goal: 'Hello is said.',
      repository: { empty: true },
      gate: { lint: 'skip', typecheck: 'skip', test: 'true', build: 'skip' },
      engines: { mine },
      roles: { worker: { engine: 'mine', model: 'm' } },
      tasks: [{ id: 'a', goal: 'Say hello.', files: { allow: ['hello.txt'] }, acceptance: ['It is said.'] }],
    },
    { files: [] },
  );
  expect(problems).toEqual([]);
  return spec!.engines;
}
const asked = (model: string): ModelRequest[] => agents.models.requests.filter((request) => request.model === model);

test.each([
  ['on its standard input', { command: ['node', 'tools/mine.mjs', '--model={model}'] }],
  ['as a file', { command: ['node', 'tools/mine.mjs', '--model={model}', '--file={promptFile}'], prompt: 'file' }],
  [
    'as an argument',
    { command: ['node', 'tools/mine.mjs', '--model={model}', '--prompt={prompt}'], prompt: 'argument' },
  ],
  [
    'and address and key under names of its own',
    { command: ['node', 'tools/mine.mjs', '--model={model}', '--base={gateway}/v1'], env: { MINE_API_KEY: '{key}' } },
  ],
  ['and is a shell script for the Messages API', { command: ['sh', 'tools/mine.sh'], env: { MINE_MODEL: '{model}' } }],
])('gets its prompt %s; its call goes through the gateway, with the real key, and is counted', async (how, mine) => {
  const model = `m-${how.replaceAll(' ', '-')}`;
  agents.models.play(() => ({ text: 'hello', usage: { input: 900, cached: 400, output: 70 } }));
  const { outcome, output, file } = await agents.run('mine', model, { engines: enginesOf(mine), files });
  expect({ ...outcome, output }).toMatchObject({ ok: true, lastMessage: 'Wrote hello.txt' });
  expect(await file('hello.txt')).toBe('hello\n');
  const [request] = asked(model);
  expect(request?.messages.map(({ text }) => text)).toEqual(['Write hello.txt with the word hello.']);
  expect(JSON.stringify(request?.headers)).toContain(request?.format === 'chat' ? KEYS.openai : KEYS.anthropic);
  const usage = { inputTokens: 900, cachedTokens: 400, cacheWriteTokens: 0, outputTokens: 70 };
  expect(agents.settled.map(({ result }) => [result.end, result.usage])).toEqual([['done', usage]]);
});

test('a call that is refused for a spent budget is told apart from a program that fails', async () => {
  const engines = enginesOf({ command: ['node', 'tools/mine.mjs', '--model={model}'] });
  const error = { message: `${BUDGET_SPENT} task t has spent its budget of 2 USD`, type: 'invalid_request_error' };
  agents.models.play(() => ({ fail: { status: 400, body: { error } } }));
  const spent = await agents.run('mine', 'm-spent', { engines, files });
  expect(spent.outcome).toMatchObject({ ok: false, cause: 'budget', why: expect.stringContaining('budget of 2 USD') });
  agents.models.play(() => ({ fail: { status: 400 } }));
  const failed = await agents.run('mine', 'm-failed', { engines, files });
  expect(failed.outcome).toMatchObject({
    ok: false,
    cause: 'agent-failed',
    why: expect.stringContaining('scripted 400'),
  });
});

test('without the gateway it has no way out', async () => {
  const engines = enginesOf({ command: ['node', 'tools/mine.mjs', '--base=http://127.0.0.1:8787/v1'], gateway: false });
  const { outcome } = await agents.run('mine', 'm-none', { engines, files });
  expect(outcome).toMatchObject({
    ok: false,
    cause: 'agent-failed',
    why: expect.stringMatching(/ECONNREFUSED|fetch failed/),
  });
  expect(asked('m-none')).toEqual([]);
});
