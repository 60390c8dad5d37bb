/**
 * The JSON object in what a model said. Pure.
 *
 * The last fenced block that holds an object; without one the last object that stands anywhere in the text. Looked at are the last
 * MAX_LOOKED characters.
 */

const MAX_LOOKED = 2_000_000;
/** Characters that are given to the parser in all: nested braces that are no JSON would take time quadratic in their number. */
const MAX_PARSED = 20_000_000;

export type Found = { readonly ok: true; readonly value: object } | { readonly ok: false; readonly why: string };

export function jsonOf(text: string): Found {
  const looked = text.slice(-MAX_LOOKED);
  const blocks = fencedBlocks(looked);
  for (const block of blocks.toReversed()) {
    const value = parsed(block.text);
    if (isObject(value)) return { ok: true, value };
  }
  const bare = lastObject(looked);
  if (bare !== null) return { ok: true, value: bare };
  const broken = blocks.findLast(
    ({ language, text: content }) => language === 'json' || content.trimStart().startsWith('{'),
  );
  if (broken !== undefined)
    return { ok: false, why: `the JSON in the last fenced block cannot be parsed: ${reason(broken.text)}` };
  const at = looked.indexOf('{');
  return {
    ok: false,
    why:
      at < 0
        ? 'there is no JSON object in the answer; end it with one, in a block fenced by ```json'
        : `there is no complete JSON object in the answer (${reason(looked.slice(at))}); end it with one, in a block fenced by \`\`\`json`,
  };
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function reason(text: string): string {
  try {
    JSON.parse(text);
    return 'it is no object';
  } catch (error) {
    return (error as Error).message.slice(0, 200);
  }
}

/** Blocks between fences, as Markdown reads them: closed by as many of the same character, or by the text's end. */
export function fencedBlocks(text: string): { language: string; text: string }[] {
  const blocks: { language: string; text: string }[] = [];
  let open: { fence: string; language: string; lines: string[] } | null = null;
  for (const line of text.split(/\r?\n/)) {
    const mark = /^ {0,3}(`{3,}|~{3,})\s*([^`]*)$/.exec(line);
    if (open === null) {
      if (mark !== null) open = { fence: mark[1]!, language: mark[2]!.trim().toLowerCase(), lines: [] };
    } else if (mark !== null && mark[2]!.trim() === '' && mark[1]!.startsWith(open.fence)) {
      blocks.push({ language: open.language, text: open.lines.join('\n') });
      open = null;
    } else open.lines.push(line);
  }
  if (open !== null) blocks.push({ language: open.language, text: open.lines.join('\n') });
  return blocks;
}

/** The last object of the text that is part of no other. */
function lastObject(text: string): object | null {
  let work = MAX_PARSED;
  // What closes last comes first, and so an object before those inside it.
  for (const [from, to] of braces(text).toReversed()) {
    work -= to - from;
    if (work < 0) return null;
    const value = parsed(text.slice(from, to));
    if (isObject(value)) return value;
  }
  return null;
}

/** Pairs of braces that belong together, by where they close; those in strings are none. In one pass. */
function braces(text: string): [number, number][] {
  const pairs: [number, number][] = [];
  const open: number[] = [];
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === '{') open.push(i);
    else if (c === '}') {
      const from = open.pop();
      if (from !== undefined) pairs.push([from, i + 1]);
    } else if (c === '"' && open.length > 0) {
      // A string of JSON ends on its line; what does not is prose.
      for (i++; i < text.length && text[i] !== '"' && text[i] !== '\n'; i++) if (text[i] === '\\') i++;
    }
  }
  return pairs;
}
