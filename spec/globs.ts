/**
 * Globs: one meaning of them for scope, fan-out and overlap.
 *
 * `*` and `?` stay inside a path component, `**` as a whole component spans any number of them, `{a,b}` alternates, `[abc]`
 * matches as a class and literally (routers name files `[id].tsx`), `[^a]` and `[a-z]` as a class only. A backslash takes the
 * meaning from the next character (see escapeGlob); in a user's spec it may only stand before a bracket or brace, anything else
 * is a Windows path.
 * Everything else is literal, parentheses, `!` and `+` included. Dot files match like any others.
 *
 * Invariant: a newline in a path hides it from no glob.
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
