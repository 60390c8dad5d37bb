import { expect, it } from '@jest/globals';
import { costReport, outcomeOf } from '../../../spec/costs.ts';
import type { CostEntry } from '../../../spec/costs.ts';
import { costLines, money } from '../../../cli/render/cost.ts';

const entry = (more: Partial<CostEntry>): CostEntry => ({
  task: 'a',
  attempt: 1,
  role: 'worker',
  model: 'm',
  outcome: 'passed',
  calls: 1,
  inputTokens: 10,
  cachedTokens: 5,
  cacheWriteTokens: 1,
  outputTokens: 2,
  microusd: 1_000_000,
  estimatedMicrousd: 0,
  waitedMs: 100,
  ...more,
});

it('every call is counted under what became of its attempt', () => {
  const of = (outcome: string | null, task = 'a') => outcomeOf({ task, outcome });
  expect([of('passed'), of('gate-red'), of('ejected'), of('conflict'), of('cancelled'), of(null), of(null, '')]).toEqual([
    'landed', 'retried', 'retried', 'conflict', 'abandoned', 'under way', 'planning',
  ]); // prettier-ignore
});

it('sums by outcome, role, model and task are sums of the same calls', () => {
  const report = costReport([
    entry({}),
    entry({ attempt: 2, outcome: 'gate-red', microusd: 3_000_000 }),
    entry({ task: 'b', microusd: 500_000, model: 'n' }),
    entry({ task: '', attempt: 0, role: 'planner', outcome: null, microusd: 250_000 }),
  ]);
  for (const sums of [report.byOutcome, report.byRole, report.byModel, report.byTask]) {
    expect(sums.reduce((n, [, sum]) => n + sum.microusd, 0)).toBe(report.total.microusd);
    expect(sums.reduce((n, [, sum]) => n + sum.calls, 0)).toBe(4);
  }
  expect(report.byTask.map(([task]) => task)).toEqual(['a', 'b', '(the run)']);
  expect(report).toMatchObject({ landedTasks: 2, perLandedTask: 2_375_000, wasted: { microusd: 3_000_000 } });
});

it('the text names the sum, the waste and what was estimated', () => {
  const text = costLines(
    'r',
    costReport([entry({}), entry({ outcome: 'gate-red', attempt: 2, estimatedMicrousd: 10 })]),
  ).join('\n');
  expect(text).toContain('2.00 USD in 2 model calls, of it 0.0000 USD by our own estimate');
  expect(text).toMatch(/not landed +1\.00 USD, 50 % of all/);
  expect(costLines('r', costReport([]))).toEqual(['run r has called no model yet']);
  expect(money(1_234)).toBe('0.0012 USD');
});
