/** Where in a syntax tree a small change turns the meaning round, and what stands there then. Pure. */
import type { SyntaxNode, SyntaxNodeRef } from '@lezer/common';
import { textOf } from '../prompt/syntax.ts';

export type Language = 'javascript' | 'python';

/** Text between two offsets, and what takes its place. */
export interface Edit {
  readonly from: number;
  readonly to: number;
  readonly put: string;
  /** Of several on a line the lowest is planted: what tests notice most surely. */
  readonly rank: number;
}

const TURNED: Readonly<Record<string, string>> = {
  '===': '!==', '!==': '===', '==': '!=', '!=': '==', '<': '>=', '>=': '<', '>': '<=', '<=': '>',
  '&&': '||', '||': '&&', and: 'or', or: 'and',
  '+': '-', '-': '+', '*': '/', '/': '*', '%': '*', '//': '*', '+=': '-=', '-=': '+=',
  true: 'false', false: 'true', True: 'False', False: 'True',
}; // prettier-ignore

/** Nothing below these is code that runs with a meaning of its own. */
const SKIPPED =
  /^(?:TypeAnnotation|TypeDef|TypeParamList|TypeArgList|TypeAliasDeclaration|InterfaceDeclaration|ImportDeclaration|ImportStatement|Decorator|AmbientDeclaration)$/;
const LOGGING = /^(?:console|log|logger|logging|debug|print|warnings)\b|\.(?:log|debug|info|warn|warning|trace)$/;
/** Returned, it makes no difference to `nothing`. */
const NOTHING = /^(?:undefined|null|None|void 0)$/;

export function candidates(top: SyntaxNode, text: string, language: Language): Edit[] {
  const edits: Edit[] = [];
  top.cursor().iterate((ref) => {
    if (SKIPPED.test(ref.name) || isLogging(ref, text)) return false;
    const edit = editOf(ref, text, language);
    if (edit !== null) edits.push(edit);
    // What an error says is text.
    return ref.name === 'ThrowStatement' || ref.name === 'RaiseStatement' ? false : undefined;
  });
  return edits;
}

function editOf(ref: SyntaxNodeRef, text: string, language: Language): Edit | null {
  const { from, to, name } = ref;
  const said = textOf(ref, text);
  const turned = (rank: number): Edit | null => {
    const put = TURNED[said];
    return put === undefined ? null : { from, to, put, rank };
  };
  switch (name) {
    case 'CompareOp':
      return within(ref, 'BinaryExpression') ? turned(1) : null;
    case 'LogicOp':
    case 'and':
    case 'or':
      return within(ref, 'BinaryExpression') ? turned(2) : null;
    case 'is':
    case 'in':
      return language === 'python' ? turnedTest(ref.node, said) : null;
    case 'BooleanLiteral':
    case 'Boolean':
      return turned(3);
    case 'UnaryExpression':
      return withoutNot(ref.node, text);
    case 'ArithOp':
      return within(ref, 'BinaryExpression') ? turned(4) : null;
    case 'UpdateOp':
      return turned(4);
    case 'IfStatement':
    case 'ConditionalExpression':
      return negated(ref.node, text, language);
    case 'ThrowStatement':
    case 'RaiseStatement':
      return { from, to, put: language === 'python' ? 'pass' : ';', rank: 5 };
    case 'ExpressionStatement':
      return leftOut(ref.node, text, language);
    case 'ReturnStatement':
      return returned(ref.node, text, language);
    default:
      return null;
  }
}

const isLogging = (ref: SyntaxNodeRef, text: string): boolean =>
  ref.name === 'CallExpression' && ref.node.firstChild !== null && LOGGING.test(textOf(ref.node.firstChild, text));

const within = (ref: SyntaxNodeRef, name: string): boolean => ref.node.parent?.name === name;

/** `is` and `in` of Python, unless a `not` belongs to it. */
function turnedTest(node: SyntaxNode, said: string): Edit | null {
  if (node.parent?.name !== 'BinaryExpression') return null;
  if (node.prevSibling?.name === 'not' || node.nextSibling?.name === 'not') return null;
  const { from, to } = node;
  return { from, to, put: said === 'is' ? 'is not' : 'not in', rank: 1 };
}

function withoutNot(node: SyntaxNode, text: string): Edit | null {
  const [op, operand] = [node.firstChild, node.lastChild];
  if (op === null || operand === null || !/^(?:!|not)$/.test(textOf(op, text))) return null;
  return { from: op.from, to: operand.from, put: '', rank: 3 };
}

/** A condition that no operator of its own can be turned in: a name, a call. */
function negated(node: SyntaxNode, text: string, language: Language): Edit | null {
  const condition = conditionOf(node, language);
  if (condition === null || !/^(?:VariableName|MemberExpression|CallExpression)$/.test(condition.name)) return null;
  const { from, to } = condition;
  const said = textOf(condition, text);
  return { from, to, put: language === 'python' ? `(not ${said})` : `!(${said})`, rank: 4 };
}

function conditionOf(node: SyntaxNode, language: Language): SyntaxNode | null {
  if (node.name === 'ConditionalExpression')
    return language === 'python' ? (node.getChild('if')?.nextSibling ?? null) : node.firstChild;
  return language === 'python'
    ? (node.getChild('if')?.nextSibling ?? null)
    : (node.getChild('ParenthesizedExpression')?.firstChild?.nextSibling ?? null);
}

/** A call for its effect. */
function leftOut(node: SyntaxNode, text: string, language: Language): Edit | null {
  const expression = node.firstChild;
  const call = expression?.name === 'AwaitExpression' ? expression.lastChild : expression;
  if (call?.name !== 'CallExpression' || call.firstChild === null) return null;
  if (isLogging(call, text) || textOf(call.firstChild, text) === 'super') return null;
  return { from: node.from, to: node.to, put: language === 'python' ? 'pass' : ';', rank: 6 };
}

/** What is returned is nothing instead; a number is another. */
function returned(node: SyntaxNode, text: string, language: Language): Edit | null {
  const value = node.getChild('return')?.nextSibling ?? null;
  if (value === null || value.name === ';') return null;
  const said = textOf(value, text);
  // From the first to the last of a tuple that stands without brackets.
  const to = language === 'python' ? node.to : value.to;
  if (/^\d+$/.test(said)) return { from: value.from, to: value.to, put: String(Number(said) + 1), rank: 4 };
  if (NOTHING.test(said)) return null;
  return { from: value.from, to, put: language === 'python' ? 'None' : 'undefined', rank: 7 };
}
