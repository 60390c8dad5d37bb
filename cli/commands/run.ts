/** `run SPEC`: validates and submits a spec. */
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { withContext } from '../context.ts';
import { UserError } from '../exit.ts';
import { submit } from '../submit.ts';

interface RunOptions {
  readonly id?: string;
  readonly watch: boolean;
  readonly json: boolean;
}

export function register(program: Command): void {
  program
    .command('run')
    .description('submit a spec (JSON, YAML, or Markdown with front matter) and print the run’s id and its page')
    .argument('<spec>', 'a file; - reads standard input')
    .option('--id <id>', 'the run’s id; default: its name and the time')
    .option('--watch', 'follow it until it ends', false)
    .option('--json', 'print id and page as JSON; with --watch one JSON object a line', false)
    .action((spec: string, options: RunOptions) => withContext((context) => run(context, spec, options)));
}

async function run(context: Context, path: string, options: RunOptions): Promise<void> {
  const [{ readSpecFile, problemLines }, { validateSpec }, { baseCommit }, { loadPrices }] = await Promise.all([
    import('../read-spec-file.ts'),
    import('../../spec/validate.ts'),
    import('../base-commit.ts'),
    import('../prices.ts'),
  ]);
  const prices = await loadPrices(context.env);
  const file = await readSpecFile(path);
  const base = await baseCommit(file.raw, null);
  // A repository that is not here is the worker's to read: it may be on its machine.
  const checked = validateSpec(file.raw, { ...('files' in base ? base : { files: null }), prices });
  const problems = [...file.problems, ...(file.raw === null ? [] : checked.problems)];
  const { spec } = checked;
  if (spec === null || problems.length > 0) {
    throw new UserError({
      what: `${path} has ${problems.length} problem${problems.length === 1 ? '' : 's'}; nothing was started.\n${problemLines(file, problems).join('\n')}`,
      command: `./swarmline validate ${path}`,
    });
  }
  for (const line of problemLines(file, checked.warnings)) context.progress.line(`warning: ${line}`);
  const { id, ui } = await submit(context, { raw: file.raw, name: spec.name, id: options.id ?? null });
  if (options.json) context.print(JSON.stringify({ id, ui }));
  else {
    context.print(`run ${id}`);
    if (ui !== null) context.print(`  page:   ${ui}`);
    if (!options.watch) context.print(`  follow: ./swarmline watch ${id}`);
  }
  if (options.watch) await (await import('../watch.ts')).watch(context, id, { json: options.json });
}
