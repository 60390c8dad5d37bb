/**
 * Upstream must be real: whoever depends on a task can read its interface, and somewhere a test runs the thing itself.
 *
 * 1. A task that others depend on states its interface.
 * 2. It has an integration check: a test that the task, or one that depends on it, brings and that runs it for real. Not asked of what
 *    has nothing to run: interfaces alone (`interface-change`), dependencies, and what a file being split or sides being reconciled was.
 * 3. A task that tests against a mock depends on what the mock stands for; by 2 that is then run for real.
 */
import type { Checking } from '../checking.ts';
import { anyGlob, globProblem, isLiteral, unescapeGlob } from '../globs.ts';
import { didYouMean } from '../problems.ts';
import type { PlannerAnswer } from './answer.ts';
import type { PlannedAfter } from './check-order.ts';
import type { PlanContext } from './context.ts';

const NOTHING_TO_STATE: ReadonlySet<string> = new Set(['dependency-update', 'fix', 'merge', 'review']);
const RUNS: ReadonlySet<string> = new Set(['work']);

export function checkUpstream(
  check: Checking,
  answer: PlannerAnswer,
  context: PlanContext,
  after: readonly PlannedAfter[],
): void {
  const dependants = new Map<string, PlannedAfter[]>();
  for (const task of after) for (const id of task.dependsOn) dependants.set(id, [...(dependants.get(id) ?? []), task]);
  const checked = checkIntegration(check, answer, after);
  for (const id of context.integrated) checked.add(id);
  for (const task of after) {
    const newDependant = dependants.get(task.id)?.find(({ index }) => index !== null);
    const isConcerned = dependants.has(task.id) && (task.index !== null || newDependant !== undefined);
    if (!isConcerned || task.closed) continue;
    const by = (dependants.get(task.id) ?? []).map(({ id }) => `"${id}"`).join(', ');
    const at = task.index === null ? ['tasks', newDependant!.index!, 'dependsOn'] : ['tasks', task.index, 'interface'];
    if (task.interface.trim() === '' && !NOTHING_TO_STATE.has(task.kind))
      check.say(
        at,
        `"${task.id}" states no interface, but ${by} ${dependants.get(task.id)!.length === 1 ? 'depends' : 'depend'} on it; write what they may rely on: signatures, endpoints, formats`,
      );
    if (RUNS.has(task.kind) && !checked.has(task.id) && !isScaffold(task, answer, context))
      check.say(
        task.index === null ? ['tasks', newDependant!.index!, 'dependsOn'] : ['tasks', task.index],
        `"${task.id}" has no integration check, so that ${by} could be tested against mocks only; add {"of": "${task.id}", "by": …, "test": …} to "integration", a test that runs the real thing`,
      );
  }
  const scopeDependants = new Map(
    answer.scopes.flatMap(({ id, dependsOn }) => dependsOn.map((on) => [on, id] as const)),
  );
  answer.scopes.forEach(({ id, interface: stated }, i) => {
    const by = scopeDependants.get(id);
    if (by !== undefined && stated.trim() === '')
      check.say(
        ['scopes', i, 'interface'],
        `is empty, but the sub-scope "${by}" depends on this one; write what it may rely on`,
      );
  });
  checkMocks(check, answer);
}

/** What only makes the gate able to run has nothing of its own to run. */
const isScaffold = ({ id, scaffold }: PlannedAfter, answer: PlannerAnswer, { spec }: PlanContext): boolean =>
  scaffold === true || answer.scaffold.includes(id) || spec.policy.scaffold.includes(id);

/** Ids of tasks for which a test runs the real thing. */
function checkIntegration(check: Checking, answer: PlannerAnswer, after: readonly PlannedAfter[]): Set<string> {
  const byId = new Map(after.map((task) => [task.id, task]));
  const reaches = (from: string, to: string, seen = new Set<string>()): boolean =>
    from === to ||
    (byId.get(from)?.dependsOn ?? []).some((id) => !seen.has(id) && (seen.add(id), reaches(id, to, seen)));
  const done = new Set<string>();
  answer.integration.forEach(({ of, by, test }, i) => {
    const at = ['integration', i];
    const [upstream, author] = [byId.get(of), byId.get(by)];
    if (upstream === undefined) check.say([...at, 'of'], `there is no task "${of}"${didYouMean(of, [...byId.keys()])}`);
    if (author === undefined) check.say([...at, 'by'], `there is no task "${by}"${didYouMean(by, [...byId.keys()])}`);
    if (upstream === undefined || author === undefined) return;
    const path = unescapeGlob(test);
    const why = globProblem(test) ?? (isLiteral(test) ? null : 'is a glob; name one file');
    if (!reaches(by, of))
      check.say(
        [...at, 'by'],
        `"${by}" does not depend on "${of}", so that the real one is not there when its test runs`,
      );
    else if (why !== null) check.say([...at, 'test'], why);
    else if (!author.tests.includes(path) && (!anyGlob(author.files.allow)(path) || anyGlob(author.files.forbid)(path)))
      check.say([...at, 'test'], `"${path}" is none of the files that "${by}" may write, nor one of its preset tests`);
    else done.add(of);
  });
  return done;
}

const MOCK = /\b(mock|stub|fake|dummy|simulated?)(?:s|ed|ing)?\b/i;
const NEVER = /\b(?:no|not|non|never|without|instead of|rather than|any|avoid|remove[sd]?|real)\b[^.;\n]{0,40}$/i;

/** The word by which a text says that something is tested against a stand-in; null: it does not. */
export function mockWord(text: string): string | null {
  for (const match of text.matchAll(new RegExp(MOCK, 'gi'))) {
    const before = text.slice(Math.max(0, match.index - 60), match.index);
    const after = text.slice(match.index + match[0].length, match.index + match[0].length + 12);
    if (!NEVER.test(before) && !/^\s*(?:timers?|clocks?|time|dates?)\b/i.test(after)) return match[0];
  }
  return null;
}

function checkMocks(check: Checking, answer: PlannerAnswer): void {
  const waits = new Set(answer.dependencies.map(({ task }) => task));
  answer.tasks.forEach((task, i) => {
    if (task.dependsOn.length > 0 || waits.has(task.id)) return;
    const word = [task.goal, ...task.acceptance].map(mockWord).find((found) => found !== null);
    if (word !== undefined)
      check.say(
        ['tasks', i, 'dependsOn'],
        `is empty, but the task is tested against something else than the real thing ("${word}"): depend on the task that makes it`,
      );
  });
}
