/**
 * The order of the plan as it would be with an answer: unknown names, cycles, tasks that could run together and may write the same file.
 *
 * 1. `after` holds every task of the plan that is not dropped, then the answer's, with all their dependencies.
 */
import type { Checking } from '../checking.ts';
import { findCycles } from '../dag.ts';
import { findOverlaps } from '../overlap.ts';
import type { PathPart } from '../problems.ts';
import { didYouMean } from '../problems.ts';
import type { PlannerAnswer } from './answer.ts';
import type { PlanContext, PlannedTask } from './context.ts';

export interface PlannedAfter extends PlannedTask {
  /** Index in the answer; null: it was in the plan before. */
  readonly index: number | null;
}
export interface PlanOrder {
  readonly after: readonly PlannedAfter[];
  /** By task of the answer. */
  readonly dependsOn: ReadonlyMap<string, readonly string[]>;
  /** For tasks that were in the plan. */
  readonly added: readonly { readonly task: string; readonly on: string }[];
}

const OVERLAPS_SHOWN = 50;

export function checkOrder(check: Checking, answer: PlannerAnswer, context: PlanContext): PlanOrder {
  const earlier = new Map(context.tasks.map((task) => [task.id, task]));
  const own = new Map(answer.tasks.map((task, i) => [task.id, i]));
  const scopes = new Set(answer.scopes.map(({ id }) => id));
  const replaced = checkDrops(check, answer, earlier, own);
  const known = [...earlier.keys(), ...own.keys()].filter((id) => !replaced.has(id));
  const knownSet = new Set(known);

  const sayUnknown = (at: readonly PathPart[], id: string, among: readonly string[]): void => {
    if (replaced.has(id)) check.say(at, `the task "${id}" is dropped in this answer`);
    else if (scopes.has(id) || context.scopeIds.includes(id))
      check.say(at, `"${id}" is a scope; tasks depend on tasks (plan what needs it once its tasks have landed)`);
    else check.say(at, `there is no task "${id}"${didYouMean(id, among)}`);
  };
  const sayIfDead = (at: readonly PathPart[], id: string): void => {
    if (earlier.get(id)?.dead === true && !own.has(id))
      check.say(at, `the task "${id}" was cancelled or skipped; it will never land, and nothing can wait for it`);
  };
  const extra = new Map<string, Set<string>>();
  const addEdge = (task: string, on: string): void => void extra.set(task, (extra.get(task) ?? new Set()).add(on));

  answer.tasks.forEach((task, i) => {
    task.dependsOn.forEach((id, j) => {
      const at = ['tasks', i, 'dependsOn', j];
      if (id === task.id) check.say(at, `the task "${id}" depends on itself`);
      else if (!knownSet.has(id)) sayUnknown(at, id, known);
      else sayIfDead(at, id);
    });
  });
  answer.dependencies.forEach(({ task, on }, i) => {
    const at = ['dependencies', i];
    if (!knownSet.has(task)) sayUnknown([...at, 'task'], task, known);
    else if (earlier.get(task)?.started === true && !own.has(task))
      check.say([...at, 'task'], `the task "${task}" has started; it cannot be made to wait`);
    else if (!knownSet.has(on)) sayUnknown([...at, 'on'], on, known);
    else if (task === on) check.say([...at, 'on'], `the task "${task}" depends on itself`);
    else {
      sayIfDead([...at, 'on'], on);
      addEdge(task, on);
    }
  });
  answer.scopes.forEach(({ id: scope, dependsOn }, i) =>
    dependsOn.forEach((id, j) => {
      const at = ['scopes', i, 'dependsOn', j];
      if (id === scope) check.say(at, `the sub-scope "${scope}" depends on itself`);
      else if (!knownSet.has(id) && !scopes.has(id))
        check.say(at, `there is no sub-scope or task "${id}"${didYouMean(id, [...known, ...scopes])}`);
      else sayIfDead(at, id);
    }),
  );

  const edgesOf = (id: string, dependsOn: readonly string[]): string[] => [
    ...new Set([...dependsOn, ...(extra.get(id) ?? [])].flatMap((dep) => replaced.get(dep) ?? dep)),
  ];
  const after: PlannedAfter[] = [
    ...context.tasks
      .filter(({ id }) => !replaced.has(id))
      .map((task) => ({ ...task, dependsOn: edgesOf(task.id, task.dependsOn), index: null })),
    ...answer.tasks.map((task, index) => ({
      ...task,
      dependsOn: edgesOf(task.id, task.dependsOn).filter((id) => knownSet.has(id) && id !== task.id),
      tests: Object.keys(task.tests),
      started: false,
      closed: false,
      dead: false,
      index,
    })),
  ];
  const isClean = checkCycles(check, answer, after);
  const serial = isClean ? checkOverlaps(check, context, after) : [];
  for (const { task, on } of serial) addEdge(task, on);
  return {
    after,
    dependsOn: new Map(
      answer.tasks.map((task) => [task.id, edgesOf(task.id, task.dependsOn).filter((id) => knownSet.has(id))]),
    ),
    added: context.tasks.flatMap(({ id, dependsOn, started }) =>
      started || replaced.has(id)
        ? []
        : edgesOf(id, dependsOn)
            .filter((on) => !dependsOn.includes(on))
            .map((on) => ({ task: id, on })),
    ),
  };
}

/** What stands for each dropped task. */
function checkDrops(
  check: Checking,
  answer: PlannerAnswer,
  earlier: ReadonlyMap<string, PlannedTask>,
  own: ReadonlyMap<string, number>,
): Map<string, readonly string[]> {
  const replaced = new Map<string, readonly string[]>();
  answer.drop.forEach(({ task: id, why, replacedBy }, i) => {
    const at = ['drop', i];
    const task = earlier.get(id);
    if (task === undefined)
      check.say([...at, 'task'], `there is no earlier task "${id}"${didYouMean(id, [...earlier.keys()])}`);
    else if (task.started) check.say([...at, 'task'], `the task "${id}" has started; it cannot be dropped`);
    else if (replaced.has(id)) check.say([...at, 'task'], `the task "${id}" is dropped twice`);
    else replaced.set(id, replacedBy);
    if (why.trim() === '') check.say([...at, 'why'], 'is empty; say why the task is not needed as it stands');
    replacedBy.forEach((by, j) => {
      if (!own.has(by))
        check.say(
          [...at, 'replacedBy', j],
          `there is no task "${by}" in this answer${didYouMean(by, [...own.keys()])}`,
        );
    });
  });
  for (const { id, dependsOn } of earlier.values()) {
    if (replaced.has(id)) continue;
    for (const dep of dependsOn) {
      if (replaced.get(dep)?.length !== 0) continue;
      const i = answer.drop.findIndex(({ task }) => task === dep);
      check.say(
        ['drop', i, 'replacedBy'],
        `is empty, but "${id}" depends on "${dep}"; name what does its work, or drop "${id}" too`,
      );
    }
  }
  return replaced;
}

/** false: there is a cycle, or an id stands for two. */
function checkCycles(check: Checking, answer: PlannerAnswer, after: readonly PlannedAfter[]): boolean {
  const scopes = answer.scopes.map(({ id, dependsOn }) => ({ id, dependsOn }));
  const nodes = [...after, ...scopes];
  const cycles = findCycles(nodes);
  for (const cycle of cycles) {
    const scope = answer.scopes.findIndex(({ id }) => cycle.includes(id));
    const task = after.find(({ id, index }) => index !== null && cycle.includes(id))?.index ?? -1;
    const at =
      scope >= 0 ? ['scopes', scope, 'dependsOn'] : task >= 0 ? ['tasks', task, 'dependsOn'] : ['dependencies'];
    const names = [...cycle, cycle[0]].map((id) => `"${id}"`).join(' → ');
    check.say(at, `a cycle: ${names} (each depends on the next); none of them could ever start`);
  }
  return cycles.length === 0 && new Set(nodes.map(({ id }) => id)).size === nodes.length;
}

/** Dependencies that put overlapping tasks one after the other, where the spec says so. */
function checkOverlaps(
  check: Checking,
  { spec, files }: PlanContext,
  after: readonly PlannedAfter[],
): { task: string; on: string }[] {
  const open = after.filter(({ closed }) => !closed);
  const overlaps = findOverlaps(open, {
    serialise: spec.policy.overlap === 'serialise',
    union: spec.repository.union,
    files,
    limit: OVERLAPS_SHOWN,
  });
  for (const { earlier, later, earlierGlob, laterGlob, example } of overlaps.found) {
    const [a, b] = [open[earlier]!, open[later]!];
    const [told, other, glob] = b.index === null ? [a, b, earlierGlob] : [b, a, laterGlob];
    if (told.index === null) continue;
    const shared = earlierGlob === laterGlob ? `"${glob}"` : `"${earlierGlob}" and "${laterGlob}"`;
    check.say(
      ['tasks', told.index, 'files', 'allow', told.files.allow.indexOf(glob)],
      `the tasks "${other.id}" and "${told.id}" could run together and may write the same file: ${shared}${example === null ? '' : `, for example "${example}"`}; narrow one of them, or let one depend on the other`,
    );
  }
  return overlaps.edges.flatMap(({ earlier, later }) => {
    const [a, b] = [open[earlier]!, open[later]!];
    return b.started || (a.index === null && b.index === null) ? [] : [{ task: b.id, on: a.id }];
  });
}
