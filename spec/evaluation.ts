/** Measures of green points by a suite that no agent sees (`policy.evaluate`). Pure. */

/** As compiled. */
export interface Evaluate {
  /** Shell command, run in a checkout of a green point with `files` laid over it. */
  readonly run: string;
  /** Path in that checkout → content. Never part of a tree that anybody else sees. */
  readonly files: Readonly<Record<string, string>>;
  /** Regular expression whose first group is the score; null: the last number that the command prints. */
  readonly score: string | null;
  readonly timeMs: number;
}

export interface Evaluation {
  /** The green point; 0 is the base commit. */
  readonly n: number;
  readonly commit: string;
  /** The command ended by itself and gave a score; its exit code does not matter, since tests that fail are counted, not refused. */
  readonly ok: boolean;
  readonly score: number | null;
  readonly ms: number;
  /** End of its output, or why there is none. */
  readonly tail: string;
}

/** The score in what a command printed; null: none. The last match counts. */
export function scoreOf(output: string, pattern: string | null): number | null {
  if (pattern === null) return numberOf(output.match(/-?\d+(?:\.\d+)?/g)?.at(-1));
  return numberOf([...output.matchAll(new RegExp(pattern, 'gm'))].at(-1)?.[1]);
}

const numberOf = (text: string | undefined): number | null => {
  const number = text === undefined || text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(number) ? number : null;
};

/** Why this can be no pattern of a score, or null. */
export function scoreProblem(pattern: string): string | null {
  try {
    // With an alternative that matches nothing, a match says how many groups there are.
    const groups = (new RegExp(`${pattern}|`).exec('')?.length ?? 1) - 1;
    return groups > 0 ? null : 'has no group; write the number as one, for example "(\\d+) passed"';
  } catch (error) {
    return `is no regular expression: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** `12 → 15 → 17 (+2)`: the newest last; what gave no score as "?". '' when nothing was measured. */
export function trend(evaluations: readonly Pick<Evaluation, 'score'>[], shown = 6): string {
  const scores = evaluations.map(({ score }) => score);
  if (scores.length === 0) return '';
  const [before, last] = scores.filter((score) => score !== null).slice(-2);
  const change =
    scores.at(-1) === null || before === undefined || last === undefined
      ? ''
      : ` (${last === before ? 'as before' : `${last > before ? '+' : ''}${round(last - before)}`})`;
  const from = Math.max(0, scores.length - shown);
  return `${from > 0 ? '… → ' : ''}${scores
    .slice(from)
    .map((score) => (score === null ? '?' : round(score)))
    .join(' → ')}${change}`;
}

const round = (value: number): string => String(Math.round(value * 1000) / 1000);
