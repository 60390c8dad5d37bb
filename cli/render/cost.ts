/** What a run cost, as text. Pure. */
import type { Comparison, CostReport, CostSummary } from '../../spec/cost-report.ts';
import { COST_OUTCOMES, tokensOf } from '../../spec/costs.ts';
import type { CostSum } from '../../spec/costs.ts';
import { amount, count, money } from './money.ts';
import { conflictTable, reviewerTable } from './quality.ts';
import { oneLine, table } from './table.ts';
import { duration } from './time.ts';

/** Tasks shown; --json shows all. */
const TASKS_SHOWN = 15;
/** Of names: a model's may be an agent's invention. */
const NAME_WIDTH = 60;
const WAITING_SHOWN = 10;

const plural = (n: number, noun: string): string => `${count(n)} ${noun}${n === 1 ? '' : 's'}`;

export function costLines(run: string, report: CostReport): string[] {
  const { total } = report;
  if (total.calls === 0) return [`run ${run} has called no model yet`, ...indented(waitingRows(report))];
  return [
    `run ${run}  ${money(total.microusd)}, ${plural(tokensOf(total), 'token')} in ${plural(total.calls, 'model call')}${
      total.estimatedMicrousd > 0
        ? `, of it ${money(total.estimatedMicrousd)} by our own estimate (calls that were cut off)`
        : ''
    }`,
    ...crossTable(report),
    ...section('by outcome', report.byOutcome),
    ...section('by role', report.byRole),
    ...section('by reviewer', report.byReviewer),
    ...reviewerTable(report.reviewers),
    ...section('by planner', report.byPlanner),
    ...conflictTable(report.mergers),
    ...section('by model', report.byModel),
    ...section('by task, dearest first', report.byTask.slice(0, TASKS_SHOWN)),
    ...(report.byTask.length > TASKS_SHOWN ? [`  … and ${report.byTask.length - TASKS_SHOWN} more (--json)`] : []),
    '',
    ...table([
      ...figures({ ...report, wasted: report.wasted.microusd, microusd: total.microusd }),
      ...planning(report),
      ...conflicts(report),
      ['calls waited', `${duration(total.waitedMs)} in all for a place, the key’s rate, the budget or the upstream`],
      ...waitingRows(report),
      ...(report.unpriced.length === 0
        ? []
        : [
            [
              'without a price',
              `${oneLine(report.unpriced.join(', '), 2 * NAME_WIDTH)}: counted as nothing (SWARMLINE_PRICES)`,
            ],
          ]),
    ]),
  ];
}

/** The few figures that a run's report keeps, as lines for a person. */
export const summaryLines = (cost: CostSummary): string[] =>
  table([
    [
      'cost',
      `${money(cost.microusd)}, ${plural(cost.tokens, 'token')} in ${plural(cost.calls, 'model call')}: ${cost.byRole
        .map(({ role, microusd }) => `${role} ${amount(microusd)}`)
        .join(', ')}`,
    ],
    ...figures(cost),
  ]);

function figures({
  microusd,
  landedTasks,
  perLandedTask,
  wasted,
  comparison,
}: Pick<CostSummary, 'microusd' | 'landedTasks' | 'perLandedTask' | 'wasted' | 'comparison'>): string[][] {
  const share = microusd === 0 ? 0 : Math.round((wasted / microusd) * 100);
  return [
    ['landed tasks', `${landedTasks}${perLandedTask === null ? '' : `, each at ${money(perLandedTask)} all told`}`],
    ['waste', `${money(wasted)}, ${share} % of all, on attempts of which nothing landed`],
    ...(comparison === null ? [] : [['compare', compared(comparison)]]),
  ];
}

const compared = ({ model, of, microusd }: Comparison): string =>
  of === 'planner'
    ? `the same tokens all on the planner’s model (${oneLine(model, NAME_WIDTH)}) would have cost ${money(microusd)}`
    : `the same tokens all on the dearest model used (${oneLine(model, NAME_WIDTH)}; no planner has a price) would have cost ${money(microusd)}`;

function planning({ planners: { taken, sentBack } }: CostReport): string[][] {
  return taken + sentBack === 0
    ? []
    : [['planners', `${plural(taken + sentBack, 'answer')}: ${taken} taken, ${sentBack} sent back`]];
}

function conflicts({ conflicts: found, mergers }: CostReport): string[][] {
  if (found === 0 && mergers.length === 0) return [];
  const microusd = mergers.reduce((sum, one) => sum + one.microusd, 0);
  const merged = mergers.filter(({ outcome }) => outcome === 'merged').length;
  const told =
    mergers.length === 0
      ? ''
      : `; a merger was called for ${mergers.length} and landed ${merged}: ${money(microusd)}, ${money(Math.round(microusd / mergers.length))} each`;
  return [['conflicts', `${found}${told}`]];
}

function waitingRows({ waiting, underWay }: CostReport): string[][] {
  const rows =
    underWay.calls === 0
      ? []
      : [['under way', `${plural(underWay.calls, 'call')}, at most ${money(underWay.reservedMicrousd)} more`]];
  if (waiting.length === 0) return rows;
  const all = waiting.reduce((sum, { calls }) => sum + calls, 0);
  const longest = Math.max(...waiting.map(({ waitedMs }) => waitedMs));
  rows.push(['waiting now', `${plural(all, 'call')}, the longest for ${duration(longest)}`]);
  for (const { task, calls, refusal, waitedMs } of waiting.slice(0, WAITING_SHOWN))
    rows.push(['', `${task}: ${plural(calls, 'call')} for ${REFUSALS[refusal] ?? refusal}, ${duration(waitedMs)}`]);
  if (waiting.length > WAITING_SHOWN) rows.push(['', `… and ${waiting.length - WAITING_SHOWN} more (--json)`]);
  return rows;
}
const REFUSALS: Readonly<Record<string, string>> = {
  places: 'a place',
  rate: 'the key’s rate',
  budget: 'the budget',
  patience: 'the upstream, which asked for patience',
};

const indented = (rows: string[][]): string[] => (rows.length === 0 ? [] : table(rows, '  '));

/** Roles by outcomes that occur, in USD. */
function crossTable({ byRoleAndOutcome, byRole, byOutcome, total }: CostReport): string[] {
  const outcomes = COST_OUTCOMES.filter((outcome) => byOutcome.some(([name]) => name === outcome));
  const cell = (sum: CostSum | undefined): string => (sum === undefined ? '' : amount(sum.microusd)).padStart(10);
  const sums = new Map<string, CostSum>(byOutcome);
  return [
    '',
    'by role and outcome, USD',
    ...table(
      [
        ['', ...[...outcomes, 'all'].map((name) => name.padStart(10))],
        ...byRole.map(([role, sum]) => [
          role,
          ...outcomes.map((outcome) =>
            cell(byRoleAndOutcome.find((one) => one.role === role && one.outcome === outcome)?.sum),
          ),
          cell(sum),
        ]),
        ['all', ...outcomes.map((outcome) => cell(sums.get(outcome))), cell(total)],
      ],
      '  ',
    ),
  ];
}

function section(title: string, sums: readonly (readonly [string, CostSum])[]): string[] {
  if (sums.length === 0) return [];
  const rows = sums.map(([name, sum]) => [
    oneLine(name, NAME_WIDTH),
    money(sum.microusd).padStart(14),
    sum.calls,
    ...[sum.inputTokens, sum.cachedTokens, sum.cacheWriteTokens, sum.outputTokens].map((n) => count(n).padStart(12)),
  ]);
  const head = [
    '',
    'cost'.padStart(14),
    'calls',
    ...['input', 'from cache', 'to cache', 'output'].map((name) => name.padStart(12)),
  ];
  return ['', title, ...table([head, ...rows], '  ')];
}
