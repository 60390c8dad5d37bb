/** Tests of jest, vitest, mocha, node:test and the like that assert nothing or cannot fail. */
import type { SyntaxNode } from '@lezer/common';
import { child, children, textOf } from './prompt/syntax.ts';
import type { Say } from './suspicious-tests.ts';

const TEST = /^(?:it|test|specify)(?:\.(?:only|skip|todo|each|concurrent|failing|fails|sequential|skipIf|runIf))*$/;
const GROUP = /^(?:describe|context|suite)(?:\.(?:only|skip|each|concurrent|sequential|todo))*$/;
/** Calls that check: of a library, or of a function of the test's own by its name. */
const CHECKS =
  /^(?:expect|assert|t|chai|sinon|td|cy|should|assume|fc)\b|(?:^|\.)(?:expect|assert|check|verify|should|ensure|must|throws|rejects|snapshot|fail)(?=[A-Z_(.]|$)|\.should\b/;

export function suspiciousJavascript(top: SyntaxNode, text: string, say: Say): void {
  top.cursor().iterate((ref) => {
    if (ref.name !== 'CallExpression') return;
    const { node } = ref;
    const name = calleeName(node, text);
    if (name === null || (!TEST.test(name) && !GROUP.test(name))) return;
    if (node.parent?.name === 'CallExpression' && node.parent.firstChild?.to === node.to) return; // `test.each(…)` of `test.each(…)(…)`
    const args = argumentsOf(node);
    const title =
      args[0] === undefined
        ? ''
        : textOf(args[0], text)
            .replace(/^['"`]|['"`]$/g, '')
            .slice(0, 200);
    const body = args.findLast(({ name: kind }) => kind === 'ArrowFunction' || kind === 'FunctionExpression');
    if (/\.only\b/.test(name)) say(node, title, 'others-never-run', `.only`);
    if (/\.(?:skip|todo)\b(?!If)/.test(name)) say(node, title, 'never-runs', name);
    else if (TEST.test(name) && body !== undefined) judge(node, title, body, text, say);
  });
}

/** `it`, `test.each`, of `test.each(…)(…)` too; null: no plain name is called. */
function calleeName(call: SyntaxNode, text: string): string | null {
  const callee = call.firstChild;
  if (callee === null || child(call, 'ArgList') === undefined) return null;
  if (callee.name === 'CallExpression') {
    const inner = calleeName(callee, text);
    return inner !== null && /\.(?:each|skipIf|runIf)$/.test(inner) ? inner : null;
  }
  if (callee.name === 'TaggedTemplateExpression') return textOf(callee, text).split('`')[0]!;
  if (callee.name !== 'VariableName' && callee.name !== 'MemberExpression') return null;
  return textOf(callee, text);
}

const argumentsOf = (call: SyntaxNode): SyntaxNode[] => {
  const list = child(call, 'ArgList');
  return list === undefined ? [] : children(list).filter(({ name }) => !/^[(),]$/.test(name));
};

function judge(call: SyntaxNode, title: string, body: SyntaxNode, text: string, say: Say): void {
  let asserting = 0;
  const always: string[] = [];
  let swallowed: SyntaxNode | null = null;
  body.cursor().iterate((ref) => {
    if (ref.name === 'ThrowStatement') asserting += 1;
    if (ref.name !== 'CallExpression' && ref.name !== 'TaggedTemplateExpression') return;
    const { node } = ref;
    const said = textOf(node.firstChild ?? node, text);
    const isCheck = CHECKS.test(said.replace(/\s+/g, '')) && !isInnerExpect(node, text);
    if (!isCheck) return;
    asserting += 1;
    if (alwaysHolds(node, text)) always.push(textOf(node, text).slice(0, 80));
    swallowed ??= swallowing(node, body, text);
  });
  if (asserting === 0) say(call, title, 'asserts-nothing');
  else if (always.length === asserting) say(call, title, 'cannot-fail', always[0]);
  else if (swallowed !== null) say(swallowed, title, 'swallows-failure');
}

/** `expect(x)` is part of `expect(x).toBe(y)`; counted once, and alone it checks nothing. */
function isInnerExpect(node: SyntaxNode, text: string): boolean {
  if (!/^(?:expect|assert\.that|expect\.soft)$/.test(textOf(node.firstChild ?? node, text))) return false;
  return true;
}

const LITERALS = /^(?:BooleanLiteral|Number|String|null|undefined|TemplateString)$/;
const EQUAL = /\.(?:toBe|toEqual|toStrictEqual|equal|equals|strictEqual|deepEqual|deepStrictEqual|eql|eq|is)$/;

/** Both sides are the same text, or literals that make it so. */
function alwaysHolds(call: SyntaxNode, text: string): boolean {
  const callee = call.firstChild;
  if (callee === null) return false;
  const args = argumentsOf(call);
  const written = args.map((arg) => textOf(arg, text));
  const name = textOf(callee, text);
  if (
    /^assert(?:\.ok|\.equal|\.isTrue)?$/.test(name) &&
    args.length >= 1 &&
    /^(?:true|1)$/.test(written[0]!) &&
    !/equal/.test(name)
  )
    return true;
  if (/^(?:assert|t)\./.test(name) && EQUAL.test(name)) return args.length >= 2 && isSame(args[0]!, args[1]!, text);
  const actual = expectedOf(callee, text);
  if (actual === null || /\.(?:not|rejects|resolves)\b/.test(name)) return false;
  const value = textOf(actual, text);
  if (EQUAL.test(name)) return args.length === 1 && isSame(actual, args[0]!, text);
  if (/\.toBeTruthy$|\.ok$|\.true$/.test(name)) return /^(?:true|[1-9]\d*|'[^']+'|"[^"]+"|\[\]|\{\})$/.test(value);
  if (/\.toBeDefined$|\.exist$/.test(name)) return LITERALS.test(actual.name) && value !== 'undefined';
  return false;
}

/** The argument of the `expect(…)` that this callee hangs on. */
function expectedOf(callee: SyntaxNode, text: string): SyntaxNode | null {
  for (let at: SyntaxNode | null = callee; at !== null; at = at.firstChild) {
    if (at.name === 'CallExpression' && textOf(at.firstChild ?? at, text) === 'expect')
      return argumentsOf(at)[0] ?? null;
  }
  return null;
}

/** The same literal, or the same text without a call in it (two calls may differ). */
function isSame(a: SyntaxNode, b: SyntaxNode, text: string): boolean {
  const [x, y] = [textOf(a, text), textOf(b, text)];
  return x === y && !/[(`]|\bnew\b|\+\+|--/.test(x);
}

/** The `catch` that keeps a failed assertion in this `try` from failing the test. */
function swallowing(node: SyntaxNode, body: SyntaxNode, text: string): SyntaxNode | null {
  for (let at: SyntaxNode = node; at.from !== body.from || at.to !== body.to;) {
    const { parent } = at;
    if (parent === null) return null;
    if (parent.name === 'TryStatement' && at.name === 'Block' && parent.firstChild?.nextSibling?.from === at.from) {
      const caught = child(parent, 'CatchClause');
      if (caught !== undefined && !/\b(?:throw|expect|assert|fail|done|reject)\b/.test(textOf(caught, text)))
        return caught;
    }
    at = parent;
  }
  return null;
}
