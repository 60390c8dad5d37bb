/**
 * The coverage rule: of the lines that a change added or altered and that the report knows as executable, at least so many per
 * cent must have run. Lines that the report does not know (comments, types, files that are not instrumented) count neither way.
 */
import type { CoverageRule } from '../model.ts';
import type { LineHits } from './lcov.ts';

/** Inclusive line range in the new file. */
export interface LineRange {
  readonly from: number;
  readonly to: number;
}

export interface CoverageVerdict {
  readonly ok: boolean;
  readonly executable: number;
  readonly covered: number;
  /** 100 when no changed line is executable. */
  readonly percent: number;
  readonly uncovered: readonly { readonly path: string; readonly lines: readonly LineRange[] }[];
}

export function judgeCoverage(
  rule: CoverageRule,
  hits: LineHits,
  changed: ReadonlyMap<string, readonly LineRange[]>,
): CoverageVerdict {
  let executable = 0;
  let covered = 0;
  const uncovered: { path: string; lines: LineRange[] }[] = [];
  for (const [path, ranges] of changed) {
    const known = hits.get(path);
    if (known === undefined) continue;
    const missed: number[] = [];
    for (const [line, count] of known) {
      if (!ranges.some((range) => line >= range.from && line <= range.to)) continue;
      executable++;
      if (count > 0) covered++;
      else missed.push(line);
    }
    if (missed.length > 0) uncovered.push({ path, lines: ranged(missed) });
  }
  const percent = executable === 0 ? 100 : (covered / executable) * 100;
  return { ok: percent >= rule.changedLines, executable, covered, percent, uncovered };
}

/** One line for a person: the share, the threshold, and every uncovered place. */
export function describeCoverage(rule: CoverageRule, verdict: CoverageVerdict): string {
  if (verdict.executable === 0) return `No changed line is executable according to ${rule.report}.`;
  const share = `${verdict.covered} of ${verdict.executable} changed lines ran (${Math.floor(verdict.percent * 10) / 10} %), ${rule.changedLines} % are required.`;
  const places = verdict.uncovered.flatMap((file) =>
    file.lines.map((range) => `${file.path}:${range.from === range.to ? range.from : `${range.from}-${range.to}`}`),
  );
  return places.length === 0 ? share : `${share} Not covered: ${places.join(', ')}`;
}

function ranged(lines: number[]): LineRange[] {
  const ranges: { from: number; to: number }[] = [];
  for (const line of lines.toSorted((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && last.to === line - 1) last.to = line;
    else ranges.push({ from: line, to: line });
  }
  return ranges;
}

/** Ranges of new lines from the `@@` lines of a unified diff without context (`git diff -U0`) of one file. */
export function addedRanges(diff: string): LineRange[] {
  const ranges: LineRange[] = [];
  for (const match of diff.matchAll(/^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@/gm)) {
    const from = Number(match[1]);
    const count = match[2] === undefined ? 1 : Number(match[2]);
    if (count > 0) ranges.push({ from, to: from + count - 1 });
  }
  return ranges;
}
