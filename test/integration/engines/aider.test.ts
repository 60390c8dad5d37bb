/** The real Aider, one attempt at a time, as agent-run starts it. */
import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { BUDGET_SPENT } from '../../../spec/budget.ts';
import type { ModelAnswer, ModelRequest } from '../../../bench/model-server/index.ts';
import { until } from '../../support/stack.ts';
import { KEYS, openAgentBench } from './fixture.ts';
import type { AgentBench } from './fixture.ts';

jest.setTimeout(240_000);

const USAGE = { input: 900, cached: 400, output: 70 };
let agents: AgentBench;
beforeAll(async () => {
  agents = await openAgentBench('aider');
});
afterAll(() => agents?.close());
beforeEach(() => {
  agents.settled.length = 0;
});

const edit = (path: string, from: string, to: string): string =>
  `${path}\n\`\`\`\n<<<<<<< SEARCH\n${from}=======\n${to}>>>>>>> REPLACE\n\`\`\`\n`;
const hello = (): ModelAnswer => ({
  text: `I write it.\n\n${edit('hello.txt', '', 'hello\n')}\n${edit('src/old.txt', 'olleh\n', 'hello\n')}`,
  usage: USAGE,
});
const asked = (model: string): ModelRequest[] => agents.models.requests.filter((request) => request.model === model);
const ends = () => agents.settled.map(({ result: { end, retries } }) => [end, retries]);

test('edits the files that are there and makes those that are not; the gateway counts what the model server said', async () => {
  agents.models.play(hello);
  const { outcome, output, file } = await agents.run('aider', 'gpt-5');
  expect(outcome.ok).toBe(true);
  // It applies them in no order of its own.
  expect(outcome.writes.toSorted()).toEqual(['hello.txt', 'src/old.txt']);
  expect([await file('hello.txt'), await file('src/old.txt')]).toEqual(['hello\n', 'hello\n']);
  expect(outcome.lastMessage).toContain('I write it.');
  const usage = { inputTokens: 900, cachedTokens: 400, cacheWriteTokens: 0, outputTokens: 70 };
  expect(agents.settled.map(({ result }) => [result.usage, result.estimated])).toEqual([[usage, false]]);
  const told = JSON.stringify(asked('gpt-5')[0]?.body);
  expect(told).toContain('Write hello.txt with the word hello.');
  expect(told).toContain('olleh');
  expect(told).toContain('Say hello.');
  expect(JSON.stringify(asked('gpt-5')[0]?.headers)).toContain(KEYS.openai);
  expect(output + told + agents.gatewayLog()).not.toContain('sk-real');
  expect(await file('.aider.chat.history.md')).toBeNull();
});

test('does not notice a burst of 429', async () => {
  agents.models.play((request) =>
    asked(request.model).length <= 3 ? { fail: { status: 429, retryAfter: 1 } } : hello(),
  );
  const { outcome } = await agents.run('aider', 'gpt-5-burst');
  expect(outcome.ok).toBe(true);
  expect(ends()).toEqual([['done', 3]]);
});

test('asks again for an answer that was cut in the middle', async () => {
  let first = true;
  agents.models.play(() => {
    const answer = { ...hello(), ...(first ? { cutAfterEvents: 2 } : {}) };
    first = false;
    return answer;
  });
  const { outcome, file } = await agents.run('aider', 'gpt-5');
  expect(outcome.ok).toBe(true);
  expect([await file('hello.txt'), await file('src/old.txt')]).toEqual(['hello\n', 'hello\n']);
  expect(ends()).toEqual([
    ['failed', 0],
    ['done', 0],
  ]);
});

test('whose model is silent ends at its deadline, and its call with it', async () => {
  let release: (answer: ModelAnswer) => void = () => undefined;
  agents.models.play(() => new Promise((resolve) => (release = resolve)));
  const { outcome } = await agents.run('aider', 'gpt-5-silent', { deadlineMs: 12_000 });
  expect(outcome).toMatchObject({ ok: false, cause: 'agent-timeout' });
  await until('its call is freed', async () => agents.settled.length === 1);
  // It had been sent, so it is counted.
  expect(agents.settled[0]?.result).toMatchObject({ end: 'aborted', estimated: true });
  release({});
});

test('whose model declines has changed nothing, and its last message is there to be read', async () => {
  agents.models.play(() => ({ text: 'I will not do that.', refuses: true }));
  const { outcome, file } = await agents.run('aider', 'gpt-5-refuses');
  expect(outcome).toMatchObject({ lastMessage: expect.stringContaining('I will not do that.'), writes: [] });
  expect(await file('hello.txt')).toBeNull();
});

test('an API that refuses its request is a model error, although it exits with 0; a spent budget is told apart', async () => {
  agents.models.play(() => ({ fail: { status: 400 } }));
  expect((await agents.run('aider', 'gpt-5-400')).outcome).toMatchObject({
    ok: false,
    cause: 'model-error',
    why: expect.stringContaining('scripted 400'),
  });
  const error = { message: `${BUDGET_SPENT} task t has spent its budget of 2 USD`, type: 'invalid_request_error' };
  agents.models.play(() => ({ fail: { status: 400, body: { error } } }));
  expect((await agents.run('aider', 'gpt-5-budget')).outcome).toMatchObject({ ok: false, cause: 'budget' });
});
