/** What a run cost, as text. Pure. */
import type { CostReport, CostSum } from '../../spec/costs.ts';
import { table } from './table.ts';
import { duration } from './time.ts';

/** Tasks shown; --json shows all. */
const TASKS_SHOWN = 15;

/** `12.34 USD`; small amounts with as many digits as they need. */
export const money = (microusd: number): string => `${(microusd / 1e6).toFixed(microusd < 1e6 ? 4 : 2)} USD`;
const count = (n: number): string => n.toLocaleString('en-US');

export function costLines(run: string, report: CostReport): string[] {
  const { total, wasted, perLandedTask, landedTasks } = report;
  if (total.calls === 0) return [`run ${run} has called no model yet`];
  const share = total.microusd === 0 ? 0 : Math.round((wasted.microusd / total.microusd) * 100);
  return [
    `run ${run}  ${money(total.microusd)} in ${count(total.calls)} model calls${
      total.estimatedMicrousd > 0
        ? `, of it ${money(total.estimatedMicrousd)} by our own estimate (calls that were cut off)`
        : ''
    }`,
    ...section('by outcome', report.byOutcome),
    ...section('by role', report.byRole),
    ...section('by model', report.byModel),
    ...section('by task, dearest first', report.byTask.slice(0, TASKS_SHOWN)),
    ...(report.byTask.length > TASKS_SHOWN ? [`  … and ${report.byTask.length - TASKS_SHOWN} more (--json)`] : []),
    '',
    ...table([
      ['landed tasks', `${landedTasks}${perLandedTask === null ? '' : `, each at ${money(perLandedTask)} all told`}`],
      ['not landed', `${money(wasted.microusd)}, ${share} % of all`],
      ['calls waited', `${duration(total.waitedMs)} in all for a place, the key’s rate or the budget`],
    ]),
  ];
}

function section(title: string, sums: readonly (readonly [string, CostSum])[]): string[] {
  const rows = sums.map(([name, sum]) => [
    name,
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
