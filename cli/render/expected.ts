/** What a run is expected to take, as text. Pure. */
import type { Estimate, RoleEstimate } from '../../spec/estimate.ts';
import type { Figure } from '../../spec/estimate-figures.ts';
import type { Budget } from '../../spec/model.ts';
import { scoreLines } from '../../spec/plan/index.ts';
import { count } from './money.ts';
import { table } from './table.ts';
import { duration } from './time.ts';

export interface Expected {
  readonly name: string;
  readonly budget: Budget;
  /** One, or one for each number of tasks that planners may plan. */
  readonly cases: readonly Case[];
  /** What cannot be known, each in a sentence. */
  readonly unknown: readonly string[];
}
export interface Case {
  /** Tasks that planners are expected to add. */
  readonly added: number;
  readonly estimate: Estimate;
  /** The same number of tasks, but two at once at most; null: the tasks are known. */
  readonly narrow: Estimate | null;
}

export function expectedLines({ name, budget, cases, unknown }: Expected): string[] {
  const shown = cases[Math.floor((cases.length - 1) / 2)]!;
  return [
    name,
    ...unknown.map((line) => `  not known: ${line}`),
    '',
    ...(cases.length > 1
      ? [...rangeTable(cases), '', `with ${shown.added} of them, in ${shown.estimate.score.waves} waves`]
      : headline(shown)),
    '',
    ...roleTable(shown.estimate),
    '',
    ...sources(shown.estimate),
    ...cases.slice(-1).flatMap(({ estimate, added }) => budgetLine(estimate, budget, cases.length > 1 ? added : null)),
  ];
}

function headline({ estimate, narrow }: Case): string[] {
  if (narrow === null) return scoreLines(estimate.score);
  return [
    `${estimate.score.tasks} tasks, of which nothing is known but their number: in ${estimate.score.waves} waves of equal tasks up to ${narrow.score.waves} in which two go on at once`,
    `worthwhile: ${range(String(narrow.score.worthwhileAgents), String(estimate.score.worthwhileAgents))} agents at once; ${between(estimate, narrow)} in all`,
    `cost: about ${range(dollars(estimate), dollars(narrow))} USD`,
  ];
}

const range = (a: string, b: string): string => (a === b ? a : `${a} to ${b}`);
const between = (wide: Estimate, narrow: Estimate): string => `${duration(wide.ms)} to ${duration(narrow.ms)}`;

function rangeTable(cases: readonly Case[]): string[] {
  return table([
    ['planned tasks', 'USD', 'tokens', 'time, by how many can go on at once', 'worthwhile agents'],
    ...cases.map(({ added, estimate, narrow }) => [
      added,
      narrow === null ? dollars(estimate) : range(dollars(estimate), dollars(narrow)),
      narrow === null ? count(estimate.tokens) : range(count(estimate.tokens), count(narrow.tokens)),
      narrow === null ? duration(estimate.ms) : between(estimate, narrow),
      narrow === null
        ? estimate.score.worthwhileAgents
        : `${narrow.score.worthwhileAgents} to ${estimate.score.worthwhileAgents}`,
    ]),
  ]);
}

/** Cents, but for what is less than ten of them. */
const usd = (value: number | null): string =>
  value === null ? 'not known' : value.toFixed(value > 0 && value < 0.1 ? 4 : 2);
const dollars = ({ usd: all, knownUsd }: Estimate): string =>
  all !== null ? usd(all) : knownUsd === 0 ? 'not known' : `${usd(knownUsd)} and what is not known`;
const times = (value: number): string => (Math.round(value * 10) / 10).toString();

function roleTable(estimate: Estimate): string[] {
  const right = (text: string, width: number): string => text.padStart(width);
  return table([
    ['role', 'model', right('times', 6), right('time each', 12), right('tokens each', 12), right('USD each', 9), right('USD', 9), ''],
    ...estimate.roles.map((role) => [
      role.role,
      role.model ?? (role.eachUsd === 0 ? `none (${role.engine})` : `${role.engine}’s own`),
      right(times(role.times), 6),
      right(duration(role.each.ms), 12),
      right(count(tokensEach(role)), 12),
      right(usd(role.eachUsd), 9),
      right(usd(role.usd), 9),
      role.of === 0 ? 'a guess' : `measured: ${role.of} of earlier runs`,
    ]),
    ['all', '', '', '', right(count(estimate.tokens), 12), '', right(dollars(estimate), 9), ''],
  ]); // prettier-ignore
}
const tokensEach = ({ each }: RoleEstimate): number =>
  each.inputTokens + each.cachedTokens + each.cacheWriteTokens + each.outputTokens;

function sources({ figures, atOnce }: Estimate): string[] {
  const { attemptsPerTask, conflictsPerTask, landMs, waveMs } = figures;
  const { agents, by } = atOnce;
  const from = ({ of }: Figure, what: string): string => (of === 0 ? 'a guess' : `measured: ${of} ${what}`);
  return table([
    ['attempts at once', count(agents), `at most, by ${by === 'slots' ? 'the slots of the hosts' : by}`],
    ['attempts a task', times(attemptsPerTask.value), from(attemptsPerTask, 'tasks of earlier runs')],
    ['conflicts', `${times(conflictsPerTask.value * 100)} %`, from(conflictsPerTask, 'tasks of earlier runs')],
    ['until it has landed', duration(landMs.value), from(landMs, 'attempts in this repository')],
    ['integration point', duration(waveMs.value), from(waveMs, 'gates in this repository')],
  ]);
}

/** @param tasks of the case; null: there is but one */
function budgetLine(estimate: Estimate, budget: Budget, tasks: number | null): string[] {
  const lines: string[] = [];
  const told = (name: string, limit: number, expected: number, unit: string): void => {
    const of = tasks === null ? '' : ` with ${tasks} planned tasks`;
    lines.push(
      expected <= limit
        ? `${name} (${count(limit)}${unit}) is enough for that${of}`
        : `${name} (${count(limit)}${unit}) is not enough${of}: the run would pause at about ${Math.floor((limit / expected) * 100)} % of it, for ./swarmline raise-budget`,
    );
  };
  if (budget.usd !== null) told('budget.usd', budget.usd, estimate.knownUsd, ' USD');
  if (budget.tokens !== null) told('budget.tokens', budget.tokens, estimate.tokens, '');
  return lines.length === 0 ? [] : ['', ...lines];
}
