/** The part of the table of fields about the gate. */
import { number, optionalText, text, textMap, type Block, type Value } from './field.ts';
import { either, group, optional } from './field-groups.ts';

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
export const gate = { ...steps, rows: (path: string) => [...steps.rows(path), ...levels.rows(`${path}.*`)] };
