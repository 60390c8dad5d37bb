/** `worklog RUN`: what agents, planners and we wrote down beside the work. */
import type { Command } from 'commander';
import { withContext } from '../context.ts';
import type { Context } from '../context.ts';
import { worklogLines } from '../render/worklog.ts';
import { wholeNumber } from './arguments.ts';

export function register(program: Command): void {
  program
    .command('worklog')
    .description(
      'the work log of a run: discoveries, failures, decisions; files that agents flagged; notices that they were sent',
    )
    .argument('<run>')
    .option('--limit <n>', 'newest entries shown', '50')
    .option('--json', 'as one JSON object', false)
    .action((run: string, { limit, json }: { limit: string; json: boolean }) =>
      withContext((context) => worklog(context, run, wholeNumber(limit, '--limit', 1), json)),
    );
}

async function worklog(context: Context, run: string, limit: number, json: boolean): Promise<void> {
  const { listFlags, listLogEntries, listNotices, loadRun } = await import('../../store/index.ts');
  const pool = await context.store();
  if ((await loadRun(pool, run)) === null) throw await (await import('../runs.ts')).unknownRun(context, run);
  const report = {
    entries: await listLogEntries(pool, run, { limit }),
    flags: await listFlags(pool, run),
    notices: await listNotices(pool, run),
  };
  if (json) context.print(JSON.stringify({ run, ...report }));
  else for (const line of worklogLines(run, report)) context.print(line);
}
