/** The part of the table of fields that describes tasks and fan-outs. */
import { choice, duration, flag, number, optionalText, optionalTexts, text, texts, type Value } from './field.ts';
import { either, group, list, map } from './field-groups.ts';
import { ROLE_NAMES, TASK_KINDS } from './model.ts';

/** Most tasks in a run, expanded ones included. */
export const MAX_TASKS = 5000;

const edit = group({
  path: text('File in the repository.'),
  content: optionalText('The whole new content; null deletes the file.', { shown: 'null' }),
});

const recordedAttempt = group({
  edits: list('Files as this attempt leaves them.', edit, { max: 1000 }),
  wait: duration('How long the attempt works before it writes.', { min: '0s', max: '24h', default: '0s' }),
  exitCode: number('The exit code with which it ends.', { min: 0, max: 255, unit: '', default: 0 }),
});

const presetTest = either(
  'A path in the base commit, or the content itself.',
  text('Path in the base commit.'),
  group({ content: text('The test itself, where it is no file of the base commit.') }),
);

const task = {
  kind: choice(
    'What sort of change it is. Only a `dependency-update` may change manifests, only an `interface-change` contracts.',
    TASK_KINDS,
    'work',
  ),
  goal: text('What is to be done, so that somebody else can tell whether it was. Markdown.'),
  interface: text('What others may rely on: signatures, endpoints, formats. Markdown.', { default: '', shown: 'none' }),
  files: group({
    allow: texts(
      'Globs of the files that the task may add, change or delete. Nothing else it does reaches the mainline.',
      {
        limits: 'at least one; relative to the root of the repository; no "..", no backslash',
      },
    ),
    forbid: texts('Globs taken out of `allow` again; they win.', { default: [] }),
    reference: texts('Globs of files to read; their signatures become part of the prompt.', { default: [] }),
  }),
  acceptance: texts('What must be true afterwards, one checkable sentence each.', { limits: 'at least one' }),
  tests: map(
    'Preset acceptance tests, by the path at which they run; written over whatever the agent did there. A value is a path in the base commit, or `{content: "…"}`.',
    presetTest,
  ),
  dependsOn: texts(
    'Tasks, or names of fan-outs (meaning all their tasks), that must have landed and been verified before this one starts.',
    { default: [] },
  ),
  priority: number('Among ready tasks the highest goes first.', { min: -1000, max: 1000, unit: '', default: 0 }),
  role: choice('The role of the spec that carries it out.', ROLE_NAMES, 'worker'),
  run: optionalTexts('Command and arguments for the `command` engine, run in the checkout without a shell.'),
  script: list(
    'Recorded attempts for the `scripted` engine: attempt n replays entry n, later ones the last entry.',
    recordedAttempt,
    { max: 100 },
  ),
  mayBeEmpty: flag('true: an attempt that changes nothing is a success. Otherwise it is a failed attempt.', false),
};

const ID_LIMITS =
  'a-z, 0-9, ".", "_", "-"; starts with a letter or digit; at most 63 characters; safe as ref, container and file name';

export const taskFields = group({
  id: text('Name of the task, used in refs, containers and logs.', { limits: ID_LIMITS }),
  ...task,
});

export const fanOutFields = group({
  name: text('Name of the group, for dependsOn. Default: the part of `id` before the first placeholder.', {
    default: '',
    shown: 'from `id`',
    limits: ID_LIMITS,
  }),
  id: text(
    'Template of the ids: `{stem}`, `{file}`, `{dir}` (lower-cased, other characters as "-") or `{n}` (from 1) must make them differ.',
  ),
  over: group({
    files: texts('Globs over the base commit: one task for each file that matches (or for each chunk).', {
      limits: 'at least one',
    }),
    except: texts('Globs of files to leave out.', { default: [] }),
    chunk: number('Files in one task. Above 1 the template has `{files}` instead of `{file}`, `{stem}` and `{dir}`.', {
      min: 1,
      max: 1000,
      unit: 'files',
      default: 1,
    }),
  }),
  task: group(task),
});

export { ID_LIMITS };
export type RawTask = Value<typeof taskFields>;
export type RawFanOut = Value<typeof fanOutFields>;
export type RawTaskBody = Omit<RawTask, 'id'>;
