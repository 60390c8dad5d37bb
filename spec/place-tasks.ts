/** All tasks of a spec in one list, explicit ones first, fan-outs expanded where the files are known. */
import type { Checking } from './checking.ts';
import type { RawFanOut, RawTask } from './fields-task.ts';
import { MAX_TASKS } from './fields-task.ts';
import type { RawSpec } from './fields.ts';
import { expandFanOut, fanOutFiles, fanOutName, placeholdersIn } from './fan-out.ts';
import { idProblem } from './names.ts';
import { nearest, type PathPart } from './problems.ts';

export interface PlacedTask {
  readonly task: RawTask;
  /** Path of the fields of the task in the spec; for fan-outs that of the template. */
  readonly at: readonly PathPart[];
  readonly idAt: readonly PathPart[];
  /** Index of the fan-out that made it, else null. */
  readonly fanOut: number | null;
}

export interface Placed {
  readonly tasks: PlacedTask[];
  /** Ids by name of fan-out. */
  readonly groups: ReadonlyMap<string, readonly string[]>;
  /** false: there are fan-outs that could not be expanded yet. */
  readonly expanded: boolean;
}

/** Places every task; problems of ids and fan-outs go to `check`. */
export function placeTasks(check: Checking, spec: RawSpec): Placed {
  const tasks: PlacedTask[] = spec.tasks.map((task, i) => ({
    task,
    at: ['tasks', i],
    idAt: ['tasks', i, 'id'],
    fanOut: null,
  }));
  const groups = new Map<string, string[]>();
  spec.fanOut.forEach((fanOut, i) => {
    checkFanOut(check, fanOut, ['fanOut', i]);
    const name = fanOutName(fanOut);
    if (groups.has(name))
      check.say(['fanOut', i, 'name'], `a second fan-out is called "${name}"; give each a "name" of its own`);
    const members = groups.get(name) ?? [];
    groups.set(name, members);
    if (check.files === null) return;
    const matched = fanOutFiles(fanOut.over, check.files);
    if (matched.length === 0 && fanOut.over.files.length > 0) {
      check.say(
        ['fanOut', i, 'over', 'files'],
        `match no file of the base commit${fanOut.over.except.length > 0 ? ' (after "except")' : ''}${hint(fanOut, check.files)}`,
      );
      return;
    }
    const count = Math.ceil(matched.length / fanOut.over.chunk);
    if (tasks.length + count > MAX_TASKS) {
      check.say(
        ['fanOut', i, 'over'],
        `makes ${count} tasks; a run has at most ${MAX_TASKS} in all: narrow the globs, or put several files into a task with "chunk"`,
      );
      return;
    }
    for (const { id, task } of expandFanOut(fanOut, check.files, count)) {
      members.push(id);
      tasks.push({ task: { ...task, id }, at: ['fanOut', i, 'task'], idAt: ['fanOut', i, 'id'], fanOut: i });
    }
  });
  checkIds(check, tasks, groups);
  return { tasks, groups, expanded: check.files !== null || spec.fanOut.length === 0 };
}

function checkFanOut(check: Checking, fanOut: RawFanOut, at: PathPart[]): void {
  check.globs([...at, 'over', 'files'], fanOut.over.files);
  check.globs([...at, 'over', 'except'], fanOut.over.except);
  const name = fanOutName(fanOut);
  if (fanOut.name !== '') check.sayIf([...at, 'name'], idProblem(fanOut.name));
  else if (name === '')
    check.say(
      [...at, 'name'],
      'is required when the id begins with a placeholder: dependsOn needs a name for the group',
    );
  const inId = placeholdersIn(fanOut.id);
  if (inId.size === 0)
    check.say(
      [...at, 'id'],
      'has no placeholder, so that all its tasks would have one id: use {stem}, {file}, {dir} or {n}',
    );
  const unknown = /\{(\w+)\}/g;
  for (const [text, where] of [
    [fanOut.id, 'id'],
    [fanOut.task.goal, 'task.goal'],
  ] as const) {
    for (const match of text.matchAll(unknown)) {
      const key = match[1] as string;
      const meant = nearest(key, ['file', 'files', 'dir', 'stem', 'n']);
      if (meant !== null && meant !== key)
        check.say([...at, ...where.split('.')], `"{${key}}" is no placeholder (did you mean "{${meant}}"?)`);
    }
  }
  if (fanOut.over.chunk > 1) {
    const single = [...placeholdersIn([fanOut.id, fanOut.task])].filter((key) => ['file', 'stem', 'dir'].includes(key));
    if (single.length > 0)
      check.say(
        [...at, 'over', 'chunk'],
        `is ${fanOut.over.chunk}, but the template has {${single.join('}, {')}}, which stands for one file: use {files} and, in the id, {n}`,
      );
  }
  if (placeholdersIn(fanOut.id).has('files')) check.say([...at, 'id'], '{files} would make a very long id; use {n}');
}

function checkIds(check: Checking, tasks: readonly PlacedTask[], groups: ReadonlyMap<string, readonly string[]>): void {
  const first = new Map<string, PlacedTask>();
  const where = (placed: PlacedTask): string =>
    placed.fanOut === null ? `tasks[${String(placed.at[1])}]` : `fanOut[${placed.fanOut}]`;
  for (const placed of tasks) {
    const { id } = placed.task;
    check.sayIf(placed.idAt, idProblem(id));
    const other = first.get(id.toLowerCase());
    if (other === undefined) first.set(id.toLowerCase(), placed);
    else if (other.task.id === id)
      check.say(
        placed.idAt,
        `the id "${id}" is taken by ${where(other)}${placed.fanOut === null ? '' : ' (add {dir} or {n} to the template)'}`,
      );
    else check.say(placed.idAt, `the ids "${id}" and "${other.task.id}" (${where(other)}) differ only by case`);
    if (groups.has(id))
      check.say(placed.idAt, `"${id}" is also the name of a fan-out; dependsOn could not tell them apart`);
  }
}

function hint(fanOut: RawFanOut, files: readonly string[]): string {
  const prefix = fanOut.over.files[0]?.split(/[*?[{]/)[0] ?? '';
  const near = files.find((file) => prefix !== '' && file.startsWith(prefix));
  return near === undefined ? '' : `; there is, for example, "${near}"`;
}
