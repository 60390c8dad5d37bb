import { expect, test } from '@jest/globals';
import { planLines, planReport } from '../../../cli/render/plan.ts';
import { worklogLines } from '../../../cli/render/worklog.ts';
import type { PlanState } from '../../../spec/plan/index.ts';
import { decision } from '../spec-plan/fixture.ts';

test('the work log tells entries, flagged files and notices, without control characters', () => {
  const at = Date.UTC(2026, 11, 1, 7, 5, 9);
  const entry = {
    key: 'k',
    atMs: at,
    kind: 'discovery',
    task: 'a',
    message: 'the tests need \u001b[31mTZ=UTC',
    data: null,
  };
  const notice = { task: 'b', byTask: 'a', commit: 'c'.repeat(40), files: ['x.ts'], atMs: at, deliveredAtMs: null };
  const lines = worklogLines('r', {
    entries: [entry],
    flags: [{ path: 'src/all.ts', count: 2, why: 'everybody changes it' }],
    notices: [notice, { ...notice, deliveredAtMs: at }],
  });
  expect(lines.join('\n')).not.toContain('\u001b');
  expect(lines[0]).toMatch(/^07:05:09 discovery \(a\): the tests need .*TZ=UTC/);
  expect(lines.slice(1)).toEqual([
    '',
    'flagged files',
    '  src/all.ts (2 times): everybody changes it',
    '',
    'notices',
    '  b: x.ts changed in cccccccccc by a; not read yet',
    '  b: x.ts changed in cccccccccc by a; read at 07:05:09',
  ]);
  expect(worklogLines('r', { entries: [], flags: [], notices: [] })).toEqual([expect.stringContaining('yet')]);
});

test('a plan is told by planner, with what was sent back and what was decided', () => {
  const files = { allow: ['src/a.js'], forbid: [], reference: [] };
  const spec = { id: 'a', kind: 'work', goal: 'Write a.\nMore.', dependsOn: ['b'], files };
  const plan = {
    nodes: [{ id: '', parent: null, depth: 0, goal: '', interface: '', files: ['**'], done: true, integrated: [] }],
    tasks: [{ spec, state: 'pending', why: null, node: '', scaffold: false }],
    decisions: [decision('old', { supersededBy: 'new' }), decision('new', { owner: 'a/1' })],
  } as unknown as PlanState;
  const answers = [
    { node: '', problems: [{ path: '', message: 'x' }] },
    { node: '', problems: [] },
  ];
  const lines = planLines('r', planReport(plan, answers, null));
  expect(lines).toEqual([
    'run r: 1 tasks',
    '',
    'the first planner (**): 2 answers, 1 sent back; has nothing more to plan; logs: ./swarmline logs r plan:',
    '  a (pending, after b): Write a.',
    '',
    'decisions',
    '  old (old; by the first planner; superseded by new): So.',
    '  new (new; by a/1): So.',
  ]);
  expect(planLines('r', planReport({ ...plan, nodes: [], tasks: [], decisions: [] }, [], null))).toEqual([
    'run r has no plan yet',
  ]);
});
