/**
 * What others may call of a source file: its exported declarations without their bodies, by a real parser (Lezer: error-tolerant, plain
 * JavaScript). Pure. Of other languages the head of the text.
 */
import type { SyntaxNode, Tree } from '@lezer/common';
import { parser as javascript } from '@lezer/javascript';
import { parser as python } from '@lezer/python';

const HEAD_LINES = 40;

export function signaturesOf(path: string, text: string): string {
  const extension = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? '';
  if (['ts', 'mts', 'cts', 'tsx', 'js', 'mjs', 'cjs', 'jsx'].includes(extension)) {
    const dialect = extension.endsWith('x') ? 'ts jsx' : extension.includes('t') ? 'ts' : 'jsx';
    return typescriptSignatures(javascript.configure({ dialect }).parse(text), text);
  }
  if (extension === 'py' || extension === 'pyi') return pythonSignatures(python.parse(text), text);
  const lines = text.split('\n');
  return lines.length <= HEAD_LINES
    ? text
    : `${lines.slice(0, HEAD_LINES).join('\n')}\n… (${lines.length - HEAD_LINES} more lines)`;
}

const children = (node: SyntaxNode): SyntaxNode[] => {
  const all: SyntaxNode[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) all.push(child);
  return all;
};
/** A node's text without the nodes of these kinds in it, which are replaced. */
function without(node: SyntaxNode, text: string, bodies: ReadonlySet<string>, replacement: string): string {
  let out = '';
  let at = node.from;
  const visit = (current: SyntaxNode): void => {
    for (const child of children(current)) {
      if (bodies.has(child.name)) {
        out += text.slice(at, child.from).trimEnd() + replacement;
        at = child.to;
      } else visit(child);
    }
  };
  visit(node);
  return (out + text.slice(at, node.to)).trim();
}

const DECLARED_TYPES = new Set(['InterfaceDeclaration', 'TypeAliasDeclaration', 'EnumDeclaration']);

function typescriptSignatures(tree: Tree, text: string): string {
  const out: string[] = [];
  for (const node of children(tree.topNode)) {
    if (node.name !== 'ExportDeclaration') continue;
    const declared = children(node).find((child) => /Declaration$|Function|Class/.test(child.name));
    if (declared === undefined || DECLARED_TYPES.has(declared.name)) out.push(text.slice(node.from, node.to));
    else if (declared.name === 'VariableDeclaration') out.push(`export ${variable(declared, text)}`);
    else if (declared.name === 'ClassDeclaration') out.push(classOf(node, text));
    else out.push(without(node, text, new Set(['Block']), ';'));
  }
  return out.join('\n');
}

/** `const name: Type`; a function's parameters and result; of any other value its first line. */
function variable(node: SyntaxNode, text: string): string {
  const arrow = children(node).find(({ name }) => name === 'ArrowFunction' || name === 'FunctionExpression');
  if (arrow === undefined) {
    const annotated = children(node).find(({ name }) => name === 'TypeAnnotation');
    if (annotated !== undefined) return `${text.slice(node.from, annotated.to)};`;
    const [first = '', ...rest] = text.slice(node.from, node.to).split('\n');
    return rest.length === 0 ? first : `${first} …`;
  }
  const mark = children(arrow).find(({ name }) => name === 'Arrow');
  return `${text.slice(node.from, mark?.from ?? arrow.to).trimEnd()} => …;`;
}

function classOf(node: SyntaxNode, text: string): string {
  const isPrivate = (member: SyntaxNode): boolean =>
    children(member).some(
      ({ name, from, to }) =>
        name === 'PrivatePropertyDefinition' || (name === 'Privacy' && text.slice(from, to) === 'private'),
    );
  let out = '';
  let at = node.from;
  const cursor = node.cursor();
  const hidden: { from: number; to: number; with: string }[] = [];
  do {
    const { name } = cursor;
    if (name === 'MethodDeclaration' || name === 'PropertyDeclaration') {
      if (isPrivate(cursor.node)) hidden.push({ from: cursor.from, to: cursor.to, with: '' });
    }
    if (name === 'Block') hidden.push({ from: cursor.from, to: cursor.to, with: ';' });
  } while (cursor.next() && cursor.from < node.to);
  for (const gap of hidden) {
    if (gap.from < at) continue;
    out += text.slice(at, gap.from).trimEnd() + gap.with;
    at = gap.to;
  }
  return (out + text.slice(at, node.to)).replace(/\n\s*\n+/g, '\n').trim();
}

function pythonSignatures(tree: Tree, text: string): string {
  const out: string[] = [];
  const visit = (node: SyntaxNode, indent: string): void => {
    for (const child of children(node)) {
      if (child.name === 'DecoratedStatement') {
        visit(child, indent);
        continue;
      }
      if (child.name === 'FunctionDefinition' || child.name === 'ClassDefinition') {
        const body = children(child).find(({ name }) => name === 'Body');
        const name = children(child).find((part) => part.name === 'VariableName');
        const isPrivate = name !== undefined && /^_(?!_)/.test(text.slice(name.from, name.to));
        if (isPrivate) continue;
        const head = text.slice(child.from, body?.from ?? child.to).trimEnd();
        out.push(`${indent}${head}:${child.name === 'FunctionDefinition' ? ' ...' : ''}`);
        if (child.name === 'ClassDefinition' && body !== undefined) visit(body, `${indent}    `);
      } else if (child.name === 'AssignStatement') {
        const line = text.slice(child.from, child.to).split('\n')[0]!;
        if (/^[A-Z][A-Z0-9_]*\b|^\w+\s*:/.test(line)) out.push(`${indent}${line}`);
      }
    }
  };
  visit(tree.topNode, '');
  return out.join('\n');
}
