/** `cost RUN`: what models cost, by outcome, role, model and task. */
import type { Command } from 'commander';
import { costReport } from '../../spec/costs.ts';
import type { Context } from '../context.ts';
import { withContext } from '../context.ts';
import { costLines } from '../render/cost.ts';

export function register(program: Command): void {
  program
    .command('cost')
    .description('what models cost: by outcome, role, model and task; per landed task; waste; waiting')
    .argument('<run>')
    .option('--json', 'as one JSON object', false)
    .action((run: string, { json }: { json: boolean }) => withContext((context) => cost(context, run, json)));
}

async function cost(context: Context, run: string, json: boolean): Promise<void> {
  const { costs, loadRun } = await import('../../store/index.ts');
  const pool = await context.store();
  if ((await loadRun(pool, run)) === null) throw await (await import('../runs.ts')).unknownRun(context, run);
  const report = costReport(await costs(pool, run));
  if (json) context.print(JSON.stringify({ run, ...report }));
  else for (const line of costLines(run, report)) context.print(line);
}
