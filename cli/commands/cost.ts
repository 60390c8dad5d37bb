/** `cost RUN`: what models cost, and what came of it. */
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { withContext } from '../context.ts';
import { costLines } from '../render/cost.ts';

export function register(program: Command): void {
  program
    .command('cost')
    .description(
      'what models cost: by role and outcome, reviewer, planner, model and task; per landed task; waste; conflicts; calls that wait now; the same tokens on the planner’s model',
    )
    .argument('<run>')
    .option('--json', 'as one JSON object, money in millionths of a US dollar', false)
    .action((run: string, { json }: { json: boolean }) => withContext((context) => cost(context, run, json)));
}

async function cost(context: Context, run: string, json: boolean): Promise<void> {
  const [{ loadRun }, { runCost }, { loadPrices }] = await Promise.all([
    import('../../store/index.ts'),
    import('../../activities/run-cost.ts'),
    import('../prices.ts'),
  ]);
  const prices = await loadPrices(context.env);
  const pool = await context.store();
  if ((await loadRun(pool, run)) === null) throw await (await import('../runs.ts')).unknownRun(context, run);
  const report = await runCost(pool, run, prices);
  if (json) context.print(JSON.stringify({ run, ...report }));
  else for (const line of costLines(run, report)) context.print(line);
}
