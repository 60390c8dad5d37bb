/**
 * Whether two globs can share a path, without looking at paths.
 *
 * Invariant: a path that both of two globs match makes globsIntersect true. The other way round it may err: a bracket counts as
 * any characters.
 */
import { expandBraces, globMatcher, isLiteral, unescapeGlob } from './globs.ts';

/** A component as tokens: a character, ONE (`?`) or MANY (`*`; a bracket counts as MANY, which can only err towards true). */
const ONE = 1;
const MANY = 2;
type Token = string | typeof ONE | typeof MANY;

function tokens(component: string): Token[] {
  const out: Token[] = [];
  for (let i = 0; i < component.length; i++) {
    const c = component[i] as string;
    if (c === '\\') out.push(component[++i] ?? '\\');
    else if (c === '*') out.push(MANY);
    else if (c === '?') out.push(ONE);
    else if (c === '[') {
      const end = component.indexOf(']', i + 2);
      if (end < 0) out.push(c);
      else {
        out.push(MANY);
        i = end;
      }
    } else out.push(c);
  }
  return out;
}

function meet<T>(a: readonly T[], b: readonly T[], many: (t: T) => boolean, same: (x: T, y: T) => boolean): boolean {
  const seen = new Set<number>();
  const stack: [number, number][] = [[0, 0]];
  while (stack.length > 0) {
    const [i, j] = stack.pop() as [number, number];
    if (i === a.length && j === b.length) return true;
    const key = i * (b.length + 1) + j;
    if (seen.has(key)) continue;
    seen.add(key);
    const x = a[i];
    const y = b[j];
    if (x !== undefined && many(x)) {
      stack.push([i + 1, j]);
      if (y !== undefined) stack.push([i, j + 1]);
    }
    if (y !== undefined && many(y)) {
      stack.push([i, j + 1]);
      if (x !== undefined) stack.push([i + 1, j]);
    }
    if (x !== undefined && y !== undefined && !many(x) && !many(y) && same(x, y)) stack.push([i + 1, j + 1]);
  }
  return false;
}

/** A glob taken apart once: every alternative as components, each component as tokens; null stands for `**`. */
type Parsed = readonly (readonly (readonly Token[] | null)[])[];
const parsed = new Map<string, Parsed>();

function parse(glob: string): Parsed {
  let known = parsed.get(glob);
  if (known === undefined) {
    known = expandBraces(glob).map((one) => one.split('/').map((part) => (part === '**' ? null : tokens(part))));
    if (parsed.size > 50_000) parsed.clear();
    parsed.set(glob, known);
  }
  return known;
}

const componentsMeet = (a: readonly Token[] | null, b: readonly Token[] | null): boolean => {
  if (a === null || b === null) return true;
  // Most components differ in their first or last character.
  for (const at of [0, -1]) {
    const [x, y] = [a.at(at), b.at(at)];
    if (typeof x === 'string' && typeof y === 'string' && x !== y) return false;
  }
  return meet<Token>(
    a,
    b,
    (t) => t === MANY,
    (x, y) => x === y || x === ONE || y === ONE,
  );
};

/** Could one path match both globs? Conservative: says true when unsure (brackets), never false when a common path exists. */
export function globsIntersect(a: string, b: string): boolean {
  if (a === b) return true;
  if (isLiteral(a)) return isLiteral(b) ? unescapeGlob(a) === unescapeGlob(b) : globMatcher(b)(unescapeGlob(a));
  if (isLiteral(b)) return globMatcher(a)(unescapeGlob(b));
  const right = parse(b);
  return parse(a).some((x) =>
    right.some(
      (y) =>
        componentsMeet(x[0] ?? null, y[0] ?? null) &&
        componentsMeet(x.at(-1) ?? null, y.at(-1) ?? null) &&
        meet(x, y, (part) => part === null, componentsMeet),
    ),
  );
}

/** The characters before the first wildcard: every path that the glob matches starts with them. */
export function literalPrefix(glob: string): string {
  let out = '';
  for (let i = 0; i < glob.length; i++) {
    const c = glob[i] as string;
    if ('*?[{'.includes(c)) break;
    out += c === '\\' ? (glob[++i] ?? '') : c;
  }
  return out;
}

/** The characters after the last wildcard: every path that the glob matches ends with them ('' when it has braces or brackets). */
export function literalSuffix(glob: string): string {
  if (/[[\]{}\\]/.test(glob)) return '';
  return glob.slice(Math.max(glob.lastIndexOf('*'), glob.lastIndexOf('?')) + 1).replace(/^\//, '');
}
