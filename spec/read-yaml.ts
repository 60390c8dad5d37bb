/** YAML to data, with the line of every field. JSON is read here too, for its lines. */
import { isCollection, isNode, LineCounter, parseDocument, type Document } from 'yaml';
import type { Problem } from './model.ts';
import { pathParts } from './problems.ts';

export interface ReadSpec {
  readonly raw: unknown;
  readonly problems: Problem[];
  /** Line (from 1) of a field by its JSON path, or of the nearest field around it; null: not known. */
  readonly lineOf: (path: string) => number | null;
}

/** YAML. `offset`: lines before the text in its file (front matter). */
export function readYaml(text: string, offset = 0): ReadSpec {
  const counter = new LineCounter();
  const doc = parseDocument(text, { lineCounter: counter, uniqueKeys: true, prettyErrors: false, strict: true });
  const problems: Problem[] = doc.errors.map((error) => ({
    path: '',
    message: yamlMessage(error.code, error.message),
    line: counter.linePos(error.pos[0]).line + offset,
  }));
  let raw: unknown = null;
  if (!doc.errors.some((error) => error.code !== 'DUPLICATE_KEY')) {
    try {
      raw = doc.toJS({ maxAliasCount: 1000 });
    } catch {
      problems.push({ path: '', message: 'YAML aliases expand to too much, or name no anchor' });
    }
  }
  return { raw, problems, lineOf: (path) => lineInYaml(doc, counter, path, offset) };
}

/** Messages for the mistakes that people make; the rest in the library's words. */
function yamlMessage(code: string, message: string): string {
  if (code === 'DUPLICATE_KEY') return 'a field is given twice';
  if (code === 'TAB_AS_INDENT') return 'YAML indents with blanks; here is a tab';
  if (code === 'MULTIPLE_DOCS') return 'the file holds several YAML documents; a spec is one';
  return `is not valid YAML: ${message.split('\n')[0] ?? ''}`;
}

function lineInYaml(doc: Document.Parsed, counter: LineCounter, path: string, offset: number): number | null {
  const parts = pathParts(path);
  let node: unknown = doc.contents;
  let line: number | null = null;
  for (const part of parts) {
    if (!isCollection(node)) break;
    const pair = (node.items as unknown[]).find((item) => isPair(item) && String(keyOf(item)) === String(part));
    const key = pair === undefined ? undefined : (pair as { key: unknown }).key;
    const next: unknown = node.get(part, true);
    const at = isNode(key) ? key.range : isNode(next) ? next.range : null;
    if (at === null || at === undefined) break;
    line = counter.linePos(at[0]).line + offset;
    node = next;
  }
  return line;
}

function isPair(item: unknown): boolean {
  return typeof item === 'object' && item !== null && 'key' in item;
}

function keyOf(item: unknown): unknown {
  const key = (item as { key: unknown }).key;
  return isNode(key) ? (key as { value?: unknown }).value : key;
}
