/** Verdicts and findings of attempts, as text. Pure. */
import { findingName, proofOf } from '../../spec/finding-proof.ts';
import type { ReviewedAttempt } from '../../store/index.ts';
import { oneLine } from './table.ts';

/** Of what a reviewer wrote, a line; --json has all. */
const TEXT_WIDTH = 160;
const NAME_WIDTH = 60;

/** Each finding with the name by which a person speaks of it, and with what it proved to be. */
export function reviewLines(attempts: readonly ReviewedAttempt[]): string[] {
  return attempts.flatMap(({ task, attempt, outcome, reviews }) => [
    `${task}/${attempt}  ${outcome ?? 'under way'}`,
    ...reviews.flatMap((review) => {
      const { reviewer, engine, model, view, verdict, why, findings } = review;
      const who = oneLine(model === null ? engine : `${engine} ${model}`, NAME_WIDTH);
      const said = why === '' ? '' : `. ${oneLine(why, TEXT_WIDTH)}`;
      return [
        `  review-${reviewer + 1} (${who}, sees the ${view}): ${verdict ?? 'no verdict'}${said}`,
        ...findings.map((finding, n) => {
          const { severity, file, line, text } = finding;
          const where = file === null ? '' : ` ${oneLine(file, NAME_WIDTH)}${line === null ? '' : `:${line}`}`;
          return `    ${findingName(review, n)}  ${severity}${where}: ${oneLine(text, TEXT_WIDTH)}  [${proofOf(finding)}]`;
        }),
      ];
    }),
  ]);
}
