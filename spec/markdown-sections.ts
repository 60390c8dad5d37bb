/** Headings, lists and code of a Markdown spec, as text taken verbatim from the source. */
import { fromMarkdown } from 'mdast-util-from-markdown';

export type Node = ReturnType<typeof fromMarkdown>['children'][number];
export interface Section {
  readonly title: string;
  readonly depth: number;
  readonly line: number;
  readonly nodes: Node[];
}

/** Headings of the outermost level with what follows each; the first section (depth 0) is what stands before any. */
export function split(body: string): Section[] {
  const sections: Section[] = [{ title: '', depth: 0, line: 1, nodes: [] }];
  for (const node of fromMarkdown(body).children) {
    const line = node.position?.start.line ?? 1;
    if (node.type === 'heading') {
      const title = slice(body, node.children);
      sections.push({ title: title.trim(), depth: node.depth, line, nodes: [] });
    } else {
      const section = sections.at(-1) as Section;
      if (section.depth === 0 && section.nodes.length === 0) sections[0] = { ...section, line, nodes: [node] };
      else section.nodes.push(node);
    }
  }
  return sections;
}

export function taskId(title: string): string | null {
  const match = /^task\s*(?::\s*|\s)(\S.*)$/i.exec(title);
  return match === null ? null : unquoted(match[1] as string);
}

/** The source between the first and the last node, verbatim. */
export function slice(body: string, nodes: readonly Node[]): string {
  const start = nodes[0]?.position?.start.offset;
  const end = nodes.at(-1)?.position?.end.offset;
  return start === undefined || end === undefined ? '' : body.slice(start, end).trim();
}

/** The items of the section's lists, or null when it holds anything else. */
export function listItems(body: string, section: Section): { text: string; line: number }[] | null {
  const items: { text: string; line: number }[] = [];
  for (const node of section.nodes) {
    if (node.type !== 'list') return null;
    for (const item of node.children) {
      const text = slice(body, item.children).replace(/\s*\n\s*/g, ' ');
      items.push({ text, line: item.position?.start.line ?? section.line });
    }
  }
  return items;
}

/** Code spans of an item where there are any ("`src/a.ts`, the service"), else the whole of it. */
export function globsIn(text: string): string[] {
  const spans = [...text.matchAll(/`([^`]+)`/g)].map((match) => (match[1] as string).trim());
  return spans.length > 0 ? spans : [text];
}

export function unquoted(text: string): string {
  return text
    .trim()
    .replace(/^`+|`+$/g, '')
    .trim();
}

/** `node tools/x.mjs` or `["node", "tools/x.mjs"]`; null for a list, or where only a shell could tell the arguments apart. */
export function argvOf(text: string): string[] | null {
  const plain = text.replace(/^```\w*\n|\n```$/g, '').replace(/^`|`$/g, '');
  if (plain.startsWith('[')) {
    try {
      return JSON.parse(plain) as string[];
    } catch {
      return null;
    }
  }
  return /^[-*+\d]\s|["'\\$\n]/.test(plain) || plain === '' ? null : plain.split(/\s+/);
}
