/** TAP 12 to 14, with the indented subtests that node:test, tap and prove write. */
import type { TestReport, TestStatus } from './report.ts';

interface Point {
  readonly name: string;
  readonly status: TestStatus;
}

const INDENT = 4;
/** Deeper indentation is output, not a subtest. */
const MAX_DEPTH = 32;
const POINT = /^(not )?ok\b(?: +\d+)?(?: *-)? *(.*)$/;

/** null when the text has neither a version, a plan nor a test point. Parents are told apart from their subtests: only leaves are named. */
export function parseTap(text: string): TestReport | null {
  const levels: Point[][] = [];
  const topLevel = { seen: 0, planned: null as number | null };
  let yamlIndent = -1;
  let bailed = false;
  let version = false;
  for (const line of text.split(/\r?\n/)) {
    const body = line.trimStart();
    const indent = line.length - body.length;
    if (yamlIndent >= 0) {
      if (body.startsWith('...') && indent <= yamlIndent) yamlIndent = -1;
      continue;
    }
    if (body === '---') {
      yamlIndent = indent;
      continue;
    }
    const depth = Math.floor(indent / INDENT);
    if (/^TAP version \d+/.test(body)) version = true;
    if (body.startsWith('Bail out!')) bailed = true;
    const plan = /^1\.\.(\d+)/.exec(body);
    if (plan !== null && depth === 0) topLevel.planned = Number(plan[1]);
    const point = POINT.exec(body);
    if (point === null || depth > MAX_DEPTH) continue;
    if (depth === 0) topLevel.seen++;
    addPoint(levels, depth, point[1] !== undefined, point[2] ?? '');
  }
  const tests = levels.flat();
  if (!version && topLevel.planned === null && tests.length === 0) return null;
  const fulfilled = topLevel.planned === null ? tests.length > 0 : topLevel.seen >= topLevel.planned;
  return { tests, complete: fulfilled && !bailed && levels.length <= 1 };
}

function addPoint(levels: Point[][], depth: number, notOk: boolean, rest: string): void {
  const directive = /(?:^| )# *(skip|todo)\b/i.exec(rest)?.[1]?.toLowerCase();
  const name = (directive === undefined ? rest : rest.slice(0, rest.search(/(?:^| )# *(?:skip|todo)\b/i))).trim();
  const status: TestStatus = directive !== undefined ? 'skipped' : notOk ? 'failed' : 'passed';
  while (levels.length <= depth) levels.push([]);
  const children = levels.splice(depth + 1).flat();
  const here = levels[depth] as Point[];
  for (const child of children) here.push({ name: `${name} › ${child.name}`, status: child.status });
  const childFailed = children.some((child) => child.status === 'failed');
  // A parent fails by itself when a hook of its own failed.
  if (children.length === 0 || (status === 'failed' && !childFailed)) here.push({ name, status });
}
