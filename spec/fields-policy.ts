/** The part of the table of fields about policy. */
import { choice, choices, duration, number, optionalText, text, texts } from './field.ts';
import { either, group, map, optional, withDefaults } from './field-groups.ts';
import { APPROVALS, MUTATION_CHECKS, SCOPE_POLICIES } from './model.ts';
import { REVIEW_POLICIES } from './review.ts';

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

export const policy = group({
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
