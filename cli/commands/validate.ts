/** `validate SPEC`: every problem of a spec, a line each. Starts nothing, needs nothing that runs. */
import type { Command } from 'commander';
import type { CompiledSpec, Problem } from '../../spec/model.ts';
import type { SpecContext } from '../../spec/validate.ts';
import { EXIT, QuietExit } from '../exit.ts';

interface ValidateOptions {
  readonly in?: string;
  readonly json: boolean;
}

export function register(program: Command): void {
  program
    .command('validate')
    .description('name every problem of a spec with its path; starts nothing')
    .argument('<spec>', 'a file (JSON, YAML, or Markdown with front matter); - reads standard input')
    .option(
      '--in <directory>',
      'check globs and fan-outs against this clone instead of the repository that the spec names',
    )
    .option('--json', 'problems and warnings as one JSON object', false)
    .action((spec: string, options: ValidateOptions) => validate(spec, options));
}

async function validate(path: string, options: ValidateOptions): Promise<void> {
  const [{ readSpecFile, problemLines }, { validateSpec }, { baseCommit }, { loadPrices }] = await Promise.all([
    import('../read-spec-file.ts'),
    import('../../spec/validate.ts'),
    import('../base-commit.ts'),
    import('../prices.ts'),
  ]);
  const prices = await loadPrices(process.env);
  const file = await readSpecFile(path);
  const base = await baseCommit(file.raw, options.in ?? null);
  const context: SpecContext = { ...('files' in base ? base : { files: null }), prices };
  const checked = file.raw === null ? { problems: [], warnings: [], spec: null } : validateSpec(file.raw, context);
  const problems: Problem[] = [...file.problems, ...checked.problems, ...('problem' in base ? [base.problem] : [])];
  if (options.json) {
    const located = (list: readonly Problem[]): Problem[] =>
      list.map((problem) => ({ ...problem, ...lineOf(problem, file.lineOf(problem.path)) }));
    process.stdout.write(`${JSON.stringify({ problems: located(problems), warnings: located(checked.warnings) })}\n`);
  } else {
    for (const line of problemLines(file, problems)) process.stdout.write(`${line}\n`);
    for (const line of problemLines(file, checked.warnings)) process.stdout.write(`warning: ${line}\n`);
    process.stdout.write(
      `${verdict(path, problems.length, checked.warnings.length, checked.spec, context.files === null)}\n`,
    );
  }
  if (problems.length > 0) throw new QuietExit(EXIT.badInput);
}

function lineOf(problem: Problem, found: number | null): { line?: number } {
  const line = problem.line ?? (problem.path === '' ? null : found);
  return line === null ? {} : { line };
}

function verdict(path: string, problems: number, warnings: number, spec: CompiledSpec | null, unseen: boolean): string {
  const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
  const warned = warnings === 0 ? '' : `, ${count(warnings, 'warning')}`;
  if (problems > 0) return `${path}: ${count(problems, 'problem')}${warned}; nothing was started`;
  const rest = unseen
    ? '; the repository was not looked at: what depends on its files is checked when the run starts, or with --in CLONE'
    : '';
  const tasks = spec?.tasks.length ?? 0;
  const planned =
    spec?.roles.planner === undefined
      ? ''
      : tasks === 0
        ? 'its planner makes the tasks'
        : ', and what its planner adds';
  const what =
    tasks === 0 && planned !== '' ? planned : `${count(tasks, 'task')}${unseen ? ' before fan-outs' : ''}${planned}`;
  return `${path}: no problem${warned} (${what})${rest}`;
}
