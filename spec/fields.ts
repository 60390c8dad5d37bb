/**
 * The table of fields: every field of a spec with its type, default, unit, meaning and limits, written once. From it come the
 * validation (validate.ts), the JSON Schema and the reference page (reference.ts, docs/spec.md). The rows about tasks are in
 * fields-task.ts.
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
import { fanOutFields, ID_LIMITS, MAX_TASKS, taskFields } from './fields-task.ts';
import { APPROVALS, MUTATION_CHECKS, NOTIFY_EVENTS, REPLAN_OCCASIONS, SCOPE_POLICIES } from './model.ts';
import type { RoleName, SpendLimit } from './model.ts';
import { REVIEW_POLICIES, REVIEW_VIEWS } from './review.ts';
import { DEFAULT_BOUNDS } from './plan/context.ts';

export const SKIP = 'skip';

// ───────────────────────────── gate ─────────────────────────────

const LEVELS = {
  task: optionalText(
    "At the gate of each task, on its result merged with the newest verified tree. `{changed}` stands for the task's files.",
    { shown: 'not run' },
  ),
  mainline: optionalText('On the newest merged tree.', { shown: 'as `task`' }),
  wave: optionalText('At an integration point: the whole regression.', { shown: 'as `mainline`' }),
};

/** A command for all levels, "skip", or a command by level. Its levels have one place in the table, not one for each step. */
const step = (meaning: string): Block<string | Value<typeof levels>> => {
  const block = either(meaning, text(meaning), levels);
  return { ...block, rows: (path) => block.rows(path).filter((row) => row.path === path) };
};
const levels = group(LEVELS);

const coverage = group({
  report: text('lcov file that the step writes, in the workspace.'),
  changedLines: number('Share of the changed lines that must be covered.', {
    min: 0,
    max: 100,
    unit: '%',
    default: 80,
    whole: false,
  }),
  ...LEVELS,
});
const coverageStep = {
  ...coverage,
  rows: (path: string) => coverage.rows(path).filter((row) => !(row.path.slice(path.length + 1) in LEVELS)),
};

const steps = group({
  lint: step('Shell command that exits 0 when the code is clean; or commands by level; or `skip`.'),
  typecheck: step('The same for types.'),
  test: step('The same for tests.'),
  build: step('The same for the build.'),
  integration: optional('The same for integration tests, where there are any.', step('')),
  coverage: optional(
    'Least coverage of the changed lines. Judged by the report that the test step (or a command of its own) writes. Or `skip`.',
    either('', text('`skip`'), coverageStep),
  ),
  report: textMap(
    'Machine-readable report (JUnit XML or TAP) by step, as a path in the workspace: failures by name, flaky ones told apart.',
  ),
});
const gate = { ...steps, rows: (path: string) => [...steps.rows(path), ...levels.rows(`${path}.*`)] };

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

// ───────────────────────────── planning ─────────────────────────────

const { depth, breadth, tasks: answerTasks, totalTasks, decisions } = DEFAULT_BOUNDS;
const planning = group({
  depth: number('Levels of planners below the first one. 0: it plans tasks only.', {
    min: 0,
    max: 8,
    unit: 'levels',
    default: depth,
  }),
  breadth: number('Sub-scopes in one answer of a planner.', { min: 1, max: 100, unit: 'scopes', default: breadth }),
  tasks: number('Tasks in one answer.', { min: 1, max: 1000, unit: 'tasks', default: answerTasks }),
  totalTasks: number('Tasks in the whole plan.', { min: 1, max: MAX_TASKS, unit: 'tasks', default: totalTasks }),
  decisions: number('Decisions in the whole plan.', { min: 0, max: 1000, unit: 'decisions', default: decisions }),
  asks: number('Answers of a planner, each sent back with every problem, until it counts as failed.', {
    min: 1,
    max: 20,
    unit: 'answers',
    default: 4,
  }),
  calls: number('Times that one planner is called in a run; beyond it only a person calls it.', {
    min: 1,
    max: 1000,
    unit: 'calls',
    default: 20,
  }),
  replan: choices(
    'When the planner of what is concerned is called again: its tasks have landed, one is blocked, one ran into its deadline twice, an agent asks for files that it was not given.',
    REPLAN_OCCASIONS,
    [...REPLAN_OCCASIONS],
  ),
  refuse: withDefaults(
    group({
      minParallelism: number('Tasks for each of the longest chain, at least; a plan below it is sent back.', {
        min: 1,
        max: 1000,
        unit: '',
        default: null,
        whole: false,
      }),
      maxOverlap: number('Share of all pairs of tasks that may write the same file, at most.', {
        min: 0,
        max: 100,
        unit: '%',
        default: null,
        whole: false,
      }),
      maxScopeFiles: number('Files in the scope of one task, at most.', {
        min: 1,
        max: 100_000,
        unit: 'files',
        default: null,
      }),
      maxUsd: number('Expected cost of the plan, at most.', {
        min: 0,
        max: 10_000_000,
        unit: 'US dollars',
        default: null,
        whole: false,
      }),
      maxMinutes: number('Expected time of the plan, at most.', {
        min: 1,
        max: 1_000_000,
        unit: 'minutes',
        default: null,
      }),
    }),
  ),
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

const evaluate = group({
  run: text('Shell command, run in a checkout of the green point with `files` laid over it, without network.'),
  files: map(
    'Files that no agent ever sees, by the path at which they are laid over the checkout. A value is a file or folder beside the spec (read in at submission), or `{content: "…"}`.',
    either('', text('File or folder beside the spec.'), group({ content: text('The content itself.') })),
  ),
  score: optionalText('Regular expression whose first group is the score; the last match counts.', {
    shown: 'the last number that is printed',
  }),
  time: duration('Deadline.', { min: '1s', max: '24h', default: '10m' }),
});

const mutation = group({
  check: choice(
    'After a green gate of a task, faults are planted on the lines that it changed, one at a time, and the test step must notice each. `warn`: those that it does not notice are named, to reviewers too. `require`: they turn the attempt red.',
    MUTATION_CHECKS,
    'off',
  ),
  time: duration('No further fault is planted after this long.', { min: '1s', max: '24h', default: '5m' }),
  faults: number('Faults planted for one attempt, at most.', { min: 1, max: 100, unit: 'faults', default: 20 }),
});

const policy = group({
  schedule: choice(
    '`waves`: wave n+1 starts when integration point n is green. `frontier`: a task starts as soon as its own dependencies have landed.',
    ['waves', 'frontier'] as const,
    'waves',
  ),
  attempts: number('Attempts of a task before it is blocked and waits for a person.', {
    min: 1,
    max: 20,
    unit: 'attempts',
    default: 4,
  }),
  fixAttempts: number('Repairs of a red mainline or integration point before the culprit stays out.', {
    min: 0,
    max: 20,
    unit: 'repairs',
    default: 2,
  }),
  inFlight: number('Attempts that run at once, over all hosts.', { min: 1, max: 5000, unit: 'attempts', default: 200 }),
  overlap: choice(
    'Two tasks that could run together and may write the same file: refuse the spec, or run the later one after the earlier.',
    ['refuse', 'serialise'] as const,
    'refuse',
  ),
  approve: choices('Where a person is asked before it goes on.', APPROVALS, []),
  baseline: choice(
    'A gate that is red before the first task: refuse the run, or record what was red and count only what is new (needs `gate.report.test`).',
    ['refuse', 'record'] as const,
    'refuse',
  ),
  scaffold: texts('Tasks that are judged by their own criteria before the full gate starts, for empty repositories.', {
    default: [],
  }),
  breaks: texts('Tasks that may break an interface on purpose, together with the repairs of their dependants.', {
    default: [],
  }),
  gateProof: choice(
    'Whether a fault planted in files that tasks may write must turn the gate red.',
    ['warn', 'require', 'off'] as const,
    'warn',
  ),
  verify: choice(
    'When the mainline steps run: after each merge, on whatever has piled up, or only at integration points.',
    ['each', 'batch', 'wave'] as const,
    'batch',
  ),
  scope: choice(
    'An agent asks for files that its task was not given: a person is asked, it gets them where nobody else may write them, it is refused, or a task of kind `interface-change` is made of it.',
    SCOPE_POLICIES,
    'ask',
  ),
  reviews: choice(
    'What several reviewers mean together: one blocking finding of anybody rejects, or more rejections than approvals do. One that cannot be read is never an approval.',
    REVIEW_POLICIES,
    'any-blocking',
  ),
  mutation: withDefaults(mutation),
  evaluate: optional(
    'A suite that no agent sees measures every green point. Its score over time is in `status` and in the report.',
    evaluate,
  ),
  keepDays: number('How long attempts, logs and the hub are kept after the end.', {
    min: 0,
    max: 3650,
    unit: 'days',
    default: 14,
  }),
});

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
