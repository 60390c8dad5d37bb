/**
 * Tests that assert nothing or cannot fail, found by a real parser in JavaScript, TypeScript and Python. Pure.
 *
 * A test is judged by its own body; a call of a function whose name says that it checks (`expectTotal(…)`, `assert_valid(…)`, `check…`,
 * `verify…`, `should…`) counts as an assertion. So it errs towards silence: what is named here is worth a look.
 */
import type { SyntaxNode } from '@lezer/common';
import { parser as javascript } from '@lezer/javascript';
import { parser as python } from '@lezer/python';
import { suspiciousJavascript } from './suspicious-javascript.ts';
import { suspiciousPython } from './suspicious-python.ts';

export type Suspicion = 'asserts-nothing' | 'cannot-fail' | 'swallows-failure' | 'never-runs' | 'others-never-run';

export interface SuspiciousTest {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly test: string;
  readonly why: Suspicion;
  readonly message: string;
}

export type Say = (node: SyntaxNode, test: string, why: Suspicion, detail?: string) => void;

const MESSAGES: Readonly<Record<Suspicion, string>> = {
  'asserts-nothing': 'asserts nothing: it passes unless something throws',
  'cannot-fail': 'cannot fail: what it compares is always so',
  'swallows-failure': 'catches what a failed assertion throws, and goes on',
  'never-runs': 'never runs',
  'others-never-run': 'keeps every other test of its file from running',
};

/** Characters; longer files are generated, and not looked at. */
const MAX_PARSED = 1_000_000;

/** Whether a path is one of a test, by the usual names. */
export function isTestPath(path: string): boolean {
  return (
    /(?:^|\/)(?:tests?|__tests__|specs?)\//.test(path) ||
    /[._-](?:test|spec)s?\.\w+$/.test(path) ||
    /(?:^|\/)(?:test_[^/]*|[^/]*_test|conftest)\.py$/.test(path)
  );
}

/** In the order of the text; none for other languages. */
export function suspiciousTests(path: string, text: string): SuspiciousTest[] {
  if (text.length > MAX_PARSED) return [];
  const out: SuspiciousTest[] = [];
  const say: Say = (node, test, why, detail) => {
    const line = text.slice(0, node.from).split('\n').length;
    out.push({ path, line, test, why, message: `${MESSAGES[why]}${detail === undefined ? '' : ` (${detail})`}` });
  };
  const extension = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? '';
  if (/^[cm]?[jt]sx?$/.test(extension)) {
    const dialect = extension.endsWith('x') ? 'ts jsx' : extension.includes('t') ? 'ts' : 'jsx';
    suspiciousJavascript(javascript.configure({ dialect }).parse(text).topNode, text, say);
  } else if (extension === 'py') suspiciousPython(python.parse(text).topNode, text, say);
  return out.toSorted((a, b) => a.line - b.line);
}

/** One line each, for a reviewer's prompt or a log. */
export function suspicionLog(found: readonly SuspiciousTest[]): string {
  return found.map(({ path, line, test, message }) => `${path}:${line}: "${test}" ${message}`).join('\n');
}
