/**
 * A spec as Markdown: YAML front matter holds everything but goal and tasks; the text before the first task heading is the goal;
 * each task is a heading "Task: <id>" with a section per field. Text is taken verbatim from the source, so that globs keep their
 * stars and code its indentation.
 */
import { argvOf, globsIn, listItems, slice, split, taskId, unquoted, type Section } from './markdown-sections.ts';
import type { Problem } from './model.ts';
import { didYouMean, pathParts, pathText } from './problems.ts';
import { readYaml, type ReadSpec } from './read-yaml.ts';

/** Reads the Markdown form; paths and line numbers are those of the fields that the sections stand for. */
export function readMarkdown(text: string): ReadSpec {
  const problems: Problem[] = [];
  const lines = new Map<string, number>();
  const front = /^---[ \t]*\r?\n([\s\S]*?)^---[ \t]*\r?(?:\n|$)/m.exec(text);
  const matter = front !== null && front.index === 0 ? front : null;
  if (matter === null)
    problems.push({
      path: '',
      message: 'starts without front matter: "---", the fields but goal and tasks in YAML, "---"',
      line: 1,
    });
  const yaml = readYaml(matter?.[1] ?? '', 1);
  if (matter !== null) problems.push(...yaml.problems);

  const skipped = matter?.[0] ?? '';
  const body = skipped.replace(/[^\n]/g, '') + text.slice(skipped.length); // the same line numbers, nothing of the front matter
  const raw: Record<string, unknown> = isObject(yaml.raw) ? { ...yaml.raw } : {};
  for (const field of ['goal', 'tasks']) {
    if (!(field in raw)) continue;
    problems.push({
      path: field,
      message: `stands in the front matter; in Markdown the ${field === 'goal' ? 'goal is the text before the first task' : 'tasks are headings "Task: <id>"'}`,
      line: yaml.lineOf(field) ?? 1,
    });
  }

  const sections = split(body);
  const source = (section: Section): string => slice(body, section.nodes);
  const first = sections.findIndex((section) => taskId(section.title) !== null);
  const goalNodes = sections.slice(0, first < 0 ? sections.length : first);
  raw['goal'] ??= goalNodes
    .map((s) => (s.depth === 0 ? '' : `${'#'.repeat(s.depth)} ${s.title}\n\n`) + source(s))
    .join('\n\n')
    .trim();
  lines.set('goal', goalNodes.find((s) => s.nodes.length > 0 || s.depth > 0)?.line ?? 1);

  const tasks: Record<string, unknown>[] = [];
  let depth = 0;
  for (const section of first < 0 ? [] : sections.slice(first)) {
    const id = taskId(section.title);
    if (id !== null) {
      depth = section.depth;
      tasks.push({ id });
      lines.set(pathText(['tasks', tasks.length - 1]), section.line);
      const before = source(section);
      if (before !== '') {
        (tasks.at(-1) as Record<string, unknown>)['goal'] = before;
        lines.set(pathText(['tasks', tasks.length - 1, 'goal']), section.line + 1);
      }
      continue;
    }
    const at: (string | number)[] = ['tasks', tasks.length - 1];
    if (section.depth <= depth) {
      problems.push({
        path: pathText(at),
        message: `the heading "${section.title}" is no task; after the first task every heading of its level is "Task: <id>"`,
        line: section.line,
      });
      continue;
    }
    readSection(body, section, tasks.at(-1) as Record<string, unknown>, at, { problems, lines });
  }
  if (tasks.length > 0) raw['tasks'] = tasks;

  const lineOf = (path: string): number | null => {
    const parts = pathParts(path);
    if (parts[0] !== 'goal' && parts[0] !== 'tasks') return yaml.lineOf(path);
    for (let n = parts.length; n > 0; n--) {
      const line = lines.get(pathText(parts.slice(0, n)));
      if (line !== undefined) return line;
    }
    return null;
  };
  return { raw, problems, lineOf };
}

const SECTIONS = [
  'Goal',
  'Interface',
  'Files',
  'Forbidden',
  'References',
  'Acceptance',
  'Depends on',
  'Kind',
  'Priority',
  'Role',
  'Run',
  'Tests',
] as const;

function readSection(
  body: string,
  section: Section,
  task: Record<string, unknown>,
  at: (string | number)[],
  out: { problems: Problem[]; lines: Map<string, number> },
): void {
  const known = SECTIONS.find((name) => name.toLowerCase() === section.title.toLowerCase().replace(/:$/, '').trim());
  const refuse = (message: string, line = section.line): void =>
    void out.problems.push({ path: pathText(at), message, line });
  if (known === undefined) {
    return refuse(
      `unknown section "${section.title}"${didYouMean(section.title, SECTIONS) || `; known: ${SECTIONS.join(', ')}`}`,
    );
  }
  const set = (path: readonly string[], value: unknown, lines: readonly number[] = []): void => {
    const where = [...at, ...path];
    let target = task;
    for (const part of path.slice(0, -1)) target = (target[part] ??= {}) as Record<string, unknown>;
    const last = path.at(-1) as string;
    if (Object.hasOwn(target, last)) refuse(`the section "${known}" stands twice in this task`);
    target[last] = value;
    out.lines.set(pathText(where), section.line);
    lines.forEach((line, i) => out.lines.set(pathText([...where, i]), line));
  };
  const whole = slice(body, section.nodes);
  const listed = (paths: boolean): { values: string[]; lines: number[] } => {
    const items = listItems(body, section);
    if (items === null) {
      refuse(`the section "${known}" is a list: "- …" on a line each`);
      return { values: [], lines: [] };
    }
    const values = paths ? items.flatMap((item) => globsIn(item.text).map((text) => ({ ...item, text }))) : items;
    return { values: values.map((item) => item.text), lines: values.map((item) => item.line) };
  };
  const setList = (path: readonly string[], paths: boolean): void => {
    const { values, lines } = listed(paths);
    set(path, values, lines);
  };
  switch (known) {
    case 'Goal':
      return set(['goal'], whole);
    case 'Interface':
      return set(['interface'], whole);
    case 'Files':
      return setList(['files', 'allow'], true);
    case 'Forbidden':
      return setList(['files', 'forbid'], true);
    case 'References':
      return setList(['files', 'reference'], true);
    case 'Acceptance':
      return setList(['acceptance'], false);
    case 'Depends on':
      return setList(['dependsOn'], true);
    case 'Kind':
    case 'Role':
      return set([known.toLowerCase()], unquoted(whole));
    case 'Priority': {
      const text = unquoted(whole);
      return set(['priority'], /^-?\d+$/.test(text) ? Number(text) : text);
    }
    case 'Run': {
      const argv = argvOf(whole);
      return argv === null ? setList(['run'], true) : set(['run'], argv);
    }
    case 'Tests': {
      const pairs = listed(false).values.map((text) => /^`?([^`]+?)`?\s*(?::|←|<-)\s+`?([^`]+?)`?$/.exec(text));
      if (pairs.includes(null)) refuse('an entry of "Tests" is "path in the repository: path in the base commit"');
      return set(['tests'], Object.fromEntries(pairs.flatMap((pair) => (pair === null ? [] : [[pair[1], pair[2]]]))));
    }
  }
}

function isObject(raw: unknown): raw is Record<string, unknown> {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw);
}
