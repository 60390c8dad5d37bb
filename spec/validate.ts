/**
 * From the data of a spec to a compiled spec, or to everything that is wrong with it. Pure: what lies in the repository comes in
 * as a list of paths; whether it can be reached is the caller's to find out (repositoryProblem words what it found).
 *
 * Invariants
 * 1. All problems come back at once, each with the path of its field. Values that may be secrets are never repeated.
 * 2. `spec` is null if and only if there is a problem. Warnings do not count.
 * 3. A compiled spec has no cycle, no unknown name, and no two tasks that could run together and may write the same file.
 */
import { checkReferences, checkTaskBody, checkTerritory, resolveTests } from './check-tasks.ts';
import { checkRun } from './check-run.ts';
import { compileGate, gateFiles } from './check-gate.ts';
import { Checking, type SpecContext } from './checking.ts';
import { compileSpec, compileTask } from './compile.ts';
import { findCycles } from './dag.ts';
import { USUAL_MANIFESTS, USUAL_PROTECTED } from './defaults.ts';
import { specFields, type RawSpec } from './fields.ts';
import { MAX_TASKS } from './fields-task.ts';
import { isLiteral, anyGlob, unescapeGlob } from './globs.ts';
import type { CompiledSpec, Problem } from './model.ts';
import { looksSecret } from './names.ts';
import { findOverlaps } from './overlap.ts';
import { payloadProblem, utf8Bytes } from './payload.ts';
import { placeTasks, type Placed } from './place-tasks.ts';
import type { PathPart } from './problems.ts';
import { bySpecOrder, isDeep, shapeProblems } from './shape-problems.ts';

export type { SpecContext } from './checking.ts';

export interface Validated {
  readonly spec: CompiledSpec | null;
  readonly problems: Problem[];
  /** Accepted, but without effect or probably not what was meant. */
  readonly warnings: Problem[];
  /**
   * false: the files of the base commit were not known, so that the tasks of fan-outs are missing from `spec` and preset tests
   * given by path are empty. Good for finding the repository, not for running: validate again with its files.
   */
  readonly complete: boolean;
}

/** Overlaps named one by one; beyond it they are counted. */
const OVERLAPS_SHOWN = 50;
const MAX_DEPTH = 40;

/** Checks and compiles a spec. See the head of this file. */
export function validateSpec(input: unknown, context: SpecContext): Validated {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return {
      spec: null,
      problems: [{ path: '', message: 'a spec is an object with fields such as name, goal, repository, gate' }],
      warnings: [],
      complete: false,
    };
  }
  if (isDeep(input, MAX_DEPTH)) {
    return {
      spec: null,
      problems: [{ path: '', message: `is nested more than ${MAX_DEPTH} levels deep; a spec needs fewer than ten` }],
      warnings: [],
      complete: false,
    };
  }
  const parsed = specFields.strict.safeParse(input);
  const shape = parsed.success ? [] : shapeProblems(parsed.error.issues, input);
  const raw: RawSpec = parsed.success ? parsed.data : specFields.lenient.parse(input);
  const check = new Checking(context, shape);

  checkSecrets(check, input, []);
  check.sayIf([], payloadProblem(utf8Bytes(JSON.stringify(input)))?.message ?? null);
  checkRun(check, raw);
  const gate = compileGate(check, raw.gate);
  const named = gateFiles(gate.steps, (path) => check.fileSet.has(path));
  const manifests = raw.repository.manifests ?? USUAL_MANIFESTS;
  const isProtected = raw.repository.protected ?? (raw.repository.empty ? [] : USUAL_PROTECTED);

  if (raw.tasks.length === 0 && raw.fanOut.length === 0 && raw.roles.planner === null)
    check.say(['tasks'], 'there is nothing to do: write tasks or a fanOut, or name a planner (roles.planner)');
  raw.tasks.forEach((task, i) => checkTaskBody(check, task, ['tasks', i], raw.roles));
  raw.fanOut.forEach((fanOut, i) => checkTaskBody(check, fanOut.task, ['fanOut', i, 'task'], raw.roles));
  const placed = placeTasks(check, raw);
  if (placed.tasks.length > MAX_TASKS)
    check.say(['tasks'], `are ${placed.tasks.length}; a run has at most ${MAX_TASKS}`);
  checkReferences(check, raw, placed);
  checkTerritory(check, placed.tasks, {
    manifests,
    contracts: raw.repository.contracts,
    protected: isProtected,
    gateFiles: named,
  });
  checkReading(check, placed);
  const tests = resolveTests(check, placed.tasks);

  const expand = groupExpander(placed);
  const dependsOn = placed.tasks.map(({ task }) => expand(task.dependsOn));
  const extra = orderTasks(check, raw, placed, dependsOn);
  const problems = [...shape, ...check.problems].toSorted(bySpecOrder);
  const tasks = placed.tasks.map(({ task }, i) =>
    compileTask(task, [...(dependsOn[i] ?? []), ...(extra.get(i) ?? [])], tests.get(task.id) ?? {}),
  );
  const spec = compileSpec(raw, {
    gate,
    tasks,
    manifests,
    protected: [...new Set([...isProtected, ...named])],
    scaffold: expand(raw.policy.scaffold),
    breaks: expand(raw.policy.breaks),
  });
  return {
    spec: problems.length > 0 ? null : spec,
    problems,
    warnings: check.warnings,
    complete: context.files !== null,
  };
}

/** Cycles; then overlaps, as problems or as added dependencies by index of the task. */
function orderTasks(
  check: Checking,
  raw: RawSpec,
  placed: Placed,
  dependsOn: readonly string[][],
): Map<number, string[]> {
  const tasks = placed.tasks.map(({ task }, i) => ({
    id: task.id,
    kind: task.kind,
    files: task.files,
    dependsOn: dependsOn[i] as string[],
  }));
  const place = new Map(placed.tasks.map(({ task, at }) => [task.id, at]));
  const extra = new Map<number, string[]>();
  const cycles = findCycles(tasks);
  for (const cycle of cycles) {
    const names = [...cycle, cycle[0]].map((id) => `"${id}"`).join(' → ');
    check.say(
      [...(place.get(cycle[0] as string) as PathPart[]), 'dependsOn'],
      `a cycle: ${names} (each depends on the next); none of them could ever start`,
    );
  }
  if (cycles.length > 0 || new Set(tasks.map((task) => task.id)).size < tasks.length) return extra;
  const overlaps = findOverlaps(tasks, {
    serialise: raw.policy.overlap === 'serialise',
    union: raw.repository.union,
    files: check.files,
    limit: OVERLAPS_SHOWN,
  });
  for (const { earlier, later } of overlaps.edges)
    extra.set(later, [...(extra.get(later) ?? []), (tasks[earlier] as { id: string }).id]);
  for (const { earlier, later, earlierGlob, laterGlob, example } of overlaps.found) {
    const [a, b] = [placed.tasks[earlier], placed.tasks[later]] as [Placed['tasks'][number], Placed['tasks'][number]];
    const globs = earlierGlob === laterGlob ? `"${laterGlob}"` : `"${earlierGlob}" and "${laterGlob}"`;
    const index = b.fanOut === null ? [b.task.files.allow.indexOf(laterGlob)] : [];
    check.say(
      [...b.at, 'files', 'allow', ...index],
      `the tasks "${a.task.id}" and "${b.task.id}" could run together and may write the same file: ${globs}${example === null || isLiteral(laterGlob) ? '' : `, for example "${example}"`}; narrow one of them, let one depend on the other, or set policy.overlap: serialise`,
    );
  }
  const more = overlaps.total - overlaps.found.length;
  if (more > 0)
    check.say(
      [],
      `${more} more pairs of tasks could run together and may write the same file; policy.overlap: serialise would put them one after the other`,
    );
  return extra;
}

/** Replaces names of fan-outs by their tasks; each id once, unknown ones left out. */
function groupExpander({ tasks, groups }: Placed): (ids: readonly string[]) => string[] {
  const known = new Set(tasks.map(({ task }) => task.id));
  return (ids) => [...new Set(ids.flatMap((id) => groups.get(id) ?? id))].filter((id) => known.has(id));
}

/** Reference files that are not there, and that no task would make. */
function checkReading(check: Checking, { tasks }: Placed): void {
  if (check.files === null) return;
  let made: ((path: string) => boolean) | null = null;
  for (const { task, at } of tasks) {
    task.files.reference.forEach((glob, i) => {
      const path = unescapeGlob(glob);
      if (!isLiteral(glob) || check.fileSet.has(path)) return;
      made ??= anyGlob(tasks.flatMap((other) => other.task.files.allow));
      if (!made(path))
        check.warn([...at, 'files', 'reference', i], `"${path}" is not in the repository, and no task makes it`);
    });
  }
}

/** Strings of the shape of a key or token, anywhere. What a spec or a plan holds ends up in histories and logs. */
export function checkSecrets(check: Checking, value: unknown, at: PathPart[]): void {
  if (typeof value === 'string') {
    if (looksSecret(value))
      check.say(
        at,
        'contains something of the shape of a key or token (it is not repeated here); a spec is stored and shown: give the value to the worker and name it in repository.credentials. If it was a real one, revoke it',
      );
  } else if (Array.isArray(value)) value.forEach((entry, i) => checkSecrets(check, entry, [...at, i]));
  else if (typeof value === 'object' && value !== null)
    for (const [key, entry] of Object.entries(value)) checkSecrets(check, entry, [...at, key]);
}
