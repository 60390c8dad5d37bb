/** `cancel RUN [TASK]`: one task, or the whole run, whose commits stay and may be delivered. */
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { withContext } from '../context.ts';
import { FailedError, UserError } from '../exit.ts';
import { nextSteps, reportLines } from '../render/report.ts';
import { outcomeLine } from './arguments.ts';

export function register(program: Command): void {
  program
    .command('cancel')
    .description('end a task, or without TASK the whole run; every commit is kept')
    .argument('<run>')
    .argument('[task]')
    .action((run: string, task: string | undefined) =>
      withContext(async (context) => {
        if (task === undefined) return cancelRun(context, run);
        const { update } = await import('../updates.ts');
        const said = await update(context, run, 'cancelTask', { task }, `cancelling ${task}`);
        context.print(outcomeLine(said, `${task} is cancelled`));
      }),
    );
}

async function cancelRun(context: Context, run: string): Promise<void> {
  const { runState, tellIfNobodyWorks } = await import('../updates.ts');
  const { WorkflowFailedError } = await import('@temporalio/client');
  const { client } = await context.temporal();
  const { state, status } = await runState(client, run);
  if (state === 'unknown') throw await (await import('../runs.ts')).unknownRun(context, run);
  if (state === 'closed') {
    throw new UserError({ what: `Run ${run} has ended already (${status}).`, command: `./swarmline status ${run}` });
  }
  await tellIfNobodyWorks(context);
  const handle = client.workflow.getHandle(run);
  await context.progress.step(`cancelling ${run}`, async () => {
    await handle.cancel();
    // It ends as cancelled, or with a report that says so: either way it has stopped when this returns.
    await handle.result().catch((error: unknown) => {
      if (!(error instanceof WorkflowFailedError)) throw error;
    });
  });
  const { status: left } = await runState(client, run);
  const { loadRun } = await import('../../store/index.ts');
  const row = await loadRun(await context.store(), run);
  if (left === 'FAILED' || left === 'TERMINATED' || left === 'TIMED_OUT') {
    throw new FailedError({ what: `Run ${run} ended as ${left} instead.`, command: `./swarmline status ${run}` });
  }
  const outcome = row?.outcome ?? 'cancelled';
  context.print(
    `${run} is ${outcome === 'completed' ? 'completed: it had ended before it could be cancelled' : outcome}`,
  );
  for (const line of reportLines(row?.report)) context.print(line);
  if (nextSteps(row?.report).length === 0) context.print(`  ./swarmline deliver ${run}   # what is green`);
}
