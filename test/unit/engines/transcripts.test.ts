/** Transcripts of the real programs (Claude Code 2.1.332, Codex 0.171.0, Aider 0.86.2), with what says nothing cut out. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { engineFor } from '../../../engines/index.ts';
import type { EngineOutcome } from '../../../engines/index.ts';

const recorded = (name: string, kind = name.startsWith('aider') ? 'txt' : 'jsonl'): string =>
  readFileSync(new URL(`./transcripts/${name}.${kind}`, import.meta.url), 'utf8');
const claude = (output: string, exitCode = 0, end: 'exited' | 'timeout' = 'exited'): EngineOutcome =>
  engineFor('claude-code').outcome({ end, exitCode, output });
const codex = (output: string, exitCode = 0): EngineOutcome =>
  engineFor('codex').outcome({ end: 'exited', exitCode, output });

describe('Claude Code', () => {
  it('a run that went well: what it wrote, what it used, what it said last', () => {
    expect(claude(recorded('claude-ok'))).toEqual({
      ok: true,
      cause: null,
      why: '',
      lastMessage: 'Done: hello.txt is there.',
      reads: [],
      writes: ['hello.txt'],
      steps: [
        { kind: 'message', text: 'I will write it.' },
        { kind: 'tool', name: 'Write', path: 'hello.txt' },
        { kind: 'message', text: 'Done: hello.txt is there.' },
      ],
      usage: { inputTokens: 200, outputTokens: 40 },
    });
  });

  it('an API that fails for good, and a request that it refuses, are errors of the model', () => {
    expect(claude(recorded('claude-500'), 1)).toMatchObject({
      ok: false,
      cause: 'model-error',
      why: expect.stringContaining('API Error: 500'),
    });
    expect(claude(recorded('claude-400'), 1)).toMatchObject({ ok: false, cause: 'model-error' });
  });

  it('an upstream that cannot be reached is an error of the model, in the words of the gateway', () => {
    expect(claude(recorded('claude-unreachable'), 1)).toMatchObject({
      cause: 'model-error',
      why: expect.stringContaining('The anthropic upstream cannot be reached'),
      writes: [],
    });
  });

  it('answers that were cut again and again, in a stream and in one piece, are an error of the model', () => {
    expect(claude(recorded('claude-cut'), 1)).toMatchObject({
      cause: 'model-error',
      why: expect.stringContaining('Connection to the API was lost'),
      usage: { inputTokens: 300, outputTokens: 3 },
    });
  });

  it('a model that declines is a refusal', () => {
    expect(claude(recorded('claude-refuse'), 1)).toMatchObject({ ok: false, cause: 'refusal' });
  });

  it('a task that has spent its budget is told apart by what the gateway said', () => {
    const spent = recorded('claude-400').replaceAll(
      'scripted 400',
      '[swarmline:budget] task t has spent its budget of 2 USD',
    );
    expect(claude(spent, 1)).toMatchObject({
      cause: 'budget',
      why: '[swarmline:budget] task t has spent its budget of 2 USD',
    });
  });

  it('a deadline is one, whatever the transcript had come to; half a transcript is a crash', () => {
    expect(claude(recorded('claude-ok').slice(0, 900), 137, 'timeout')).toMatchObject({ cause: 'agent-timeout' });
    const half = recorded('claude-ok').split('\n').slice(0, 3).join('\n');
    expect(claude(half, 139)).toMatchObject({
      cause: 'agent-failed',
      why: expect.stringContaining('code 139'),
      writes: ['hello.txt'],
    });
    expect(claude(half, 0)).toMatchObject({
      ok: false,
      cause: 'agent-failed',
      why: expect.stringContaining('without finishing'),
    });
    expect(claude('', 127)).toMatchObject({ cause: 'agent-failed', usage: null });
  });

  it('reads and edits count where they are in the workspace; very many steps are bounded', () => {
    const use = (name: string, input: object) =>
      JSON.stringify({ type: 'assistant', message: { content: [{ type: 'tool_use', name, input }] } });
    const seen = claude(
      [
        use('Read', { file_path: '/workspace/a.ts' }),
        use('Edit', { file_path: '/workspace/b.ts' }),
        use('Read', { file_path: '/etc/passwd' }),
      ].join('\n'),
    );
    expect([seen.reads, seen.writes]).toEqual([['a.ts', 'b.ts'], ['b.ts']]);
    const many = claude(Array.from({ length: 5_000 }, () => use('Bash', { command: 'ls' })).join('\n'));
    expect(many.steps!.length).toBeLessThan(600);
    expect(JSON.stringify(many.steps)).toContain('4500 steps left out');
  });
});

describe('Codex', () => {
  it('a run that went well: what it ran, what it used, what it said last', () => {
    expect(codex(recorded('codex-ok'))).toMatchObject({
      ok: true,
      lastMessage: 'Done: hello.txt is there.',
      usage: { inputTokens: 200, outputTokens: 40 },
      steps: [
        { kind: 'message', text: 'I will write it.' },
        { kind: 'tool', name: expect.stringContaining('echo hello > hello.txt') },
        { kind: 'message' },
      ],
    });
  });

  it('an API that fails for good, and a request that it refuses, are errors of the model', () => {
    for (const name of ['codex-500', 'codex-400'])
      expect(codex(recorded(name), 1)).toMatchObject({ ok: false, cause: 'model-error' });
  });

  it('answers that were cut again and again are an error of the model; what came of them is shown', () => {
    const cut = codex(recorded('codex-cut'), 1);
    expect(cut).toMatchObject({ cause: 'model-error', why: expect.stringContaining('stream disconnected') });
    expect(cut.steps?.[0]).toEqual({ kind: 'message', text: 'I write it.' });
  });

  it('a deadline is one; with nothing at all it is a crash that says so', () => {
    expect(engineFor('codex').outcome({ end: 'timeout', exitCode: 137, output: recorded('codex-ok') })).toMatchObject({
      ok: false,
      cause: 'agent-timeout',
    });
    for (const exitCode of [0, 1]) {
      expect(codex('', exitCode)).toMatchObject({ cause: 'agent-failed', usage: null, steps: [], lastMessage: '' });
    }
    expect(codex('').why).toContain('It printed nothing.');
  });

  it('files that it patches are written, those outside the workspace are not ours', () => {
    const changes = [{ path: '/workspace/src/a.ts' }, { path: 'b.ts' }, { path: '/tmp/c' }];
    const item = { type: 'item.completed', item: { type: 'file_change', changes } };
    expect(codex(JSON.stringify(item)).writes).toEqual(['src/a.ts', 'b.ts']);
  });

  it('a turn in which the model shows nothing at all is a refusal, and so is an answer that the provider filtered', () => {
    expect(codex(recorded('codex-refuse'))).toMatchObject({
      ok: false,
      cause: 'refusal',
      why: expect.stringContaining('neither words nor a tool call'),
    });
    expect(codex(recorded('codex-filter'), 1)).toMatchObject({
      cause: 'refusal',
      why: expect.stringContaining('content_filter'),
      lastMessage: 'I can',
    });
  });

  it('a task that has spent its budget is told apart by what the gateway said', () => {
    expect(codex(recorded('codex-budget'), 1)).toMatchObject({
      ok: false,
      cause: 'budget',
      why: '[swarmline:budget] task t has spent its budget of 2 USD',
    });
  });

  it('a turn that does something and ends without a last word is for the gate to judge; one that does not end is a crash', () => {
    const lines = recorded('codex-ok').trimEnd().split('\n');
    const wordless = lines.filter((line) => !line.includes('agent_message')).join('\n');
    expect(codex(wordless)).toMatchObject({ ok: true, lastMessage: '' });
    expect(codex(recorded('codex-ok').split('\n').slice(0, 3).join('\n'))).toMatchObject({
      ok: false,
      cause: 'agent-failed',
    });
  });
});

describe('Aider', () => {
  const aider = (output: string, end: 'exited' | 'timeout' = 'exited'): EngineOutcome =>
    engineFor('aider').outcome({ end, exitCode: end === 'exited' ? 0 : 137, output });

  it('a run that went well: what it wrote, what it used about, what it said', () => {
    expect(aider(recorded('aider-ok'))).toEqual({
      ok: true,
      cause: null,
      why: '',
      lastMessage: expect.stringMatching(/^I write it\.[^]*REPLACE\n```$/),
      reads: [],
      writes: ['hello.txt'],
      steps: [
        { kind: 'message', text: expect.stringContaining('I write it.') },
        { kind: 'tool', name: 'edit', path: 'hello.txt' },
      ],
      usage: { inputTokens: 1_800, outputTokens: 20 },
    });
  });

  it('an API that fails is an error of the model although it exits with 0, unless an answer came after all', () => {
    expect(aider(recorded('aider-400'))).toMatchObject({
      ok: false,
      cause: 'model-error',
      why: expect.stringContaining('scripted 400'),
    });
    const failing = recorded('aider-400')
      .split('\n')
      .find((line) => line.startsWith('litellm.'));
    const later = recorded('aider-ok').replace('I write it.', `${failing}\nRetrying in 0.2 seconds...\nI write it.`);
    expect(aider(later)).toMatchObject({ ok: true, writes: ['hello.txt'] });
  });

  it('one that declines in words is for the diff to judge; a deadline, half an output and nothing at all are told apart', () => {
    expect(aider(recorded('aider-refuse'))).toMatchObject({ ok: true, lastMessage: 'I cannot help with that.' });
    expect(aider(recorded('aider-ok'), 'timeout').cause).toBe('agent-timeout');
    expect(aider(recorded('aider-ok').slice(0, -120))).toMatchObject({ ok: false, cause: 'agent-failed', usage: null });
    expect(aider('')).toMatchObject({ ok: false, cause: 'agent-failed', steps: [] });
  });
});
