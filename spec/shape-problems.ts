/** Problems of a spec's shape, in words that fit the field. */
import type { FieldRow } from './field.ts';
import { FIELDS } from './fields.ts';
import type { Problem } from './model.ts';
import { problemsOf } from './problems.ts';

/** What the schemas found, in the words of this file where the field deserves them. */
export function shapeProblems(issues: Parameters<typeof problemsOf>[0], input: unknown): Problem[] {
  return problemsOf(issues, (parts) => knownFields(FIELDS, parts), input).map((problem) => {
    if (problem.message !== 'is required') return problem;
    if (/^gate\.(lint|typecheck|test|build)$/.test(problem.path))
      return {
        ...problem,
        message: 'this step is neither configured nor "skip"; write a command, or "skip" in so many words',
      };
    if (problem.path === 'gate')
      return { ...problem, message: 'is required: lint, typecheck, test and build, each a command or "skip"' };
    if (/^roles(\.worker)?$/.test(problem.path))
      return {
        ...problem,
        message: 'is required: say which engine does the work, for example roles: {worker: {engine: command}}',
      };
    const row = FIELDS.find((field) => field.path === problem.path.replace(/\[\d+\]/g, '[]'));
    return row === undefined ? problem : { ...problem, message: `is required. ${row.meaning}` };
  });
}

/** Names of the fields that, by the table, an object at this path may have. */
export function knownFields(table: readonly FieldRow[], parts: readonly PropertyKey[]): string[] {
  const at = parts
    .map((part) => (typeof part === 'number' ? '[]' : `.${String(part)}`))
    .join('')
    .replace(/^\./, '');
  const names = new Set<string>();
  for (const { path } of table) {
    const pattern = path.split(/(?=\.)|(?=\[\])/).map((part) => part.replace(/^\./, ''));
    const wanted = at === '' ? [] : at.split(/(?=\.)|(?=\[\])/).map((part) => part.replace(/^\./, ''));
    if (pattern.length <= wanted.length || !wanted.every((part, i) => pattern[i] === part || pattern[i] === '*'))
      continue;
    const next = pattern[wanted.length] as string;
    if (next !== '[]' && next !== '*') names.add(next);
  }
  return [...names];
}

/** In the order of the reference page, tasks by their index. */
export function bySpecOrder(a: Problem, b: Problem): number {
  const key = (problem: Problem): [number, number] => {
    const top = problem.path.split(/[.[]/)[0] ?? '';
    const rank = problem.path === '' ? -1 : FIELDS.findIndex((field) => field.path.split(/[.[]/)[0] === top);
    return [rank, Number(/^\w+\[(\d+)\]/.exec(problem.path)?.[1] ?? 0)];
  };
  const [x, y] = [key(a), key(b)];
  return x[0] - y[0] || x[1] - y[1];
}

/** Whether anything lies deeper than this. Level by level, since deep input would exhaust the stack. */
export function isDeep(input: unknown, levels: number): boolean {
  let level: unknown[] = [input];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true;
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []));
  }
  return false;
}
