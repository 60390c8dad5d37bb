/** The end of a run: what became of it and how to go on. Pure. */

import { trend } from '../../spec/evaluation.ts';
import type { Evaluation } from '../../spec/evaluation.ts';
import type { CostSummary } from '../../spec/cost-report.ts';
import { summaryLines } from './cost.ts';

/** Lines under `next` of a run's report, as the workflow wrote it; none when there is no such list. */
export function nextSteps(report: unknown): string[] {
  const next: unknown = field(report, 'next');
  return Array.isArray(next) ? next.filter((line) => typeof line === 'string') : [];
}

function costOf(report: unknown): string[] {
  const cost = field(report, 'cost');
  return typeof cost === 'object' && cost !== null ? summaryLines(cost as CostSummary) : [];
}

function scoresOf(report: unknown): string[] {
  const scores = field(report, 'scores');
  return Array.isArray(scores) && scores.length > 0 ? [`  score by green point: ${trend(scores as Evaluation[])}`] : [];
}

export function reportLines(report: unknown): string[] {
  const main = field(report, 'main');
  const delivered = field(report, 'delivered');
  return [
    ...(typeof main === 'string' ? [`  main is at ${main}`] : []),
    ...(typeof delivered === 'string' ? [`  delivered to ${delivered}`] : []),
    ...scoresOf(report),
    ...costOf(report).map((line) => `  ${line}`),
    ...nextSteps(report).map((line) => `  ${line}`),
  ];
}

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
