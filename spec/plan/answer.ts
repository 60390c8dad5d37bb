/**
 * What a planner answers: the table of its fields, from which come the schema that judges it and the page that its prompt shows.
 *
 * 1. Tasks are raw Task Specs as in a spec, with the same fields and meanings.
 * 2. Every list and text has a limit; all of them together stay far below what one payload of a workflow may hold.
 */
import { flag, text, texts, type FieldRow, type Value } from '../field.ts';
import { group, list } from '../field-groups.ts';
import { taskFields } from '../fields-task.ts';

/** Characters of one text (a goal, an interface, a decision). */
export const MAX_TEXT = 8_000;
/** Bytes of an answer as JSON: half of what a payload may hold. */
export const MAX_ANSWER_BYTES = 1024 * 1024;
const LIMIT = `at most ${MAX_TEXT} characters`;

const decision = group({
  id: text('Name of the decision; code refers to it by `swarm:decision <id>` in a comment.', {
    limits: 'a-z, 0-9, "." and "-"; starts and ends with a letter or digit; at most 63 characters',
  }),
  subject: text('What is decided about, in a few words: "format of money amounts".', {
    limits: 'at most 200 characters',
  }),
  text: text('What everybody must follow, and why. Markdown.', { limits: LIMIT }),
  interfaces: texts('Names that it fixes: types, functions, endpoints, tables, files.', { default: [] }),
  supersedes: text('Id of an earlier decision of yours that this one replaces.', { default: '', shown: 'none' }),
});

const scope = group({
  id: text('Name of the sub-scope.', { limits: 'as for tasks' }),
  goal: text('What is true when it is done. Markdown: all that its planner is told beside the decisions.', {
    limits: LIMIT,
  }),
  files: texts('Globs within which its planner plans. They may share no path with those of another sub-scope.', {
    limits: 'at least one',
  }),
  interface: text('What others may rely on; required when something depends on it. Markdown.', {
    default: '',
    shown: 'none',
    limits: LIMIT,
  }),
  dependsOn: texts('Sub-scopes of this answer, and tasks, that must have landed before planning starts there.', {
    default: [],
  }),
});

const dependency = group({
  task: text('A task of this answer, or an earlier one that has not started.'),
  on: text('The task that must have landed before it starts.'),
});

const integration = group({
  of: text('A task that others depend on.'),
  by: text('The task that brings the test: the same, or one that depends on it.'),
  test: text(
    'Path of a test, among the files that `by` may write or its preset tests, that runs the real thing, no mock of it.',
  ),
});

const dropped = group({
  task: text('An earlier task that has not started.'),
  why: text('Why it is not needed, or cannot be done, as it stands.', { limits: LIMIT }),
  replacedBy: texts('Tasks of this answer that do its work; what depends on it will depend on them.', { default: [] }),
});

export const answerFields = group({
  decisions: list('What everybody below must follow.', decision, { max: 200 }),
  scopes: list('Parts that planners of their own plan.', scope, { max: 100 }),
  tasks: list('Task Specs that are ready to be carried out.', taskFields, { max: 1_000 }),
  dependencies: list('More dependencies, beside `dependsOn`.', dependency, { max: 5_000 }),
  integration: list('For every task that others depend on: the test that runs the real thing.', integration, {
    max: 1_000,
  }),
  drop: list('Earlier tasks to take out again.', dropped, { max: 1_000 }),
  scaffold: texts(
    'In an empty repository: tasks of this answer that make what the gate needs, judged by their own criteria. Everything else waits for them.',
    { default: [] },
  ),
  done: flag('true: nothing more is to be planned here. Needed where an answer is otherwise empty.', false),
});

export type PlannerAnswer = Value<typeof answerFields>;
export type AnsweredDecision = PlannerAnswer['decisions'][number];
export type AnsweredScope = PlannerAnswer['scopes'][number];
export type AnsweredTask = PlannerAnswer['tasks'][number];

/** Fields that only engines without a model need. */
const NOT_SHOWN = /^tasks\[\]\.(?:run|script|priority|mayBeEmpty)\b/;

export const ANSWER_FIELDS: readonly FieldRow[] = answerFields.rows('');

/** The fields of an answer, one line each, for a prompt. */
export function answerPage(): string {
  return ANSWER_FIELDS.filter(({ path }) => !NOT_SHOWN.test(path))
    .map(({ path, type, default: fallback, meaning, limits }) => {
      const about = [type.replaceAll('\\|', '|'), fallback === null ? 'required' : '', limits]
        .filter(Boolean)
        .join('; ');
      return `- \`${path}\` (${about}): ${meaning}`;
    })
    .join('\n');
}
