/**
 * Exported declarations of TypeScript and JavaScript without their bodies: functions, classes with their members, interfaces, types,
 * constants with annotations, namespaces; what is exported by name further down; CommonJS too. Pure.
 *
 * 1. No body and no private member is shown.
 */
import type { SyntaxNode } from '@lezer/common';
import { parser } from '@lezer/javascript';
import { child, children, firstLine, hasError, textOf } from './syntax.ts';

export function javascriptSignatures(extension: string, text: string): string {
  const dialect = extension.endsWith('x') ? 'ts jsx' : extension.includes('t') ? 'ts' : 'jsx';
  const top = parser.configure({ dialect }).parse(text).topNode;
  const named = exportedNames(top, text);
  // Where nothing is imported or exported, what is declared is there for everybody.
  const isModule = child(top, 'ExportDeclaration', 'ImportDeclaration') !== undefined;
  const out: string[] = [];
  for (const node of children(top)) {
    if (node.name === 'ExportDeclaration') out.push(exported(node, text));
    else if (
      node.name === 'AmbientDeclaration' &&
      (!isModule || child(node, 'GlobalDeclaration', 'NamespaceDeclaration'))
    )
      out.push(textOf(node, text));
    else if (node.name === 'ExpressionStatement') out.push(commonJs(node, text));
    else if (!isModule && TYPE.test(node.name)) out.push(textOf(node, text));
    else if (DECLARATION.test(node.name) && namesOf(node, text).some((name) => named.has(name)))
      out.push(declared(node, text));
  }
  return out.filter((one) => one !== '').join('\n');
}

const DECLARATION = /^(?:Function|Class|Variable|Interface|TypeAlias|Enum|Namespace|Ambient)Declaration$/;
const TYPE = /^(?:Interface|TypeAlias|Enum)Declaration$/;
const FUNCTION_OR_CLASS = /^(?:Function|Class)Declaration$/;
const FUNCTION = /^(?:ArrowFunction|FunctionExpression|FunctionDeclaration|MethodDeclaration)$/;

/** Names of the file's own that it exports elsewhere: `export { a }`, `export default a`, `module.exports = { a }`. */
function exportedNames(top: SyntaxNode, text: string): Set<string> {
  const names = new Set<string>();
  const add = (node: SyntaxNode | undefined): void => {
    if (node !== undefined) names.add(textOf(node, text));
  };
  for (const node of children(top)) {
    if (node.name === 'ExportDeclaration') {
      const group = child(node, 'ExportGroup');
      if (group === undefined) add(child(node, 'VariableName'));
      else if (child(node, 'from') === undefined)
        children(group).forEach((part, i, all) => {
          if (part.name === 'VariableName' && all[i - 1]?.name !== 'as') add(part);
        });
    } else if (node.name === 'ExpressionStatement' && isExports(node, text)) {
      const value = assigned(node);
      if (value?.name === 'VariableName') add(value);
      if (value?.name === 'ObjectExpression')
        for (const property of children(value).filter(({ name }) => name === 'Property'))
          add(child(property, 'VariableName') ?? (children(property).length === 1 ? property : undefined));
    }
  }
  return names;
}

const isExports = (node: SyntaxNode, text: string): boolean =>
  /^(?:module\.)?exports(?:\.[\w$]+)?\s*=/.test(textOf(node, text));

const assigned = (node: SyntaxNode): SyntaxNode | undefined => {
  const assignment = child(node, 'AssignmentExpression');
  return assignment === undefined ? undefined : children(assignment).at(-1);
};

function namesOf(node: SyntaxNode, text: string): string[] {
  return children(node)
    .filter(({ name }) => name === 'VariableDefinition' || name === 'TypeDefinition')
    .map((one) => textOf(one, text));
}

function exported(node: SyntaxNode, text: string): string {
  const parts = children(node);
  const inner = parts.find(({ name }) => DECLARATION.test(name));
  const lead = parts.some(({ name }) => name === 'default') ? 'export default ' : 'export ';
  if (inner !== undefined && FUNCTION_OR_CLASS.test(inner.name)) return lead + declared(inner, text);
  if (hasError(node)) return line(node, text);
  if (inner !== undefined) return lead + declared(inner, text);
  const value = parts.findLast(({ name }) => !/^(?:;|export|default)$/.test(name));
  if (lead === 'export ' || value === undefined || /^(?:VariableName|Equals)$/.test(value.name))
    return textOf(node, text);
  return `${lead}${valueOf(value, text)};`;
}

/** Where the parser lost its way: the line as it is written. */
function line(node: SyntaxNode, text: string): string {
  const end = text.indexOf('\n', node.from);
  return firstLine(text.slice(node.from, end < 0 ? text.length : end));
}

function declared(node: SyntaxNode, text: string): string {
  switch (node.name) {
    case 'FunctionDeclaration':
      return `${headOf(node, text).replace(/;$/, '')};`;
    case 'ClassDeclaration':
      return classOf(node, text);
    case 'VariableDeclaration':
      return variables(node, text);
    case 'NamespaceDeclaration': {
      const body = child(node, 'Block');
      const inner = body === undefined ? [] : children(body).filter(({ name }) => name === 'ExportDeclaration');
      const lines = inner.map((one) => `  ${exported(one, text).replaceAll('\n', '\n  ')}\n`).join('');
      return `${text.slice(node.from, body?.from ?? node.to).trimEnd()} {\n${lines}}`;
    }
    default:
      return textOf(node, text);
  }
}

function commonJs(node: SyntaxNode, text: string): string {
  const value = assigned(node);
  if (value === undefined || !isExports(node, text)) return '';
  const left = text.slice(node.from, value.from);
  return `${left}${valueOf(value, text)};`;
}

/** A value as far as it matters to others: parameters and result of a function, a class without bodies, the beginning of others. */
function valueOf(node: SyntaxNode, text: string): string {
  if (FUNCTION.test(node.name)) return `${headOf(node, text)}${node.name === 'ArrowFunction' ? ' …' : ''}`;
  if (node.name === 'ClassExpression') return classOf(node, text);
  if (node.name === 'ObjectExpression') {
    const keys = children(node).flatMap((property) => {
      if (property.name !== 'Property') return [];
      const method = child(property, 'ParamList');
      const key = children(property)[0];
      return key === undefined ? [] : [method === undefined ? textOf(key, text) : text.slice(property.from, method.to)];
    });
    const whole = textOf(node, text);
    return whole.length <= 100 &&
      !whole.includes('\n') &&
      child(node, 'Property') !== undefined &&
      !/=>|\)\s*\{/.test(whole)
      ? whole
      : `{ ${keys.join(', ')} }`;
  }
  // `async <T>(a: T) => …`, which the parser takes for a comparison with an arrow function.
  const arrow = child(node, 'ArrowFunction');
  const mark = arrow === undefined || arrow.to !== node.to ? undefined : child(arrow, 'Arrow');
  if (mark !== undefined) return `${withoutBlocks(node, text, mark.to)} …`;
  return firstLine(withoutBlocks(node, text, node.to).replace(/\s+/g, ' '), 120);
}

/** Everything before the body. */
function headOf(node: SyntaxNode, text: string): string {
  const parts = children(node);
  const arrow = parts.find(({ name }) => name === 'Arrow');
  return withoutBlocks(node, text, arrow?.to ?? parts.findLast(({ name }) => name === 'Block')?.from ?? node.to);
}

/** A node's text up to a place, blocks of code in it left out. */
function withoutBlocks(node: SyntaxNode, text: string, end: number): string {
  let out = '';
  let at = node.from;
  const cursor = node.cursor();
  while (cursor.next() && cursor.from < end) {
    if (cursor.name !== 'Block' || cursor.from < at) continue;
    out += `${text.slice(at, cursor.from)}{ … }`;
    at = cursor.to;
  }
  return (out + text.slice(at, end)).trim();
}

/** `const name: Type`, one line for each name of the declaration. */
function variables(node: SyntaxNode, text: string): string {
  const [keyword, ...parts] = children(node);
  const groups: SyntaxNode[][] = [[]];
  for (const part of parts) {
    if (part.name === ',') groups.push([]);
    else if (part.name !== ';') groups.at(-1)!.push(part);
  }
  const one = (group: readonly SyntaxNode[]): string => {
    const [name] = group;
    if (name === undefined) return '';
    const annotation = group.find((part) => part.name === 'TypeAnnotation');
    const value = group.some((part) => part.name === 'Equals') ? group.at(-1) : undefined;
    const left = text.slice(name.from, (annotation ?? name).to);
    return annotation !== undefined || value === undefined ? left : `${left} = ${valueOf(value, text)}`;
  };
  return `${textOf(keyword!, text)} ${groups.map(one).join(', ')};`;
}

function classOf(node: SyntaxNode, text: string): string {
  const body = child(node, 'ClassBody');
  if (body === undefined) return textOf(node, text);
  const members = children(body).filter(
    (member) => /^(?:Method|Property)Declaration$/.test(member.name) && !isPrivate(member, text),
  );
  const lines = members.map((member) => `  ${memberOf(member, text)};\n`);
  return `${text.slice(node.from, body.from).trimEnd()} {\n${lines.join('')}}`;
}

function memberOf(member: SyntaxNode, text: string): string {
  if (member.name === 'MethodDeclaration') return headOf(member, text).replace(/;$/, '');
  const equals = child(member, 'Equals');
  const value = equals === undefined ? undefined : children(member).findLast(({ name }) => name !== ';');
  if (equals === undefined || value === undefined) return textOf(member, text).replace(/;$/, '').trim();
  const left = text.slice(member.from, equals.from).trimEnd();
  return child(member, 'TypeAnnotation') === undefined ? `${left} = ${valueOf(value, text)}` : left;
}

const isPrivate = (member: SyntaxNode, text: string): boolean =>
  children(member).some(
    (part) =>
      part.name === 'PrivatePropertyDefinition' || (part.name === 'Privacy' && textOf(part, text) === 'private'),
  );
