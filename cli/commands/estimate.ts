/** `estimate SPEC`: what a run is expected to take. Needs nothing that runs; where earlier runs can be looked at, their figures count. */
import type { Command } from 'commander';
import type { Measured } from '../../spec/estimate-figures.ts';
import type { CompiledSpec } from '../../spec/model.ts';
import type { Context } from '../context.ts';
import { withContext } from '../context.ts';
import { MissingError, UserError } from '../exit.ts';
import { expectedLines } from '../render/expected.ts';
import type { Case } from '../render/expected.ts';

interface EstimateOptions {
  readonly tasks?: string;
  readonly slots?: string;
  readonly in?: string;
  readonly json: boolean;
}

/** Numbers of tasks that are looked at where planners plan and nobody says how many. */
const USUAL = [10, 30, 100] as const;
/** Waves of a plan that goes well; one that goes badly has two tasks in each. */
const FEW_WAVES = 3;

export function register(program: Command): void {
  program
    .command('estimate')
    .description('waves, critical path, worthwhile agents, expected time and money by role and model; starts nothing')
    .argument('<spec>', 'a file (JSON, YAML, or Markdown with front matter); - reads standard input')
    .option('--tasks <n>', 'tasks that planners are expected to plan; without it: several numbers')
    .option(
      '--slots <n>',
      'containers that the hosts run at once; without it: as the hosts say, where they can be asked',
    )
    .option('--in <directory>', 'read the base commit from this clone instead of the repository that the spec names')
    .option('--json', 'as one JSON object', false)
    .action((spec: string, options: EstimateOptions) => withContext((context) => run(context, spec, options)));
}

async function run(context: Context, path: string, options: EstimateOptions): Promise<void> {
  const [{ readSpecFile, problemLines }, { validateSpec }, { baseCommit }, { loadPrices }, expecting] =
    await Promise.all([
      import('../read-spec-file.ts'),
      import('../../spec/validate.ts'),
      import('../base-commit.ts'),
      import('../prices.ts'),
      import('../../spec/estimate.ts'),
    ]);
  const prices = await loadPrices(context.env);
  const file = await readSpecFile(path);
  const base = await baseCommit(file.raw, options.in ?? null);
  const known = 'files' in base ? base : { files: null };
  const checked = validateSpec(file.raw, { ...known, prices });
  const problems = [...file.problems, ...checked.problems, ...('problem' in base ? [base.problem] : [])];
  const { spec } = checked;
  if (spec === null || problems.length > 0) {
    throw new UserError({
      what: `${path} has ${problems.length} problem${problems.length === 1 ? '' : 's'}.\n${problemLines(file, problems).join('\n')}`,
      command: `./swarmline validate ${path}`,
    });
  }
  const earlier = await earlierRuns(context, spec.repository.url);
  const slots = options.slots === undefined ? earlier.slots : parseSlots(options.slots);
  const from = { measured: earlier.measured, prices, files: known.files, slots };
  const cases = addedTasks(spec, options.tasks).map((added): Case => {
    const of = (waves: number) => expecting.estimate(spec, expecting.imaginedTasks(added, waves), from);
    return { added, estimate: of(FEW_WAVES), narrow: added === 0 ? null : of(Math.ceil(added / 2)) };
  });
  const unknown = [
    ...unknowns(spec, options.tasks, known.files === null && hasFanOuts(file.raw)),
    ...earlier.unknown,
    ...(slots === null ? ['how many containers the hosts will run at once; --slots N says it'] : []),
  ];
  const expected = { name: spec.name, budget: spec.budget, cases, unknown };
  if (options.json) context.print(JSON.stringify(expected));
  else for (const line of expectedLines(expected)) context.print(line);
}

/** Figures of runs that are in the store; without a store there are none, and that is said. */
async function earlierRuns(
  context: Context,
  url: string | null,
): Promise<{ readonly measured: Measured; readonly slots: number | null; readonly unknown: readonly string[] }> {
  const [{ NOTHING_MEASURED }, { codeOf, listHosts, measured, SQLSTATE }] = await Promise.all([
    import('../../spec/estimate-figures.ts'),
    import('../../store/index.ts'),
  ]);
  try {
    const pool = await context.store();
    const found = await measured(pool, url);
    const hosts = (await listHosts(pool)).filter(({ live }) => live);
    const slots = hosts.length === 0 ? null : hosts.reduce((sum, host) => sum + host.slots, 0);
    const none = 'what attempts take: no earlier run has asked a model, so figures are guesses';
    return { measured: found, slots, unknown: found.attempts.length === 0 ? [none] : [] };
  } catch (error) {
    // Of a version before this one: its workers bring it up to date when they start.
    const isOlder = [SQLSTATE.undefinedTable, SQLSTATE.undefinedColumn].some((code) => code === codeOf(error));
    if (!isOlder && !(error instanceof MissingError)) throw error;
    const why = error instanceof MissingError ? error.explanation.what : 'The database is of an older version.';
    const none = `what attempts take: earlier runs cannot be looked at (${why}), so figures are guesses`;
    return { measured: NOTHING_MEASURED, slots: null, unknown: [none] };
  }
}

function parseSlots(given: string): number {
  if (/^[1-9]\d{0,4}$/.test(given)) return Number(given);
  throw new UserError({ what: `--slots ${given} is no number from 1 to 99999.` });
}

/** How many tasks planners may add, each number a case. @throws UserError */
function addedTasks(spec: CompiledSpec, given: string | undefined): readonly number[] {
  const isPlanned = spec.roles.planner !== undefined;
  const most = spec.planning.bounds.totalTasks - spec.tasks.length;
  if (given === undefined) {
    if (!isPlanned || spec.tasks.length > 0) return [0];
    const usual = USUAL.filter((n) => n <= most);
    return usual.length > 0 ? usual : [most];
  }
  if (!isPlanned)
    throw new UserError({
      what: '--tasks says how many tasks planners are expected to plan, and nobody plans in this spec.',
      why: 'It names no roles.planner, so that its own tasks are all.',
    });
  const n = /^\d+$/.test(given) ? Number(given) : Number.NaN;
  if (n >= 1 && n <= most) return [n];
  throw new UserError({
    what: `--tasks ${given} is no number from 1 to ${most}.`,
    why: `planning.totalTasks is ${spec.planning.bounds.totalTasks}${spec.tasks.length > 0 ? `, and ${spec.tasks.length} tasks stand in the spec` : ''}.`,
  });
}

function unknowns(spec: CompiledSpec, tasks: string | undefined, isFanOutMissing: boolean): string[] {
  const { planner } = spec.roles;
  return [
    ...(planner !== undefined && spec.tasks.length === 0
      ? ['the plan: which tasks there will be, how many, and which wait for which; tasks are taken to be alike']
      : []),
    ...(planner !== undefined && spec.tasks.length > 0 && tasks === undefined
      ? ['what planners add to the tasks of the spec; --tasks N counts N more']
      : []),
    ...(isFanOutMissing
      ? ['the tasks of fan-outs: the repository is not on this machine; --in CLONE counts them']
      : []),
  ];
}

const hasFanOuts = (raw: unknown): boolean =>
  typeof raw === 'object' && raw !== null && 'fanOut' in raw && Array.isArray(raw.fanOut) && raw.fanOut.length > 0;
