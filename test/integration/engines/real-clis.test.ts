/**
 * The real Claude Code and the real Codex, one attempt at a time, as agent-run starts them. What a whole run makes of them is in
 * test/e2e/agents.test.ts.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { ModelAnswer, ModelRequest } from '../../../bench/model-server/index.ts';
import { until } from '../../support/stack.ts';
import { KEYS, openAgentBench } from './fixture.ts';
import type { AgentBench } from './fixture.ts';

jest.setTimeout(240_000);

const USAGE = { input: 900, cached: 400, output: 70 };
let agents: AgentBench;
/** A model that says nothing, until the test is over. */
let release: () => void;
let silence: Promise<void>;
beforeAll(async () => {
  agents = await openAgentBench();
});
afterAll(() => agents?.close());
beforeEach(() => {
  agents.settled.length = 0;
  silence = new Promise((resolve) => (release = resolve));
});
afterEach(() => release());

/** One shell command by the agent's own tool. */
const shell = ({ format }: ModelRequest, command: string): ModelAnswer['tools'] =>
  format === 'anthropic'
    ? [{ name: 'Bash', input: { command, description: 'looks around' } }]
    : [{ name: 'exec_command', input: { cmd: command } }];
/** Writes hello.txt with the tool that each has for it, then says so. */
const hello = (request: ModelRequest): ModelAnswer => {
  const written = request.messages.some(({ toolResults }) => toolResults.length > 0);
  if (written) return { text: 'Done: hello.txt is there.', usage: USAGE };
  const tools =
    request.format === 'anthropic'
      ? [{ name: 'Write', input: { file_path: '/workspace/hello.txt', content: 'hello\n' } }]
      : shell(request, 'echo hello > hello.txt');
  return { text: 'I write it.', tools: tools ?? [], usage: USAGE };
};
const asked = (model: string): ModelRequest[] => agents.models.requests.filter((request) => request.model === model);
const counted = (model: string) => agents.settled.filter(({ call }) => call.model === model);
/** Answers with `other` to the first calls of a model, `times` of them, and says hello afterwards. */
const atFirst = (times: number, other: ModelAnswer) => (request: ModelRequest) =>
  asked(request.model).length <= times ? { ...hello(request), ...other } : hello(request);

describe.each([
  ['claude-code', 'claude-opus-4-8', KEYS.anthropic],
  ['codex', 'gpt-5', KEYS.openai],
] as const)('%s', (engine, family, key) => {
  test('writes a file with its tool; the gateway counts what the model server said', async () => {
    const model = `${family}-hello`;
    agents.models.play(hello);
    const { outcome, file } = await agents.run(engine, model);
    expect(outcome).toMatchObject({ ok: true, lastMessage: 'Done: hello.txt is there.' });
    expect(await file('hello.txt')).toBe('hello\n');
    expect(outcome.steps?.map(({ kind }) => kind)).toEqual(['message', 'tool', 'message']);
    // Claude Code names the files that it writes, Codex only the command.
    expect(outcome.writes).toEqual(engine === 'claude-code' ? ['hello.txt'] : []);
    const usage = { inputTokens: 900, cachedTokens: 400, cacheWriteTokens: 0, outputTokens: 70 };
    const one = { end: 'done', status: 200, usage, estimated: false, retries: 0 };
    expect(counted(model).map(({ result }) => result)).toEqual(
      asked(model).map(() => expect.objectContaining(one) as unknown),
    );
    expect(asked(model)).toHaveLength(2);
    expect(outcome.usage).toEqual({ inputTokens: 2 * (900 + 400), outputTokens: 140 });
  });

  test('is offered our tools', () => {
    // Codex names the server and opens it to its model as one.
    const ours = engine === 'codex' ? 'mcp__swarmline' : 'mcp__swarmline__worklog_add';
    expect(asked(`${family}-hello`)[0]?.tools).toContain(ours);
  });

  test('is offered no tool that the provider runs or that needs a network', () => {
    // Codex offers its model a search of the provider unasked.
    const tools = asked(`${family}-hello`).flatMap((request) => request.tools);
    expect(tools.length).toBeGreaterThan(5);
    expect(tools.filter((name) => /web|fetch/i.test(name))).toEqual([]);
  });

  test('cannot find the key: not in its environment, its files, its output; the model server has seen it', async () => {
    const model = `${family}-search`;
    // Patterns that do not match themselves. What it is looked for beside the key is there, so the search works.
    const look = [
      `cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -aE 'sk-rea[l]|=swarmlin[e]$' | sort -u`,
      `grep -rlaE 'sk-rea[l]' /workspace /home /tmp /run /etc /opt /var /usr/local 2>/dev/null | sed 's/^/KEY IN /'`,
      `grep -rlaE 'Say hell[o]' /workspace /home /tmp /run 2>/dev/null | sed 's/^/FOUND /'`,
      'echo looked',
    ].join('; ');
    agents.models.play((request) =>
      request.turn === 0 ? { tools: shell(request, look) ?? [], usage: USAGE } : { text: 'Nothing.', usage: USAGE },
    );
    let inspected = '';
    const running = agents.run(engine, model);
    await until('its container is there', async () => {
      const [container] = await agents.bench.containers();
      if (container === undefined) return false;
      inspected = JSON.stringify(await agents.bench.docker.getContainer(container.Id).inspect());
      return true;
    });
    const { outcome, output } = await running;
    expect(outcome).toMatchObject({ ok: true, lastMessage: 'Nothing.' });
    const heard = asked(model)
      .flatMap(({ messages }) => messages.flatMap(({ toolResults }) => toolResults))
      .map(({ text }) => text)
      .join('\n');
    expect(heard).toContain('looked');
    expect(heard).toContain('FOUND /workspace/README.md');
    expect(heard).toMatch(/_KEY=swarmline$/m);
    expect(heard).not.toMatch(/sk-real|KEY IN/);
    expect(inspected).toContain('/run/egress');
    expect(inspected).not.toContain('sk-real');
    expect(output + JSON.stringify(outcome) + agents.gatewayLog()).not.toContain('sk-real');
    for (const { headers, body } of asked(model)) {
      expect(JSON.stringify(headers)).toContain(key);
      expect(JSON.stringify(body)).not.toContain('sk-real');
    }
  });

  test('does not notice a burst of 429', async () => {
    const model = `${family}-burst`;
    agents.models.play(atFirst(3, { fail: { status: 429, retryAfter: 1 } }));
    const { outcome, output } = await agents.run(engine, model);
    expect(outcome.ok).toBe(true);
    expect(asked(model)).toHaveLength(5);
    expect(counted(model).map(({ result: { end, retries } }) => [end, retries])).toEqual([
      ['done', 3],
      ['done', 0],
    ]);
    expect(output).not.toMatch(/api_retry|Reconnecting/);
  });

  test('goes on with a gateway that was stopped in the middle of a call and started again', async () => {
    const model = `${family}-restart`;
    agents.models.play(async (request) => {
      if (asked(model).length === 1) await silence;
      return hello(request);
    });
    const running = agents.run(engine, model);
    await until('its first call is under way', async () => asked(model).length === 1);
    await agents.stopGateway();
    await delay(3_000); // For so long there is none.
    await agents.startGateway();
    const { outcome, file } = await running;
    expect(outcome).toMatchObject({ ok: true, lastMessage: 'Done: hello.txt is there.' });
    expect(await file('hello.txt')).toBe('hello\n');
    expect(counted(model).map(({ result: { end } }) => end)).toEqual(['aborted', 'done', 'done']);
  });

  test('asks again for an answer that was cut in the middle', async () => {
    const model = `${family}-cut`;
    agents.models.play(atFirst(1, { cutAfterEvents: 3 }));
    const { outcome, file } = await agents.run(engine, model);
    expect(outcome).toMatchObject({ ok: true, lastMessage: 'Done: hello.txt is there.' });
    expect(await file('hello.txt')).toBe('hello\n');
    // What was cut is counted too: as far as it was told, else by our own estimate of what was asked.
    const results = counted(model).map(({ result: { end, retries, estimated } }) => [end, retries, estimated]);
    expect(results).toEqual([
      ['failed', 0, true],
      ['done', 0, false],
      ['done', 0, false],
    ]);
  });

  test('whose streams are all cut asks for whole answers (Claude Code), or ends with a model error (Codex)', async () => {
    const model = `${family}-cuts`;
    agents.models.play((request) => ({ ...hello(request), ...(request.stream ? { cutAfterEvents: 3 } : {}) }));
    const { outcome } = await agents.run(engine, model);
    const end = engine === 'codex' ? { ok: false, cause: 'model-error' } : { ok: true, writes: ['hello.txt'] };
    expect(outcome).toMatchObject(end);
  });

  test('whose model fails for good has a model error as its cause, with what the API said', async () => {
    const model = `${family}-400`;
    agents.models.play(() => ({ fail: { status: 400 } }));
    expect((await agents.run(engine, model)).outcome).toMatchObject({
      ok: false,
      cause: 'model-error',
      why: expect.stringContaining('scripted 400'),
    });
  });

  test('whose model declines ends with a refusal', async () => {
    agents.models.play(() => ({ text: 'I will not do that.', refuses: true }));
    const { outcome } = await agents.run(engine, `${family}-refuses`);
    expect(outcome).toMatchObject({ ok: false, cause: 'refusal' });
  });

  test('whose task has spent its budget hears so from the gateway, and ends with that as its cause', async () => {
    const why = 'task t has spent its budget of 2 USD';
    agents.deny(why);
    const { outcome } = await agents.run(engine, `${family}-spent`).finally(() => agents.deny(null));
    expect(outcome).toMatchObject({ ok: false, cause: 'budget', why: `[swarmline:budget] ${why}` });
    expect(asked(`${family}-spent`)).toEqual([]);
  });

  test('that is killed by a command of its own has crashed', async () => {
    agents.models.play((request) => ({ text: 'Oops.', tools: shell(request, 'kill -9 $PPID; sleep 5') ?? [] }));
    const { outcome } = await agents.run(engine, `${family}-crash`);
    expect(outcome).toMatchObject({ ok: false, cause: 'agent-failed', why: expect.stringContaining('code 137') });
  });

  test('whose model is silent ends at its deadline, and its call with it', async () => {
    const model = `${family}-silent`;
    agents.models.play(() => silence.then(() => ({})));
    const { outcome } = await agents.run(engine, model, { deadlineMs: 8_000 });
    expect(outcome).toMatchObject({ ok: false, cause: 'agent-timeout' });
    expect(asked(model)).toHaveLength(1);
    await until('its call is freed', async () => counted(model).length === 1);
    expect(counted(model)[0]?.result.end).toBe('aborted');
  });
});
