/** `status [RUN]`: how a run stands, from Postgres alone; without RUN the newest runs. */
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { withContext } from '../context.ts';
import { overviewJson } from '../render/json.ts';
import { reportLines } from '../render/report.ts';
import { statusLines } from '../render/status.ts';
import { table } from '../render/table.ts';
import { duration } from '../render/time.ts';

export function register(program: Command): void {
  program
    .command('status')
    .description('waves, tasks by state, attempts, merges, green points, rate, time left, and who waits for whom')
    .argument('[run]', 'without it: the newest runs')
    .option('--json', 'as one JSON object', false)
    .action((run: string | undefined, { json }: { json: boolean }) =>
      withContext((context) => (run === undefined ? listing(context, json) : one(context, run, json))),
    );
}

async function one(context: Context, run: string, json: boolean): Promise<void> {
  const { runOverview } = await import('../../store/index.ts');
  const overview = await runOverview(await context.store(), run);
  if (overview === null) throw await (await import('../runs.ts')).unknownRun(context, run);
  if (json) {
    context.print(JSON.stringify(overviewJson(overview)));
    return;
  }
  for (const line of statusLines(overview, { width: context.width })) context.print(line);
  if (overview.run.outcome !== null) for (const line of reportLines(overview.run.report)) context.print(line);
}

async function listing(context: Context, json: boolean): Promise<void> {
  const { listRuns } = await import('../../store/index.ts');
  const runs = await listRuns(await context.store());
  if (json) {
    context.print(JSON.stringify(runs));
    return;
  }
  if (runs.length === 0) context.print('no runs yet; type ./swarmline run SPEC');
  const now = Date.now();
  for (const line of table(
    runs.map((row) => [
      row.id,
      row.outcome ?? `${row.phase}${row.paused ? ', paused' : ''}`,
      `started ${duration(now - row.startedAtMs)} ago`,
    ]),
  )) {
    context.print(line);
  }
}
