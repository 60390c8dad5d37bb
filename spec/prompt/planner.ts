/**
 * The prompt of a planner.
 *
 * 1. Goal, scope, decisions, the plan so far and the form of the answer are never cut. The map of the repository loses signatures, then
 *    entries; then go its last answer, old landed work and old entries of the work log.
 * 2. What was wrong with its last answer is shown whole: every problem, and the answer itself while there is room.
 */
import type { PlanBounds, Decision } from '../plan/index.ts';
import type { Problem } from '../model.ts';
import { MATERIAL, fenced, item, pathInText } from './fence.ts';
import { fit } from './fit.ts';
import type { BuiltPrompt, Part, Section } from './fit.ts';
import { always, bullets, newest } from './parts.ts';
import { ANSWER } from './planner-answer.ts';

export interface MappedFile {
  readonly path: string;
  readonly bytes: number;
  readonly isTest: boolean;
  /** From signaturesOf; '' for none. */
  readonly signatures: string;
}

export interface PlannerInput {
  /** The run's goal, in the user's words. */
  readonly runGoal: string;
  /** null for the first planner: its goal is the run's. */
  readonly scope: { readonly id: string; readonly goal: string; readonly interface: string } | null;
  /** Globs within which it plans. */
  readonly files: readonly string[];
  readonly depth: number;
  readonly bounds: PlanBounds;
  /** Globs by what may change them. */
  readonly repository: {
    readonly isEmpty: boolean;
    readonly contracts: readonly string[];
    readonly manifests: readonly string[];
    readonly protected: readonly string[];
  };
  /** Commands of the gate by step, as a person would say them: "test: npx vitest run". */
  readonly gate: readonly string[];
  readonly map: readonly MappedFile[];
  readonly decisions: readonly Decision[];
  /** Tasks of the plan that touch its scope, each in a line with its state. */
  readonly plan: readonly string[];
  /** Sub-scopes of others, whose files are theirs. */
  readonly otherScopes: readonly { readonly id: string; readonly files: readonly string[] }[];
  /** What landed lately, oldest first. */
  readonly landed: readonly string[];
  /** Oldest first. */
  readonly workLog: readonly string[];
  /** Why it is called again, '' at the first call: "wave 2 landed", "task x timed out twice: split it". */
  readonly occasion: string;
  /** Its last answer was sent back. */
  readonly sentBack: { readonly answer: string; readonly problems: readonly Problem[] } | null;
  /** What a plan must be worth, in words; '' without a threshold. */
  readonly threshold: string;
  readonly maxBytes: number;
}

export function buildPlannerPrompt(input: PlannerInput): BuiltPrompt {
  const { scope, sentBack, repository } = input;
  return fit(
    [
      always('You plan', ROLE),
      always('Goal of the whole', input.runGoal),
      always(
        'Your part',
        scope === null
          ? ''
          : `${scope.id}: ${scope.goal.trim()}${scope.interface.trim() === '' ? '' : `\n\nOthers rely on: ${scope.interface.trim()}`}`,
      ),
      always('Why you are called now', input.occasion),
      always('Your files', yourFiles(input)),
      always('Bounds', boundsText(input)),
      always(
        'Gate',
        input.gate.length === 0 ? '' : `A task is done when these are green on its result:\n${bullets(input.gate)}`,
      ),
      always('Starting from nothing', repository.isEmpty ? EMPTY : ''),
      always(
        'Decisions that stand',
        input.decisions
          .filter(({ supersededBy }) => supersededBy === null)
          .map(decisionText)
          .join('\n'),
      ),
      always('The plan so far', bullets(input.plan)),
      ...sentBackSections(sentBack),
      newest('Landed lately', input.landed, 'landed tasks', 4),
      newest('Work log', input.workLog, 'entries of the work log', 5),
      mapSection(input.map),
      always('Fences', MATERIAL),
      always('Your answer', ANSWER),
    ],
    input.maxBytes,
    'the goal, the decisions and the plan themselves',
  );
}

const ROLE = `You plan; you edit nothing. Others, each alone and without talking to you, carry out what you plan, many at once. Read the repository where the map below does not tell you enough: your copy is read-only.

- Small tasks that one person could review in minutes, each with few files of its own. Two tasks that may write the same file cannot run together.
- Wide rather than long: agree on an interface first (a decision, an interface-change task), then let what needs it go on side by side. A dependency that only orders work costs everybody time.
- Upstream must be real: what others depend on states its interface, and a test runs the real thing. A plan whose parts are tested only against mocks is sent back.
- Decide what several tasks must agree on, once, and let the tasks refer to it as \`swarm:decision <id>\`, in a comment of the code too.
- Hand over to sub-scopes what needs planning of its own; plan the rest here. Acceptance criteria are sentences that somebody else can find true or false.`;

const EMPTY =
  'The repository is empty. Plan scaffold tasks first (manifest, configuration of the gate, a first test that runs), small enough that everything else can begin soon; everything else depends on them.';

function yourFiles({ files, repository, otherScopes }: PlannerInput): string {
  const some = (lead: string, globs: readonly string[]): string =>
    globs.length === 0 ? '' : `${lead}: ${globs.map((one) => `\`${one}\``).join(', ')}.`;
  return [
    `Tasks and sub-scopes stay within:\n${bullets(files)}`,
    [
      some('Only tasks of kind `dependency-update` change', repository.manifests),
      some('Only tasks of kind `interface-change` change', repository.contracts),
      some('No task at all changes', repository.protected),
    ]
      .filter(Boolean)
      .join('\n'),
    otherScopes.length === 0
      ? ''
      : `Planned by others, not by you:\n${bullets(otherScopes.map(({ id, files: theirs }) => `${id}: ${theirs.join(', ')}`))}`,
  ]
    .filter(Boolean)
    .join('\n\n');
}

function boundsText({ depth, bounds, threshold }: PlannerInput): string {
  const levels = Math.max(0, bounds.depth - depth);
  return bullets([
    levels === 0
      ? 'No sub-scopes: this is the lowest level of planners.'
      : `At most ${bounds.breadth} sub-scopes; ${levels} levels of planners below you.`,
    `At most ${bounds.tasks} tasks in this answer, ${bounds.totalTasks} in the whole plan.`,
    ...(threshold === '' ? [] : [threshold]),
  ]);
}

const decisionText = ({ id, subject, text, interfaces, owner }: Decision): string =>
  `- \`${id}\` (${item(subject)}; by ${owner === '' ? 'the first planner' : item(owner)}${interfaces.length === 0 ? '' : `; fixes ${interfaces.map(item).join(', ')}`}): ${item(text)}`;

function sentBackSections(sentBack: PlannerInput['sentBack']): Section[] {
  if (sentBack === null) return [];
  const lines = sentBack.problems.map(({ path, message }) => (path === '' ? message : `\`${path}\`: ${message}`));
  const part: Part = {
    name: 'your last answer',
    forms: [
      { text: () => fenced(sentBack.answer), missing: null },
      { text: () => '', missing: 'your last answer' },
    ],
  };
  return [
    always(
      'Your last answer was sent back',
      `Give the whole answer again, with all of this put right:\n${bullets(lines)}`,
    ),
    { title: 'Your last answer', parts: [part], cut: 3 },
  ];
}

/** One line a file, with signatures below; the longest lose theirs first, and only when none has any left do entries go. */
function mapSection(map: readonly MappedFile[]): Section {
  const ordered = map.toSorted((a, b) => Number(a.isTest) - Number(b.isTest) || (a.path < b.path ? -1 : 1));
  const parts = ordered.map(({ path, bytes, isTest, signatures }): Part => {
    const shown = pathInText(path);
    const line = `${shown} (${bytes} bytes${isTest ? ', test' : ''})`;
    const whole = { text: () => (signatures === '' ? line : `${line}\n${fenced(signatures)}`), missing: null };
    const bare = { text: () => line, missing: signatures === '' ? null : `signatures of ${shown}` };
    return { name: path, forms: [whole, bare, { text: () => '', missing: `${shown} (in the map)` }] };
  });
  return { title: 'Map of the repository', parts, cut: 1, first: 'longest' };
}
