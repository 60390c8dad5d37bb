/** A log cut to what explains a failure. Pure. */

const FAILURE =
  /\b(?:error|fail(?:ed|ure|s)?|fatal|panic|exception|traceback|expected|received|assert\w*|undefined|cannot|not found|denied)\b|✗|✕|×|●|^\s*at |:\d+:\d+|\bE\s{2,}/i;
/** Lines kept on either side of one that looks like a failure. */
const AROUND = 3;
/** Characters of a line: one that is longer (a bundle, a dump) keeps its beginning and its end. */
const LINE = 1_000;

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

/**
 * At most `most` bytes of the log: lines around those that look like failures, the first of them first, and its end. What is left out is
 * marked with its number of lines.
 */
export function trimAroundFailures(log: string, most: number): string {
  if (bytesOf(log) <= most) return log;
  const lines = log.split('\n').map((line) => shortened(line, Math.min(LINE, Math.floor(most / 4))));
  const keep = new Set<number>();
  /** Room for the marks of what is left out. */
  let left = most - 200;
  const take = (index: number): boolean => {
    if (index < 0 || index >= lines.length || keep.has(index)) return true;
    const cost = bytesOf(lines[index]!) + 1;
    if (cost > left) return false;
    left -= cost;
    keep.add(index);
    return true;
  };
  // A third for the end, where summaries stand; the rest for failures from the top, since later ones often follow from the first.
  const reserved = Math.floor((left * 2) / 3);
  left -= reserved;
  for (let index = lines.length - 1; index >= 0 && take(index); index--);
  left += reserved;
  for (const [index, line] of lines.entries()) {
    if (!FAILURE.test(line)) continue;
    for (let near = index - AROUND; near <= index + AROUND; near++) if (!take(near)) break;
  }
  return joined(lines, keep, most);
}

function shortened(line: string, most: number): string {
  if (line.length <= most) return line;
  const tail = Math.floor(most / 4);
  return `${line.slice(0, most - tail)} … (${line.length - most} characters left out) … ${line.slice(line.length - tail)}`;
}

function joined(lines: readonly string[], keep: ReadonlySet<number>, most: number): string {
  const out: string[] = [];
  let skipped = 0;
  for (const [index, line] of lines.entries()) {
    if (!keep.has(index)) {
      skipped += 1;
      continue;
    }
    if (skipped > 0) out.push(`… (${skipped} lines left out)`);
    skipped = 0;
    out.push(line);
  }
  if (skipped > 0) out.push(`… (${skipped} lines left out)`);
  const text = out.join('\n');
  if (bytesOf(text) <= most) return text;
  // Marks without number, where there were very many of them.
  const short = out.map((line) => (line.startsWith('… (') ? '…' : line)).join('\n');
  return bytesOf(short) <= most ? short : cutTo(short, most);
}

/** The end of a text in at most so many bytes, on a character's border. */
export function cutTo(text: string, most: number): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= most) return text;
  if (most <= 4) return '';
  let from = bytes.length - (most - 4);
  while (from < bytes.length && ((bytes[from] ?? 0) & 0xc0) === 0x80) from += 1;
  return `…${new TextDecoder().decode(bytes.slice(from))}`;
}
