/** Tests of pytest and unittest that assert nothing or cannot fail. */
import type { SyntaxNode } from '@lezer/common';
import { child, children, textOf } from './prompt/syntax.ts';
import type { Say } from './suspicious-tests.ts';

const CHECKS = /(?:^|\.)_*(?:assert|expect|check|verify|should|ensure|must|raises|warns|fail)\w*$/;
const SKIP = /^@(?:pytest\.mark\.skip|unittest\.skip)(?!if|If|Unless)/;

export function suspiciousPython(top: SyntaxNode, text: string, say: Say): void {
  top.cursor().iterate((ref) => {
    if (ref.name !== 'FunctionDefinition') return;
    const { node } = ref;
    const name = child(node, 'VariableName');
    const body = child(node, 'Body');
    if (name === undefined || body === undefined || !textOf(name, text).startsWith('test') || !isTopOrMethod(node))
      return;
    const title = textOf(name, text);
    const marks = node.parent?.name === 'DecoratedStatement' ? children(node.parent) : [];
    const skip = marks.find((mark) => mark.name === 'Decorator' && SKIP.test(textOf(mark, text)));
    if (skip !== undefined) say(node, title, 'never-runs', textOf(skip, text).trim().slice(0, 80));
    else judge(node, title, body, text, say);
  });
}

/** pytest collects functions of modules and methods of classes, not functions in functions. */
function isTopOrMethod(node: SyntaxNode): boolean {
  for (let at = node.parent; at !== null; at = at.parent) if (at.name === 'FunctionDefinition') return false;
  return true;
}

function judge(test: SyntaxNode, title: string, body: SyntaxNode, text: string, say: Say): void {
  let asserting = 0;
  const always: string[] = [];
  let swallowed: SyntaxNode | null = null;
  body.cursor().iterate((ref) => {
    const { node } = ref;
    if (ref.name === 'RaiseStatement') asserting += 1;
    const isCheck =
      ref.name === 'AssertStatement' ||
      (ref.name === 'CallExpression' && node.firstChild !== null && CHECKS.test(textOf(node.firstChild, text)));
    if (!isCheck) return;
    asserting += 1;
    if (ref.name === 'AssertStatement' ? alwaysTrue(node, text) : alwaysEqual(node, text))
      always.push(textOf(node, text).split('\n')[0]!.slice(0, 80));
    swallowed ??= swallowing(node, body, text);
  });
  if (asserting === 0) say(test, title, 'asserts-nothing');
  else if (always.length === asserting) say(test, title, 'cannot-fail', always[0]);
  else if (swallowed !== null) say(swallowed, title, 'swallows-failure');
}

function alwaysTrue(node: SyntaxNode, text: string): boolean {
  const value = children(node)[1];
  if (value === undefined) return false;
  // A tuple is true, whatever stands in it: `assert (x == 1, "message")`.
  if (value.name === 'TupleExpression') return /,/.test(textOf(value, text));
  if (value.name === 'BinaryExpression') {
    const [left, operator, right] = children(value);
    return (
      left !== undefined &&
      right !== undefined &&
      operator !== undefined &&
      /^(?:==|is|<=|>=)$/.test(textOf(operator, text)) &&
      isSame(left, right, text)
    );
  }
  return /^(?:True|[1-9]\d*|not False|"[^"]+"|'[^']+')$/.test(textOf(value, text));
}

function alwaysEqual(call: SyntaxNode, text: string): boolean {
  const name = textOf(call.firstChild!, text);
  const list = child(call, 'ArgList');
  const args = list === undefined ? [] : children(list).filter((part) => !/^[(),]$/.test(part.name));
  if (name.endsWith('.assertTrue')) return args[0] !== undefined && /^(?:True|1)$/.test(textOf(args[0], text));
  if (name.endsWith('.assertFalse')) return args[0] !== undefined && /^(?:False|0)$/.test(textOf(args[0], text));
  if (/\.assert(?:Equals?|Is|ListEqual|DictEqual)$/.test(name))
    return args.length >= 2 && isSame(args[0]!, args[1]!, text);
  return false;
}

const isSame = (a: SyntaxNode, b: SyntaxNode, text: string): boolean =>
  textOf(a, text) === textOf(b, text) && !textOf(a, text).includes('(');

/** `except Exception: pass` around an assertion: AssertionError is an Exception. */
function swallowing(node: SyntaxNode, body: SyntaxNode, text: string): SyntaxNode | null {
  for (let at: SyntaxNode = node; at.from !== body.from;) {
    const { parent } = at;
    if (parent === null) return null;
    if (parent.name === 'TryStatement' && at.name === 'Body') {
      const parts = children(parent);
      const tried = parts.findIndex(({ name }) => name === 'Body');
      if (parts[tried]?.from === at.from) {
        const caught = parts.findIndex((part, i) => part.name === 'except' && catchesAll(parts[i + 1], text));
        const handler = parts.slice(caught + 1).find(({ name }) => name === 'Body');
        if (caught >= 0 && handler !== undefined && !/\b(?:raise|assert|fail)/.test(textOf(handler, text)))
          return handler;
      }
    }
    at = parent;
  }
  return null;
}

const catchesAll = (what: SyntaxNode | undefined, text: string): boolean =>
  what !== undefined &&
  (what.name === 'Body' || /\b(?:Exception|BaseException|AssertionError)\b/.test(textOf(what, text)));
