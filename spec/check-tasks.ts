/** What each task by itself must have: a scope that is its to write, criteria, an engine's input, known dependencies. */
import { matchingPaths, type Checking } from './checking.ts';
import type { RawTask } from './fields-task.ts';
import type { RawSpec } from './fields.ts';
import { anyGlob, escapeGlob, globProblem, isLiteral, unescapeGlob } from './globs.ts';
import { goalProblem } from './goal.ts';
import type { RoleName } from './model.ts';
import { covers } from './overlap.ts';
import type { Placed, PlacedTask } from './place-tasks.ts';
import { didYouMean, type PathPart } from './problems.ts';

/** What a task needs to know of the roles: which there are, and their engines. */
export type RoleEngines = Readonly<
  Partial<Record<RoleName, { readonly engine: string } | readonly { readonly engine: string }[] | null>>
>;

/** Checks that need one task (and the roles) only. For a fan-out these run on its template, once. */
export function checkTaskBody(
  check: Checking,
  task: Omit<RawTask, 'id'>,
  at: readonly PathPart[],
  roles: RoleEngines,
): void {
  check.sayIf([...at, 'goal'], goalProblem(task.goal, task.acceptance));
  task.acceptance.forEach(
    (text, i) => text.trim() === '' && check.say([...at, 'acceptance', i], 'is empty; write one checkable sentence'),
  );
  for (const list of ['allow', 'forbid', 'reference'] as const) check.globs([...at, 'files', list], task.files[list]);
  if (
    task.files.allow.length > 0 &&
    task.files.allow.every((glob) => task.files.forbid.some((forbid) => covers(forbid, glob)))
  ) {
    check.say([...at, 'files', 'forbid'], 'forbids everything that "allow" allows: the scope is empty');
  }
  for (const path of Object.keys(task.tests)) {
    check.sayIf([...at, 'tests', path], globProblem(path) ?? (/[*?]/.test(path) ? 'is a glob; name one file' : null));
  }
  task.script.forEach((attempt, i) =>
    attempt.edits.forEach(
      (edit, j) => edit.path === '' && check.say([...at, 'script', i, 'edits', j, 'path'], 'is empty'),
    ),
  );
  checkRole(check, task, at, roles);
}

function checkRole(check: Checking, task: Omit<RawTask, 'id'>, at: readonly PathPart[], roles: RoleEngines): void {
  const role = [roles[task.role] ?? []].flat()[0];
  if (role === undefined) {
    check.say(
      [...at, 'role'],
      `the role "${task.role}" is not configured; add roles.${task.role}, or take the default "worker"`,
    );
    return;
  }
  if (role.engine === 'command' && task.run === null)
    check.say(
      [...at, 'run'],
      `is required: the role "${task.role}" has the engine "command", which runs it, for example ["node", "tools/codemod.mjs"]`,
    );
  if (role.engine === 'scripted' && task.script.length === 0)
    check.say([...at, 'script'], `is required: the role "${task.role}" has the engine "scripted", which replays it`);
  if (role.engine !== 'command' && task.run !== null)
    check.warn(
      [...at, 'run'],
      `has no effect: the role "${task.role}" has the engine "${role.engine}"; only "command" runs it`,
    );
  if (role.engine !== 'scripted' && task.script.length > 0)
    check.warn(
      [...at, 'script'],
      `has no effect: the role "${task.role}" has the engine "${role.engine}"; only "scripted" replays it`,
    );
  if (task.run?.[0]?.trim() === '') check.say([...at, 'run', 0], 'is empty; the first entry is the program');
  if (task.run?.length === 1 && /\s/.test(task.run[0] ?? ''))
    check.say(
      [...at, 'run'],
      'is one entry with blanks; there is no shell: give program and arguments one by one, ["node", "tools/x.mjs"]',
    );
}

/** Unknown names, a task that waits for itself; scaffold and breaks. Not expanded fan-outs count as known by name only. */
export function checkReferences(check: Checking, spec: RawSpec, placed: Placed): void {
  const ids = new Set(placed.tasks.map(({ task }) => task.id));
  const known = [...ids, ...placed.groups.keys()];
  const templates = placed.expanded ? [] : spec.fanOut.map((fanOut) => anyGlob([fanOut.id.replace(/\{\w+\}/g, '*')]));
  const exists = (id: string): boolean =>
    ids.has(id) || placed.groups.has(id) || templates.some((matches) => matches(id));
  for (const { task, at, fanOut } of placed.tasks) {
    task.dependsOn.forEach((id, i) => {
      if (id === task.id) check.say([...at, 'dependsOn', i], `the task "${id}" depends on itself`);
      else if (fanOut !== null && placed.groups.get(id)?.includes(task.id))
        check.say([...at, 'dependsOn', i], `the tasks of the fan-out "${id}" depend on themselves`);
      else if (!exists(id)) check.say([...at, 'dependsOn', i], `there is no task "${id}"${didYouMean(id, known)}`);
    });
  }
  for (const list of ['scaffold', 'breaks'] as const) {
    spec.policy[list].forEach(
      (id, i) => exists(id) || check.say(['policy', list, i], `there is no task "${id}"${didYouMean(id, known)}`),
    );
  }
  const scaffold = new Set(spec.policy.scaffold.flatMap((id) => placed.groups.get(id) ?? [id]));
  for (const { task, at } of placed.tasks) {
    if (!scaffold.has(task.id)) continue;
    task.dependsOn.forEach((id, i) => {
      if (exists(id) && !(placed.groups.get(id) ?? [id]).every((one) => scaffold.has(one))) {
        check.say(
          [...at, 'dependsOn', i],
          `the scaffold task "${task.id}" depends on "${id}", which is not in policy.scaffold: scaffolding comes before everything else`,
        );
      }
    });
  }
}

interface Territory {
  readonly globs: readonly string[];
  readonly exempt: string | null;
  readonly say: (file: string, task: RawTask) => string;
}

/** Files that are not a task's to write: manifests, contracts, gate configuration and protected files, preset tests. */
export function checkTerritory(
  check: Checking,
  tasks: readonly PlacedTask[],
  lists: {
    manifests: readonly string[];
    contracts: readonly string[];
    protected: readonly string[];
    gateFiles: readonly string[];
  },
): void {
  const presets = [...new Set(tasks.flatMap(({ task }) => Object.keys(task.tests)))];
  const own = 'put it under files.forbid or narrow the glob';
  const territories: Territory[] = [
    {
      globs: lists.manifests,
      exempt: 'dependency-update',
      say: (file, task) =>
        `"${file}" is a dependency manifest or lockfile; only a task of kind dependency-update may change it, this one is ${task.kind}: change the kind, or ${own}`,
    },
    {
      globs: lists.contracts,
      exempt: 'interface-change',
      say: (file, task) =>
        `"${file}" is an interface contract (repository.contracts); only a task of kind interface-change may change it, this one is ${task.kind}: change the kind, or ${own}`,
    },
    {
      globs: lists.gateFiles.map(escapeGlob),
      exempt: null,
      say: (file) =>
        `"${file}" is run or read by a gate command; no task may change what decides whether it is green: ${own}`,
    },
    {
      globs: lists.protected,
      exempt: null,
      say: (file) =>
        `"${file}" is protected (gate configuration; repository.protected); no task may change it: ${own}, or list what is protected without it`,
    },
    {
      globs: presets.map(escapeGlob),
      exempt: null,
      say: (file) => `"${file}" is a preset acceptance test; no task may change it: ${own}`,
    },
  ];
  for (const territory of territories) {
    const inside = anyGlob(territory.globs);
    const existing = territory.globs
      .filter(isLiteral)
      .map(unescapeGlob)
      .filter((path) => presets.includes(path));
    const held = matchingPaths([...new Set([...(check.files ?? []).filter(inside), ...existing])]);
    for (const { task, at, fanOut } of tasks) {
      if (task.kind === territory.exempt) continue;
      const forbidden = anyGlob(task.files.forbid);
      task.files.allow.forEach((glob, i) => {
        const literal = unescapeGlob(glob);
        const file = isLiteral(glob)
          ? inside(literal) && !forbidden(literal)
            ? literal
            : undefined
          : held(glob).find((path) => !forbidden(path));
        if (file !== undefined)
          check.say(
            [...at, 'files', 'allow', i],
            (fanOut === null ? '' : `task "${task.id}": `) + territory.say(file, task),
          );
      });
    }
  }
}

/** Preset tests with their content; a path that is not in the base commit, and two contents for one path, are problems. */
export function resolveTests(check: Checking, tasks: readonly PlacedTask[]): Map<string, Record<string, string>> {
  const seen = new Map<string, { content: string; task: string }>();
  const out = new Map<string, Record<string, string>>();
  for (const { task, at } of tasks) {
    const resolved: Record<string, string> = {};
    for (const [path, test] of Object.entries(task.tests)) {
      const where = [...at, 'tests', path];
      let content: string | null = typeof test === 'string' ? '' : test.content;
      if (typeof test === 'string' && check.files !== null) {
        content = check.fileSet.has(test) ? check.content(test) : null;
        if (content === null) {
          check.say(
            where,
            `"${test}" is not a text file of the base commit${didYouMean(test, check.files.filter((file) => file.includes('test') || file.includes('spec')).slice(0, 2000))}; the content can also be given in place: {content: "…"}`,
          );
          continue;
        }
      }
      if (typeof test !== 'string' && test.content.trim() === '') check.say(where, 'is an empty test');
      const other = seen.get(path);
      if (other !== undefined && other.content !== content)
        check.say(where, `the task "${other.task}" presets another content for the same path`);
      else seen.set(path, { content: content ?? '', task: task.id });
      resolved[path] = content ?? '';
    }
    out.set(task.id, resolved);
  }
  return out;
}
