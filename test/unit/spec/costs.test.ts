import { describe, expect, it } from '@jest/globals';
import { costLines, summaryLines } from '../../../cli/render/cost.ts';
import { money } from '../../../cli/render/money.ts';
import { reportLines } from '../../../cli/render/report.ts';
import { costOfCalls, costReport, costSummary } from '../../../spec/cost-report.ts';
import type { CostFacts } from '../../../spec/cost-report.ts';
import { outcomeOf } from '../../../spec/costs.ts';
import type { AttemptFate, CostEntry } from '../../../spec/costs.ts';
import type { ConflictRecord } from '../../../spec/merging.ts';
import type { PriceTable } from '../../../spec/prices.ts';

const entry = (more: Partial<CostEntry>): CostEntry => ({
  task: 'a',
  attempt: 1,
  role: 'worker',
  seat: '',
  model: 'm',
  outcome: 'passed',
  isLast: true,
  isMerged: false,
  taskState: 'passed',
  runEnded: false,
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
const facts = (more: Partial<CostFacts> = {}): CostFacts => ({
  landedTasks: 2,
  conflicts: 0,
  mergers: [],
  reviewers: [],
  planners: { taken: 0, sentBack: 0 },
  underWay: { calls: 0, reservedMicrousd: 0 },
  waiting: [],
  ...more,
});
const conflict = (more: Partial<ConflictRecord>): ConflictRecord => ({
  request: 'a/1',
  merges: ['b/1'],
  paths: ['src/a.ts'],
  attempts: 1,
  outcome: 'merged',
  workMs: 30_000,
  microusd: 0,
  tokens: 0,
  ...more,
});
const REVIEWER = { engine: 'codex', model: null, reviews: 4, rejected: 0, missing: 0, findings: 0, right: 0, wrong: 0 };
const flat = (usd: number) => ({ input: usd, cached: usd, cacheWrite: usd, output: usd });
const PRICES: readonly PriceTable[] = [{ cheap: flat(1), dear: flat(10) }];
const report = (
  entries: readonly CostEntry[],
  more: Partial<CostFacts> = {},
  plannerModel: string | null = null,
): ReturnType<typeof costReport> => costReport(entries, facts(more), { plannerModel, prices: PRICES });

describe('what became of an attempt', () => {
  it.each<[string, Partial<AttemptFate>, string]>([
    ['landed', { outcome: 'passed' }, 'landed'],
    ['has not ended', { outcome: null, taskState: 'running' }, 'under way'],
    ['had not ended when its run did', { outcome: null, runEnded: true }, 'abandoned'],
    ['had not ended when its task was cancelled', { outcome: null, taskState: 'cancelled' }, 'abandoned'],
    ['was stopped', { outcome: 'cancelled', taskState: 'cancelled' }, 'abandoned'],
    ['was red, and another came', { outcome: 'gate-red', isLast: false }, 'retried'],
    ['was red, and another comes', { outcome: 'gate-red', taskState: 'retrying' }, 'retried'],
    ['ejected, its task landed later', { outcome: 'ejected', isLast: false }, 'retried'],
    ['red and the last one of a blocked task', { outcome: 'gate-red', taskState: 'blocked' }, 'abandoned'],
    ['red before that', { outcome: 'gate-red', taskState: 'blocked', isLast: false }, 'retried'],
    ['red and the last one of a skipped task', { outcome: 'agent-timeout', taskState: 'skipped' }, 'abandoned'],
    ['red and the last one of a cancelled task', { outcome: 'scope', taskState: 'cancelled' }, 'abandoned'],
    ['red when its run ended', { outcome: 'gate-red', taskState: 'retrying', runEnded: true }, 'abandoned'],
    ['conflicted', { outcome: 'conflict', isLast: false }, 'conflict'],
    ['conflicted, and is blocked', { outcome: 'conflict', taskState: 'blocked' }, 'conflict'],
    ['conflicted, and a merger landed it', { outcome: 'conflict', isLast: false, isMerged: true }, 'landed'],
    ['was rejected in review', { outcome: 'rejected', isLast: false }, 'rejected'],
    ['a planner’s answer that was taken', { task: 'plan:', outcome: 'passed', taskState: null }, 'planning'],
    ['a planner’s answer that was not', { task: 'plan:api', outcome: 'answer', taskState: null }, 'sent back'],
    ['a planner that came to no answer', { task: 'plan:', outcome: 'agent-timeout', taskState: null }, 'sent back'],
    ['a planner that is asked', { task: 'plan:', outcome: null, taskState: null }, 'under way'],
    ['a planner that was stopped', { task: 'plan:', outcome: 'cancelled', taskState: null }, 'abandoned'],
  ])('%s', (_, fate, outcome) => {
    expect(outcomeOf(entry(fate as Partial<CostEntry>))).toBe(outcome);
  });
});

const mixed = (): CostEntry[] => [
  entry({}),
  entry({ attempt: 2, outcome: 'gate-red', isLast: false, microusd: 3_000_000 }),
  entry({ task: 'b', microusd: 500_000, model: 'n' }),
  entry({ task: 'b', role: 'reviewer', seat: 'review-1', model: 'cheap', microusd: 20_000 }),
  entry({ task: 'b', role: 'reviewer', seat: 'review-2', model: 'cheap', microusd: 30_000 }),
  entry({ task: 'plan:', role: 'planner', taskState: null, microusd: 200_000 }),
  entry({ task: 'plan:', attempt: 2, role: 'planner', outcome: 'answer', taskState: null, microusd: 50_000 }),
];

describe('the report', () => {
  it('sums by outcome, role, model, and role and outcome are sums of the same calls', () => {
    const found = report(mixed());
    const cells = found.byRoleAndOutcome.map(({ role, sum }) => [role, sum] as const);
    for (const sums of [found.byOutcome, found.byRole, found.byModel, cells, [...found.byTask, ...found.byPlanner]]) {
      expect(sums.reduce((n, [, sum]) => n + sum.microusd, 0)).toBe(found.total.microusd);
      expect(sums.reduce((n, [, sum]) => n + sum.calls, 0)).toBe(7);
    }
    expect(found.byTask.map(([task]) => task)).toEqual(['a', 'b']);
    expect(found.byReviewer.map(([name]) => name)).toEqual(['review-2 (cheap)', 'review-1 (cheap)']);
    expect(found).toMatchObject({ perLandedTask: 2_400_000, wasted: { microusd: 3_050_000 } });
  });

  it('compares with the planner’s model, named or used; without one, with the dearest, and says which', () => {
    const tokens = 7 * 18;
    expect(report(mixed(), {}, 'dear').comparison).toEqual({ model: 'dear', of: 'planner', microusd: tokens * 10 });
    const used = mixed().map((one) => (one.role === 'planner' ? { ...one, model: 'cheap' } : one));
    expect(report(used).comparison).toEqual({ model: 'cheap', of: 'planner', microusd: tokens });
    const workers = [entry({ model: 'cheap' }), entry({ model: 'dear' }), entry({ model: 'none' })];
    expect(report(workers, {}, 'none').comparison).toEqual({ model: 'dear', of: 'dearest', microusd: 3 * 180 });
    expect(report([entry({ model: 'none' })]).comparison).toBeNull();
    expect(report([]).comparison).toBeNull();
  });

  it('compares at the price of the average prompt, where long prompts have another', () => {
    const price = { ...flat(1), long: { overTokens: 100, price: flat(2) } };
    expect(costOfCalls(entry({ calls: 2, inputTokens: 180 }), price)).toBe(188);
    expect(costOfCalls(entry({ calls: 1, inputTokens: 180 }), price)).toBe(376);
  });

  it('names models that were counted as nothing', () => {
    expect(report([entry({ microusd: 0 }), entry({ model: 'cheap' })]).unpriced).toEqual(['m']);
  });
});

describe('as text', () => {
  it('names sum, waste, comparison, planners, conflicts, and who waits now', () => {
    const text = costLines(
      'r',
      report(
        [...mixed(), entry({ task: 'c', role: 'merger', microusd: 400_000 })],
        {
          planners: { taken: 1, sentBack: 1 },
          conflicts: 3,
          mergers: [
            conflict({ request: 'a/1', microusd: 100_000, outcome: 'given up', attempts: 2 }),
            conflict({ request: 'c/1', microusd: 300_000 }),
          ],
          reviewers: [
            { ...REVIEWER, reviewer: 0, view: 'diff', rejected: 1, findings: 5, right: 2, wrong: 1 },
            { ...REVIEWER, reviewer: 1, view: 'tree', missing: 1, findings: 1 },
          ],
          underWay: { calls: 1, reservedMicrousd: 90_000 },
          waiting: [{ task: 'd', refusal: 'rate', calls: 2, waitedMs: 4_000 }],
        },
        'dear',
      ),
    );
    expect(`\n${text.join('\n')}\n`).toMatchSnapshot();
  });

  it('says what was estimated, and that nothing was called yet', () => {
    const [first] = costLines('r', report([entry({ estimatedMicrousd: 10 })]));
    expect(first).toBe(
      'run r  1.00 USD, 18 tokens in 1 model call, of it 0.0000 USD by our own estimate (calls that were cut off)',
    );
    expect(costLines('r', report([]))).toEqual(['run r has called no model yet']);
    expect(money(1_234)).toBe('0.0012 USD');
  });

  it('a model’s name never drives the reader’s terminal', () => {
    const text = costLines('r', report([entry({ model: 'm\u001b[2J\nx', microusd: 0 })])).join('\n');
    expect(text).not.toContain('\u001b');
  });

  it('the end report keeps total, roles, landed tasks, waste and comparison', () => {
    const cost = costSummary(report(mixed(), {}, 'dear'))!;
    expect(summaryLines(cost)).toEqual([
      'cost          4.80 USD, 126 tokens in 7 model calls: worker 4.50, planner 0.2500, reviewer 0.0500',
      'landed tasks  2, each at 2.40 USD all told',
      'waste         3.05 USD, 64 % of all, on attempts of which nothing landed',
      'compare       the same tokens all on the planner’s model (dear) would have cost 0.0013 USD',
    ]);
    expect(reportLines({ main: 'abc', next: ['go on'], cost })[1]).toMatch(/^ {2}cost +4\.80 USD/);
    expect(reportLines({ main: 'abc', next: ['go on'] })).toEqual(['  main is at abc', '  go on']);
    expect(costSummary(report([]))).toBeNull();
  });
});
