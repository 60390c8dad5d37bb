/**
 * What others may use of a Python module: functions, classes with their methods, constants, types; with decorators, without bodies. Names
 * that begin with one underscore are left out unless `__all__` names them. Pure.
 */
import type { SyntaxNode } from '@lezer/common';
import { parser } from '@lezer/python';
import { child, children, firstLine, textOf } from './syntax.ts';

export function pythonSignatures(text: string): string {
  const top = parser.parse(text).topNode;
  const all = /^__all__\s*\+?=\s*[[(]([^\])]*)/m.exec(text)?.[1] ?? '';
  const named = new Set([...all.matchAll(/["']([^"']+)["']/g)].map(([, name]) => name!));
  const out: string[] = [];
  visit(top, text, '', named, out);
  return out.join('\n');
}

/** What stands in a branch of the module is there for others too. */
const BRANCHES = new Set(['IfStatement', 'TryStatement', 'WithStatement', 'Body']);

function visit(node: SyntaxNode, text: string, indent: string, named: ReadonlySet<string>, out: string[]): void {
  for (const part of children(node)) {
    if (part.name === 'DecoratedStatement') {
      const definition = child(part, 'FunctionDefinition', 'ClassDefinition');
      if (definition === undefined || isHidden(definition, text, named)) continue;
      for (const mark of children(part))
        if (mark.name === 'Decorator') out.push(`${indent}${firstLine(textOf(mark, text))}`);
      define(definition, text, indent, named, out);
    } else if (part.name === 'FunctionDefinition' || part.name === 'ClassDefinition') {
      if (!isHidden(part, text, named)) define(part, text, indent, named, out);
    } else if (part.name === 'AssignStatement' || part.name === 'TypeDefinition') {
      const line = firstLine(textOf(part, text));
      const name = /^(?:type\s+)?(\w+)/.exec(line)?.[1] ?? '';
      if (name === '__all__') continue;
      if (named.has(name) || /^[A-Z]/.test(name) || (/^\w+\s*:/.test(line) && !name.startsWith('_')))
        out.push(`${indent}${line}`);
    } else if (BRANCHES.has(part.name)) visit(part, text, indent, named, out);
  }
}

function isHidden(definition: SyntaxNode, text: string, named: ReadonlySet<string>): boolean {
  const name = child(definition, 'VariableName');
  if (name === undefined) return true;
  const own = textOf(name, text);
  return !named.has(own) && /^_(?!_.*__$)/.test(own);
}

function define(node: SyntaxNode, text: string, indent: string, named: ReadonlySet<string>, out: string[]): void {
  const body = child(node, 'Body');
  const head = text.slice(node.from, body?.from ?? node.to).trimEnd();
  if (node.name === 'FunctionDefinition') {
    out.push(`${indent}${head}: ...`);
    return;
  }
  const before = out.push(`${indent}${head}:`);
  if (body !== undefined) visit(body, text, `${indent}    `, named, out);
  if (out.length === before) out[before - 1] += ' ...';
}
