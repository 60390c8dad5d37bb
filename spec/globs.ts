/**
 * Globs: one meaning of them for scope, fan-out and overlap.
 *
 * `*` and `?` stay inside a path component, `**` as a whole component spans any number of them, `{a,b}` alternates, `[abc]`
 * matches as a class and literally (routers name files `[id].tsx`), `[^a]` and `[a-z]` as a class only. A backslash takes the
 * meaning from the next character (see escapeGlob); in a user's spec it may only stand before a bracket or brace, anything else
 * is a Windows path.
 * Everything else is literal, parentheses, `!` and `+` included. Dot files match like any others.
 *
 * Invariants
 * 1. A path that is matched by both of two globs makes globsIntersect true (never the other way round: it may say true for two
 *    globs that share no path).
 * 2. A newline in a path hides it from no glob.
 */
import picomatch from 'picomatch/posix.js';

const OPTIONS = {
  dot: true,
  nonegate: true,
  noextglob: true,
  nobrace: true,
  strictSlashes: true,
  flags: 's',
} as const;

/** More alternatives than this in one glob are refused by globProblem. */
export const MAX_BRACE_ALTERNATIVES = 256;

/** Bounds on what matching one path can cost. */
const MAX_GLOB_LENGTH = 1000;
const MAX_WILDCARDS = 4;

/** The path as a glob that matches it and nothing else. */
export function escapeGlob(path: string): string {
  return path.replace(/[\\*?[\]{}]/g, (c) => `\\${c}`);
}

/** true: the glob has no wildcard and names one path. */
export function isLiteral(glob: string): boolean {
  return !/[*?[\]{}]/.test(glob.replace(/\\./gs, ''));
}

/** The path that a literal glob names. */
export function unescapeGlob(glob: string): string {
  return glob.replace(/\\(.)/gs, '$1');
}

/** Splits at the commas of the outermost level of a brace's content. */
function alternatives(content: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i < content.length; i++) {
    const c = content[i];
    if (c === '\\') i++;
    else if (c === '{') depth++;
    else if (c === '}') depth--;
    else if (c === ',' && depth === 0) {
      parts.push(content.slice(start, i));
      start = i + 1;
    }
  }
  parts.push(content.slice(start));
  return parts;
}

/** The glob without braces, once per alternative. A brace without a comma, or without its partner, is literal. */
export function expandBraces(glob: string, limit = MAX_BRACE_ALTERNATIVES): string[] {
  for (let i = 0; i < glob.length; i++) {
    if (glob[i] === '\\') {
      i++;
      continue;
    }
    if (glob[i] !== '{') continue;
    let depth = 0;
    for (let j = i; j < glob.length; j++) {
      const c = glob[j];
      if (c === '\\') j++;
      else if (c === '{') depth++;
      else if (c === '}' && --depth === 0) {
        const parts = alternatives(glob.slice(i + 1, j));
        if (parts.length < 2) break;
        const out: string[] = [];
        for (const part of parts) {
          for (const whole of expandBraces(glob.slice(0, i) + part + glob.slice(j + 1), limit)) {
            if (out.length <= limit) out.push(whole);
          }
        }
        return out;
      }
    }
  }
  return [glob];
}

const matchers = new Map<string, (path: string) => boolean>();

/** Escapes what picomatch would read as more than our grammar. */
function forPicomatch(alternative: string): string {
  let out = '';
  for (let i = 0; i < alternative.length; i++) {
    const c = alternative[i] as string;
    if (c === '\\') out += c + (alternative[++i] ?? '');
    else if (c === '[') {
      const end = alternative.indexOf(']', i + 2);
      const content = end < 0 ? '' : alternative.slice(i + 1, end);
      if (end > 0 && !/[.[\]/]/.test(content)) {
        out += `[${content}]`;
        i = end;
      } else out += '\\[';
    } else if ('(){}|+@!]'.includes(c)) out += `\\${c}`;
    else out += c;
  }
  return out;
}

/** A test for one glob. Cached: the same glob stands in many tasks. */
export function globMatcher(glob: string): (path: string) => boolean {
  let matcher = matchers.get(glob);
  if (matcher === undefined) {
    if (isLiteral(glob)) {
      const literal = unescapeGlob(glob);
      matcher = (path) => path === literal;
    } else {
      const tests = expandBraces(glob).map((one) => picomatch.makeRe(forPicomatch(one), OPTIONS));
      matcher = (path) => tests.some((test) => test.test(path));
    }
    if (matchers.size > 50_000) matchers.clear();
    matchers.set(glob, matcher);
  }
  return matcher;
}

/** A test for a list of globs: true when any of them matches. */
export function anyGlob(globs: readonly string[]): (path: string) => boolean {
  const literals = new Set<string>();
  const rest: ((path: string) => boolean)[] = [];
  for (const glob of globs) {
    if (isLiteral(glob)) literals.add(unescapeGlob(glob));
    else rest.push(globMatcher(glob));
  }
  return (path) => literals.has(path) || rest.some((matches) => matches(path));
}

/** Why a glob of a spec cannot be used, or null. Globs are relative to the root of the repository and stay inside it. */
export function globProblem(glob: string): string | null {
  if (glob.trim() === '') return 'is empty; name a file or write a glob such as "src/**"';
  if (glob.includes('\0')) return 'contains a NUL character';
  if (/\\(?![[\]{}])/.test(glob))
    return `contains a backslash; paths in a spec use "/", also for Windows: "${glob.replaceAll('\\', '/')}"`;
  if (glob.startsWith('/') || /^[A-Za-z]:/.test(glob))
    return `"${glob}" is absolute; globs are relative to the root of the repository`;
  if (glob.startsWith('!')) return `"${glob}" is a negation; put the glob without "!" under "forbid" (or "except")`;
  if (glob.startsWith('~')) return `"${glob}" starts with "~"; globs are relative to the root of the repository`;
  if (glob.length > MAX_GLOB_LENGTH) return `is ${glob.length} characters long; ${MAX_GLOB_LENGTH} are allowed`;
  const all = expandBraces(glob);
  if (all.length > MAX_BRACE_ALTERNATIVES) {
    return `"${glob}" has more than ${MAX_BRACE_ALTERNATIVES} alternatives in braces; use "*" or several globs`;
  }
  for (const one of all) {
    const parts = one.split('/');
    if (parts.includes('..')) return `"${glob}" leaves the repository through ".."`;
    if (parts.includes('.') || one.startsWith('./'))
      return `"${glob}" contains the component "."; write "${glob.replace(/(^|\/)(\.\/)+/g, '$1')}"`;
    if (one.endsWith('/')) return `"${glob}" ends with "/"; for everything below a directory write "${glob}**"`;
    if (parts.includes('')) return `"${glob}" contains an empty component ("//")`;
    if (parts.some((part) => part !== '**' && part.includes('**'))) {
      return `"${glob}" has "**" beside other characters; it spans directories only as a whole component, as in "src/**/*.ts"`;
    }
    if (
      parts.filter((part) => part === '**').length > MAX_WILDCARDS ||
      parts.some((part) => part.split('*').length - 1 > MAX_WILDCARDS)
    ) {
      return `"${glob}" has more than ${MAX_WILDCARDS} "**", or more than ${MAX_WILDCARDS} "*" in one component; several simpler globs say the same`;
    }
    if (parts.some((part) => part.toLowerCase() === '.git')) return `"${glob}" reaches into .git`;
  }
  if (/\{\s*-?\w+\.\.-?\w+\s*\}/.test(glob)) return `"${glob}" has a range in braces; name the alternatives: "{1,2,3}"`;
  if (/\[!/.test(glob)) return `"${glob}" has "[!…]"; write "[^…]"`;
  return null;
}

// ───────────────────────────── intersection ─────────────────────────────

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
