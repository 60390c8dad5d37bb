import { expect, test } from '@jest/globals';
import { attemptLines, attemptTable } from '../../../cli/render/logs.ts';
import type { GateStepRow } from '../../../store/index.ts';
import { attemptRow } from './overview.fixture.ts';

const step = (name: string, more: Partial<GateStepRow> = {}): GateStepRow => ({
  key: 'a/2',
  level: 'task',
  commit: 'c',
  tree: null,
  step: name,
  ok: true,
  end: 'exited',
  exitCode: 0,
  ms: 1_000,
  failures: [],
  flaky: false,
  waived: false,
  tail: '',
  artifact: null,
  atMs: 0,
  ...more,
});

test('why it failed comes first, outputs last, and no output drives the terminal', () => {
  const lines = attemptLines(
    attemptRow('a', { attempt: 2, outcome: 'gate-red', why: 'test: 2 failures\nadds > two' }),
    [
      step('lint'),
      step('typecheck', { flaky: true }),
      step('test', { ok: false, exitCode: 1, failures: ['adds > two', 'b', 'c', 'd'] }),
      step('build', { ok: false, end: 'oom', exitCode: 137, waived: true }),
    ],
    [
      {
        name: 'agent.log',
        content: 'done \u001b[31mred\u001b[0m\u001b]0;title\u0007\n',
        bytes: 5,
        truncated: false,
        createdAtMs: 0,
      },
      { name: 'gate.test.log', content: 'one\n\u0007two', bytes: 5_000_000, truncated: true, createdAtMs: 0 },
    ],
  );
  expect(`\n${lines.join('\n')}\n`).toMatchInlineSnapshot(`
   "
   task a, attempt 2: gate-red
     test: 2 failures
     adds > two

   gate
     task  lint       green          1 s
     task  typecheck  green (flaky)  1 s
     task  test       red, exit 1    1 s  adds > two, b, c, …
     task  build      waived         1 s

   ── agent.log
   done red

   ── gate.test.log (5000000 bytes in all, cut in the middle)
   one
   two
   "
  `);
});

test('attempts are one line each', () => {
  const rows = [
    attemptRow('a', { outcome: 'gate-red', agentMs: 61_000, gateMs: 5_000 }),
    attemptRow('a', { attempt: 2, phase: 'gate', commit: 'abcdef0123456' }),
  ];
  expect(`\n${attemptTable(rows).join('\n')}\n`).toMatchInlineSnapshot(`
   "
     attempt 1  gate-red  agent 1 min 1 s  gate 5 s  host-a
     attempt 2  gate                                 host-a  abcdef0123
   "
  `);
});
