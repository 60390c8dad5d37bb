/** What walks over Lezer's trees share. Pure. */
import type { SyntaxNode } from '@lezer/common';

export const children = (node: SyntaxNode): SyntaxNode[] => {
  const all: SyntaxNode[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) all.push(child);
  return all;
};

export const child = (node: SyntaxNode, ...names: readonly string[]): SyntaxNode | undefined =>
  children(node).find(({ name }) => names.includes(name));

export const textOf = (node: { from: number; to: number }, text: string): string => text.slice(node.from, node.to);

/** Whether the parser had to guess anywhere in it. */
export function hasError(node: SyntaxNode): boolean {
  const cursor = node.cursor();
  do if (cursor.type.isError) return true;
  while (cursor.next() && cursor.from < node.to);
  return false;
}

/** The first line, and a mark where there are more. */
export function firstLine(text: string, most = 200): string {
  const [first = '', ...rest] = text.trim().split('\n');
  return rest.length === 0 && first.length <= most ? first : `${first.slice(0, most).trimEnd()} …`;
}
