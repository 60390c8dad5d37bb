/**
 * Faults for the lines that a task changed: small changes of meaning, each of which a test of these lines should notice. Pure.
 *
 * JavaScript, TypeScript and Python by a real parser; other curly-brace languages by the rules of faults.ts, line by line.
 *
 * 1. Only changed lines are planted in, one fault a line, never in tests, types, imports or comments.
 * 2. What is seldom worth a test (logging, texts) is left alone: a fault that nobody minds would only teach to ignore the others.
 */
import { parser as javascript } from '@lezer/javascript';
import { parser as python } from '@lezer/python';
import { isTestPath } from '../suspicious-tests.ts';
import type { LineRange } from './coverage.ts';
import { faultOfLine, isCode, skippedLines } from './faults.ts';
import { candidates } from './mutation-rules.ts';
import type { Edit } from './mutation-rules.ts';

export interface ChangedFile {
  readonly path: string;
  readonly text: string;
  /** Lines that the task changed or added. */
  readonly lines: readonly LineRange[];
}

export interface LineFault {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** For a person: the line before and after. */
  readonly what: string;
  /** The whole file with the fault in it. */
  readonly text: string;
}

/** Characters; a longer file is generated. */
const MAX_CHARS = 500_000;
const SHOWN = 100;

/** Files in which a fault says something. */
export const isPlantable = (path: string): boolean => isCode(path) && !isTestPath(path) && !/\.d\.[cm]?ts$/.test(path);

/** At most `limit`, spread over everything that changed; the same input gives the same faults. */
export function lineFaults(files: readonly ChangedFile[], limit: number): LineFault[] {
  const all = files
    .filter(({ path, text }) => isPlantable(path) && text.length <= MAX_CHARS)
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .flatMap(faultsOf);
  if (all.length <= limit) return all;
  return Array.from({ length: limit }, (_, at) => all[Math.floor(((at + 0.5) * all.length) / limit)]!);
}

function faultsOf({ path, text, lines }: ChangedFile): LineFault[] {
  const isChanged = (line: number): boolean => lines.some(({ from, to }) => line >= from && line <= to);
  const starts = lineStarts(text);
  const byLine = new Map<number, Edit>();
  for (const edit of editsOf(path, text, starts)) {
    const line = lineOf(starts, edit.from);
    const other = byLine.get(line);
    if (isChanged(line) && (other === undefined || edit.rank < other.rank)) byLine.set(line, edit);
  }
  return [...byLine]
    .toSorted(([a], [b]) => a - b)
    .map(([line, edit]) => ({ path, line, ...applied(text, edit, starts[line - 1]!) }));
}

function editsOf(path: string, text: string, starts: readonly number[]): Edit[] {
  const extension = /\.([a-z]+)$/.exec(path)?.[1] ?? '';
  if (/^[cm]?[jt]sx?$/.test(extension)) {
    const dialect = extension.endsWith('x') ? 'ts jsx' : extension.includes('t') ? 'ts' : 'jsx';
    return candidates(javascript.configure({ dialect }).parse(text).topNode, text, 'javascript');
  }
  if (extension === 'py') return candidates(python.parse(text).topNode, text, 'python');
  const lines = text.split('\n');
  const skip = skippedLines(lines);
  return lines.flatMap((line, at): Edit[] => {
    const put = skip.has(at) ? null : faultOfLine(line);
    return put === null ? [] : [{ from: starts[at]!, to: starts[at]! + line.length, put, rank: 0 }];
  });
}

function applied(text: string, { from, to, put }: Edit, lineStart: number): Pick<LineFault, 'text' | 'what'> {
  const after = `${text.slice(0, from)}${put}${text.slice(to)}`;
  const shown = (whole: string): string => {
    const line = whole.slice(lineStart).split('\n', 1)[0]!.trim();
    return line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line;
  };
  const became = shown(after);
  const what = /^(?:;|pass)?$/.test(became) ? `\`${shown(text)}\` left out` : `\`${shown(text)}\` became \`${became}\``;
  return { text: after, what };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/** From 1. */
function lineOf(starts: readonly number[], at: number): number {
  let [low, high] = [0, starts.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (starts[middle]! <= at) low = middle;
    else high = middle;
  }
  return low + 1;
}
