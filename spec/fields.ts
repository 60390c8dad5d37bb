/**
 * The table of fields: every field of a spec with its type, default, unit, meaning and limits, written once. From it come the
 * validation (validate.ts), the JSON Schema and the reference page (reference.ts, docs/spec.md). Its larger parts have files of their
 * own: fields-gate, -engines, -planning, -policy, -task.
 */
import {
  choice,
  choices,
  duration,
  flag,
  number,
  optionalText,
  optionalTexts,
  size,
  text,
  textMap,
  texts,
  type Block,
  type FieldRow,
  type Value,
} from './field.ts';
import { either, group, list, map, optional, withDefaults } from './field-groups.ts';
import { ENGINES, engines } from './fields-engines.ts';
import { gate } from './fields-gate.ts';
import { planning } from './fields-planning.ts';
import { policy } from './fields-policy.ts';
import { fanOutFields, ID_LIMITS, MAX_TASKS, taskFields } from './fields-task.ts';
import { NOTIFY_EVENTS } from './model.ts';
import type { RoleName, SpendLimit } from './model.ts';
import { REVIEW_VIEWS } from './review.ts';

export const SKIP = 'skip';

// ───────────────────────────── sandbox ─────────────────────────────

const sandbox = group({
  image: text('Image of the sandbox; its digest is recorded with the run.', { default: 'swarmline/node:22' }),
  setup: optional(
    'Makes dependencies once per image and lockfile, in a container of its own.',
    group({
      run: text('Shell command that installs them.'),
      files: texts('Manifests and lockfiles: the only files that it sees, and with the image the key of the cache.', {
        limits: 'at least one',
      }),
      provides: text(
        'Directory that it makes; mounted read-only at /<provides> in every later container (a `.bin` in it is on PATH).',
      ),
      network: flag('Whether it may use the network. No other container may.', true),
      installScripts: flag('Whether install scripts of packages may run.', false),
    }),
  ),
  services: map(
    "Containers that run beside a step, in its network namespace: reach them at 127.0.0.1. The key is the service's name.",
    group({
      image: text('Image of the service.'),
      env: textMap('Its environment. Test values only: everybody who can see the run can see them.'),
      ready: optionalText('Shell command run inside the service until it exits 0.', { shown: 'ready at once' }),
    }),
  ),
  limits: withDefaults(
    group({
      cpus: number('CPUs of each container.', { min: 0.1, max: 256, unit: 'CPUs', whole: false, default: 1 }),
      memory: size('Memory of each container, swap included.', { min: '32m', max: '1t', default: '1g' }),
      pids: number('Processes and threads in each container.', {
        min: 16,
        max: 32768,
        unit: 'processes',
        default: 512,
      }),
      disk: size('Size of a workspace.', { min: '16m', max: '1t', default: '2g' }),
      output: size('Output kept of each step; the middle of what is beyond it is cut, with a marker.', {
        min: '4k',
        max: '256m',
        default: '10m',
      }),
      agent: duration('Deadline of one agent run; killed beyond it.', { min: '1s', max: '24h', default: '15m' }),
      step: duration('Deadline of one gate step.', { min: '1s', max: '24h', default: '10m' }),
    }),
  ),
});

// ───────────────────────────── roles ─────────────────────────────

const ROLE = {
  engine: text('The program that edits files.', {
    limits: `one of ${ENGINES.join(', ')}, or a name of \`engines\``,
  }),
  model: optionalText('The model, for engines that have a choice.'),
};
const reviewer = group({
  ...ROLE,
  sees: choice('What this reviewer is shown.', REVIEW_VIEWS, 'diff'),
});

const roles = group({
  worker: group(ROLE),
  planner: optional('Turns the goal into tasks.', group(ROLE)),
  reviewer: optional(
    'Reviews a result that passed its gate; several see different things.',
    either('', reviewer, list('', reviewer, { max: 5 })),
  ),
  merger: optional('Resolves merge conflicts of others.', group(ROLE)),
  splitter: optional('Splits files that everybody has to change.', group(ROLE)),
  reconciler: optional('Brings drifted parts back together.', group(ROLE)),
});

// ───────────────────────────── budget ─────────────────────────────

const spendLimit = (meaning: string) => ({
  usd: number(meaning, { min: 0, max: 10_000_000, unit: 'US dollars', whole: false, default: null }),
  tokens: number(meaning, { min: 0, max: 1_000_000_000_000, unit: 'tokens', default: null }),
});
const roleBudget = (name: RoleName): Block<SpendLimit | null> =>
  optional(`The same for the role ${name}.`, group(spendLimit(`Of the role ${name}.`)));
const roleBudgets = {
  planner: roleBudget('planner'),
  worker: roleBudget('worker'),
  reviewer: roleBudget('reviewer'),
  merger: roleBudget('merger'),
  splitter: roleBudget('splitter'),
  reconciler: roleBudget('reconciler'),
};

// ───────────────────────────── the whole ─────────────────────────────

export const specFields = group({
  name: text('Name of the run.', { limits: ID_LIMITS }),
  goal: text('What is true at the end. Markdown. Prompt for planners, context for people.'),
  repository: group({
    url: optionalText('Where the repository is: https://…, ssh://… or file:///…, without a password.', {
      shown: 'required unless `empty`',
    }),
    empty: flag('true: start from nothing, without an origin.', false),
    branch: text('Branch that the work starts from.', { default: 'main' }),
    credentials: optionalText(
      'Name of credentials that the worker has; used for fetching, setup and delivery only. Never a value.',
    ),
    contracts: texts('Globs of interface contracts: change only in `interface-change` tasks.', { default: [] }),
    manifests: optionalTexts('Globs of dependency manifests and lockfiles: change only in `dependency-update` tasks.', {
      shown: 'the usual ones of every ecosystem, at any depth',
      mayBeEmpty: true,
    }),
    protected: optionalTexts(
      'Globs that no task may change. Scripts and configuration files that gate commands name are always protected.',
      {
        shown: 'the usual configuration of CI, linters, compilers and test runners; none with `empty`',
        mayBeEmpty: true,
      },
    ),
    union: texts('Globs of files that two tasks may append to at once, such as a changelog (merge=union).', {
      default: [],
    }),
    maxFile: size('Largest file that a task may add or change.', { min: '1k', max: '1g', default: '10m' }),
    fieldGuide: text(
      'Folder of the field guide: pages by which agents tell later ones what they must know, and `INDEX.md` (at most 60 lines), which names each and is told to every agent at its start; a gate step of ours, `guide`, holds it to that. A task writes there only where its `files.allow` says so.',
      { default: 'docs/field-guide', limits: 'relative to the root of the repository; no glob' },
    ),
  }),
  gate,
  sandbox: withDefaults(sandbox),
  roles,
  engines,
  planning: withDefaults(planning),
  policy: withDefaults(policy),
  budget: withDefaults(
    group({
      ...spendLimit('Spend of the run at which no model is called any more: the run pauses until `raise-budget`.'),
      modelCalls: number('Model calls at once, over all hosts.', { min: 1, max: 10_000, unit: 'calls', default: 20 }),
      task: withDefaults(group(spendLimit('The same for each single task.'))),
      roles: withDefaults(group(roleBudgets)),
    }),
  ),
  notify: withDefaults(
    group({
      on: choices('What somebody is told of.', NOTIFY_EVENTS, ['blocked', 'red', 'budget', 'done']),
      run: optionalTexts("Command and arguments on the worker's host that is told (JSON on standard input)."),
      webhook: optionalText('URL that the same JSON is posted to.'),
    }),
  ),
  deliver: withDefaults(
    group({
      branch: optionalText('Branch of the origin that green points are pushed to; never forced.', {
        shown: '`swarmline/<name>`',
      }),
      fastForward: optionalText('Instead: fast-forward this branch, which must be `repository.branch`.'),
    }),
  ),
  tasks: list('Explicit tasks.', taskFields, { max: MAX_TASKS }),
  fanOut: list('Task templates over the files of the base commit.', fanOutFields, { max: 100 }),
});

/** A spec as written, complete: every field has its value or default, units still as text. */
export type RawSpec = Value<typeof specFields>;

/** Every field, in the order of the reference page. */
export const FIELDS: readonly FieldRow[] = specFields.rows('');
