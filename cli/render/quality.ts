/** What reviewers found and what conflicts took, as tables. Pure. */
import type { ReviewerRecord } from '../../spec/finding-proof.ts';
import type { ConflictRecord } from '../../spec/merging.ts';
import { money } from './money.ts';
import { oneLine, table } from './table.ts';
import { duration } from './time.ts';

const CONFLICTS_SHOWN = 10;
const NAME_WIDTH = 60;

/** `right`, `wrong`: findings that proved so (spec/finding-proof.ts); of the rest nothing is known. */
export function reviewerTable(reviewers: readonly ReviewerRecord[]): string[] {
  if (reviewers.length === 0) return [];
  const head = ['reviews', 'rejected', 'no verdict', 'findings', 'right', 'wrong', 'share right'];
  const rows = reviewers.map(({ reviewer, view, engine, reviews, rejected, missing, findings, right, wrong }) => {
    const known = right + wrong;
    const share = known === 0 ? 'not known' : `${Math.round((right / known) * 100)} %`;
    const cells = [reviews, rejected, missing, findings, right, wrong, share];
    return [
      oneLine(`review-${reviewer + 1} (${engine}, sees the ${view})`, NAME_WIDTH),
      ...cells.map((cell, i) => String(cell).padStart(head[i]!.length)),
    ];
  });
  return ['', 'what reviewers found', ...table([['', ...head], ...rows], '  ')];
}

/** Dearest first. */
export function conflictTable(conflicts: readonly ConflictRecord[]): string[] {
  if (conflicts.length === 0) return [];
  const dearest = conflicts.toSorted((a, b) => b.microusd - a.microusd);
  const rows = dearest
    .slice(0, CONFLICTS_SHOWN)
    .map(({ request, merges, paths, attempts, outcome, workMs, microusd }) => [
      request,
      merges.length === 0 ? '' : `with ${oneLine(merges.join(', '), NAME_WIDTH)}`,
      oneLine(paths.join(', '), NAME_WIDTH),
      outcome,
      `${attempts} attempt${attempts === 1 ? '' : 's'}`,
      duration(workMs),
      money(microusd),
    ]);
  const more = dearest.length - CONFLICTS_SHOWN;
  return [
    '',
    'conflicts that a merger was called for, dearest first',
    ...table(rows, '  '),
    ...(more > 0 ? [`  … and ${more} more (--json)`] : []),
  ];
}
