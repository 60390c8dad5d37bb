/**
 * Whether a planner's answer can become part of the plan: every problem at once, each with the path of its field in the answer.
 *
 * 1. What passes has ids that are safe and taken by nobody, no cycle, nothing outside the node's scope, sub-scopes that share no path,
 *    and no two tasks that could run together and may write the same file.
 * 2. `tasks` of a checked answer is empty unless there is no problem.
 * 3. Nothing that has begun is changed.
 */
import { checkTaskBody, checkTerritory, resolveTests } from '../check-tasks.ts';
import { checkSecrets } from '../validate.ts';
import { Checking } from '../checking.ts';
import { compileTask } from '../compile.ts';
import type { Problem, TaskSpec } from '../model.ts';
import { utf8Bytes } from '../payload.ts';
import { pathParts, problemsOf } from '../problems.ts';
import { isDeep, knownFields } from '../shape-problems.ts';
import { formatSize } from '../units.ts';
import { ANSWER_FIELDS, answerFields, MAX_ANSWER_BYTES, MAX_TEXT } from './answer.ts';
import type { PlannerAnswer } from './answer.ts';
import { checkDecisions } from './check-decisions.ts';
import { checkOrder } from './check-order.ts';
import { checkScopes } from './check-scopes.ts';
import { checkIds } from './check-ids.ts';
import { afterScaffold, checkScaffold } from './check-scaffold.ts';
import { checkUpstream } from './check-upstream.ts';
import type { PlanContext } from './context.ts';
import { jsonOf } from './json-of.ts';

export interface CheckedAnswer {
  readonly problems: readonly Problem[];
  /** With every default filled in; null when there is a problem. */
  readonly answer: PlannerAnswer | null;
  /** Its tasks with all their dependencies. */
  readonly tasks: readonly TaskSpec[];
  /** Dependencies to be added to tasks that were in the plan already. */
  readonly dependencies: readonly { readonly task: string; readonly on: string }[];
}

const MAX_DEPTH = 20;
const FIELD_ORDER = [
  '',
  ...Object.keys({ decisions: 0, scopes: 0, tasks: 0, dependencies: 0, integration: 0, drop: 0 }),
];
/** Problems in one report: a planner that is told more would read none. The rest is counted. */
export const PROBLEMS_SHOWN = 100;

const refused = (problems: readonly Problem[]): CheckedAnswer => ({
  problems,
  answer: null,
  tasks: [],
  dependencies: [],
});

/** What a planner said, from its text. */
export function readAnswer(text: string, context: PlanContext): CheckedAnswer {
  const found = jsonOf(text);
  return found.ok ? checkedAnswer(found.value, context) : refused([{ path: '', message: found.why }]);
}

/** Every problem of an answer; empty: it can become part of the plan. */
export function checkAnswer(input: unknown, context: PlanContext): readonly Problem[] {
  return checkedAnswer(input, context).problems;
}

export function checkedAnswer(input: unknown, context: PlanContext): CheckedAnswer {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    return refused([{ path: '', message: 'an answer is an object with decisions, scopes, tasks' }]);
  if (isDeep(input, MAX_DEPTH)) return refused([{ path: '', message: `is nested more than ${MAX_DEPTH} levels deep` }]);
  const bytes = utf8Bytes(JSON.stringify(input));
  if (bytes > MAX_ANSWER_BYTES) {
    const message = `is ${formatSize(bytes)} as JSON; at most ${formatSize(MAX_ANSWER_BYTES)}: plan less at once, in sub-scopes`;
    return refused([{ path: '', message }]);
  }
  const parsed = answerFields.strict.safeParse(input);
  const shape = parsed.success
    ? []
    : problemsOf(parsed.error.issues, (parts) => knownFields(ANSWER_FIELDS, parts), input);
  const answer = parsed.success ? parsed.data : answerFields.lenient.parse(input);
  const check = new Checking(context, shape);

  checkSecrets(check, input, []);
  checkLengths(check, answer);
  checkSize(check, answer, context);
  checkIds(check, answer, context);
  checkTasks(check, answer, context);
  checkScopes(check, answer, context);
  checkScaffold(check, answer, context);
  checkDecisions(check, answer, context);
  const order = checkOrder(check, answer, context);
  checkUpstream(check, answer, context, order.after);
  const placed = placedTasks(answer);
  const tests = resolveTests(check, placed);

  const problems = [...shape, ...check.problems].toSorted(byAnswerOrder);
  if (problems.length > 0) return refused(shown(problems));
  const tasks = answer.tasks.map((task) =>
    compileTask(
      withChecks(task, answer),
      afterScaffold(task.id, order.dependsOn.get(task.id) ?? [], answer, context),
      tests.get(task.id) ?? {},
    ),
  );
  return { problems: [], answer, tasks, dependencies: order.added };
}

/** Whoever brings an integration check is told so: its worker and its reviewers judge by the criteria, and see nothing else of the plan. */
function withChecks(task: PlannerAnswer['tasks'][number], { integration }: PlannerAnswer): typeof task {
  const checks = integration
    .filter(({ by }) => by === task.id)
    .map(
      ({ of, test }) =>
        `\`${test}\` runs what ${of === task.id ? 'this task' : `\`${of}\``} makes for real; no mock of it stands in.`,
    );
  return checks.length === 0 ? task : { ...task, acceptance: [...task.acceptance, ...checks] };
}

const placedTasks = (answer: PlannerAnswer) =>
  answer.tasks.map((task, i) => ({ task, at: ['tasks', i], idAt: ['tasks', i, 'id'], fanOut: null }));

/** Kinds of task that a planner may ask for; the others are made where what they answer is found. */
const PLANNED_KINDS: ReadonlySet<string> = new Set([
  'work',
  'interface-change',
  'dependency-update',
  'split',
  'reconcile',
]);
const PLANNED_ROLES: ReadonlySet<string> = new Set(['worker', 'merger', 'splitter', 'reconciler']);

function checkTasks(check: Checking, answer: PlannerAnswer, { spec, tasks }: PlanContext): void {
  answer.tasks.forEach((task, i) => {
    checkTaskBody(check, task, ['tasks', i], spec.roles);
    if (!PLANNED_KINDS.has(task.kind))
      check.say(['tasks', i, 'kind'], `"${task.kind}" is not planned; a plan has ${[...PLANNED_KINDS].join(', ')}`);
    if (!PLANNED_ROLES.has(task.role))
      check.say(
        ['tasks', i, 'role'],
        `a ${task.role} edits no files; a planned task has ${[...PLANNED_ROLES].join(', ')}`,
      );
  });
  checkTerritory(check, placedTasks(answer), {
    manifests: spec.repository.manifests,
    contracts: spec.repository.contracts,
    protected: [...spec.repository.protected, ...tasks.flatMap((task) => task.tests)],
    gateFiles: [],
  });
}

function checkSize(check: Checking, answer: PlannerAnswer, { bounds, tasks, decisions }: PlanContext): void {
  const open = tasks.length - answer.drop.length;
  if (answer.tasks.length > bounds.tasks)
    check.say(
      ['tasks'],
      `are ${answer.tasks.length}; one answer has at most ${bounds.tasks}: leave parts to sub-scopes`,
    );
  if (open + answer.tasks.length > bounds.totalTasks)
    check.say(
      ['tasks'],
      `would make ${open + answer.tasks.length} tasks in all; the plan has at most ${bounds.totalTasks}`,
    );
  if (decisions.length + answer.decisions.length > bounds.decisions)
    check.say(
      ['decisions'],
      `would make ${decisions.length + answer.decisions.length}; a plan has at most ${bounds.decisions}`,
    );
  const isEmpty = [answer.tasks, answer.scopes, answer.decisions, answer.drop, answer.dependencies].every(
    (list) => list.length === 0,
  );
  if (isEmpty && !answer.done)
    check.say([], 'plans nothing; give tasks or sub-scopes, or say "done": true when nothing more is needed here');
  if (answer.done && (answer.tasks.length > 0 || answer.scopes.length > 0))
    check.say(['done'], 'is true beside new tasks or sub-scopes; say it when there is nothing more to plan');
}

/** Texts of the answer's own fields; those of tasks too. */
function checkLengths(check: Checking, answer: PlannerAnswer): void {
  for (const list of ['decisions', 'scopes', 'tasks', 'drop'] as const) {
    answer[list].forEach((entry, i) => {
      for (const [key, value] of Object.entries(entry)) {
        for (const [j, one] of [value].flat().entries()) {
          const most = key === 'subject' ? 200 : MAX_TEXT;
          if (typeof one === 'string' && one.length > most)
            check.say(
              Array.isArray(value) ? [list, i, key, j] : [list, i, key],
              `is ${one.length} characters long; ${most} are allowed`,
            );
        }
      }
    });
  }
}

function byAnswerOrder(a: Problem, b: Problem): number {
  const key = ({ path }: Problem): [number, number] => {
    const [top = '', index = -1] = pathParts(path);
    return [FIELD_ORDER.indexOf(String(top)), Number(index)];
  };
  const [x, y] = [key(a), key(b)];
  return x[0] - y[0] || (x[1] || 0) - (y[1] || 0);
}

function shown(problems: readonly Problem[]): readonly Problem[] {
  const more = problems.length - PROBLEMS_SHOWN;
  return more <= 0
    ? problems
    : [...problems.slice(0, PROBLEMS_SHOWN), { path: '', message: `${more} more problems of these kinds` }];
}
