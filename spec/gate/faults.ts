/**
 * Faults for the proof that the gate can fail: a small change of meaning that keeps the syntax where the language is known, else a line
 * that no parser of anything accepts.
 */

/** Comparison, logic and literals that the curly-brace languages, Python and Ruby share. The first rule that fits anywhere wins. */
const CODE = /\.(?:[cm]?[jt]sx?|py|rb|go|rs|java|kt|swift|cs|php|c|cc|cpp|h|hpp|scala|dart)$/;
const RULES: readonly { readonly what: string; readonly find: RegExp; readonly put: string }[] = [
  { what: 'returned booleans turned round', find: /\breturn true\b/g, put: 'return false' },
  { what: 'returned booleans turned round', find: /\breturn false\b/g, put: 'return true' },
  { what: 'equalities turned round', find: / === /g, put: ' !== ' },
  { what: 'equalities turned round', find: / !== /g, put: ' === ' },
  { what: 'equalities turned round', find: / == /g, put: ' != ' },
  { what: 'returned numbers changed', find: /\breturn (\d+)\b/g, put: 'return 1$1' },
  { what: 'comparisons turned round', find: / (?:<=|<) (?=[\w(])/g, put: ' > ' },
  { what: 'returned texts changed', find: /\breturn (["'`])/g, put: 'return $1planted fault ' },
  { what: 'arithmetic changed', find: / \+ (?=[\w(])/g, put: ' - ' },
  { what: 'arithmetic changed', find: / \* (?=[\w(])/g, put: ' + ' },
  { what: 'texts changed', find: /([:=(,] ?)(["'`])(?=[A-Za-z])(?![^"'`\n]*\bfrom\b)/g, put: '$1$2planted fault ' },
];
/** Not valid in any language or data format that a gate would parse. */
const GARBAGE = '\n)]} planted fault <<<<<<< \u0001\n';

export interface Fault {
  readonly text: string;
  /** What was done, for a person. */
  readonly what: string;
}

/** Can a fault of meaning be planted here? Files of other kinds come last in a sample: nothing may read them at all. */
export function isCode(path: string): boolean {
  return CODE.test(path);
}

/**
 * All places that the first fitting rule finds are changed together: one such place may be dead or equivalent, all of them are not.
 * Lines that import, re-export or comment are left alone.
 */
export function plantFault(path: string, text: string): Fault {
  if (!isCode(path)) return { text: text + GARBAGE, what: 'a line that is no syntax appended' };
  const lines = text.split('\n');
  const skip = skippedLines(lines);
  for (const rule of RULES) {
    const changed = lines.map((line, at) => (skip.has(at) ? line : line.replace(rule.find, rule.put)));
    if (changed.some((line, at) => line !== lines[at])) return { text: changed.join('\n'), what: rule.what };
  }
  return { text: text + GARBAGE, what: 'a line that is no syntax appended' };
}

/** One line with the first place that the first fitting rule finds changed; null: none fits. */
export function faultOfLine(line: string): string | null {
  for (const { find, put } of RULES.slice(0, -1)) {
    const changed = line.replace(new RegExp(find.source), put);
    if (changed !== line) return changed;
  }
  return null;
}

/** Lines (from 0) that import, re-export or comment. */
export function skippedLines(lines: readonly string[]): ReadonlySet<number> {
  const skip = new Set<number>();
  let inComment = false;
  lines.forEach((line, at) => {
    const start = line.trimStart();
    if (
      inComment ||
      /^(?:\/\/|#|\*|\/\*|import\b|export (?:type|interface|\*|\{)|type\b|interface\b|from\b|use\b|package\b)/.test(
        start,
      )
    )
      skip.add(at);
    if (start.startsWith('/*') && !start.includes('*/')) inComment = true;
    else if (inComment && start.includes('*/')) inComment = false;
  });
  return skip;
}

/**
 * At most `size` paths, code before anything else, spread over the sorted list so that neighbours are not all from one folder.
 * The same input gives the same sample.
 */
export function sampleFiles(paths: readonly string[], size: number): string[] {
  const code = paths.filter(isCode).toSorted();
  const from = code.length > 0 ? code : paths.toSorted();
  if (from.length <= size) return from;
  return Array.from({ length: size }, (_, at) => from[Math.floor(((at + 0.5) * from.length) / size)] as string);
}
