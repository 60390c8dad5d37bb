/** `status [RUN]`: how a run stands, from Postgres; Temporal is asked only who is missing for it to go on; without RUN the newest runs. */
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { withContext } from '../context.ts';
import { overviewJson } from '../render/json.ts';
import { reportLines } from '../render/report.ts';
import { statusLines, waitingSection } from '../render/status.ts';
import { table } from '../render/table.ts';
import { duration } from '../render/time.ts';
import type { WaitLine } from '../render/waiting.ts';

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
  if (overview === null) return unrecorded(context, run, json);
  const missing = overview.run.outcome === null ? await (await import('../standstill.ts')).standstills(context) : [];
  if (json) {
    context.print(JSON.stringify(overviewJson(overview, missing)));
    return;
  }
  for (const line of statusLines(overview, { width: context.width, missing })) context.print(line);
  if (overview.run.outcome !== null) for (const line of reportLines(overview.run.report)) context.print(line);
}

/** No row yet: its spec is being admitted, or there is no such run. */
async function unrecorded(context: Context, run: string, json: boolean): Promise<void> {
  const [{ runState }, { unknownRun }, { standstills }] = await Promise.all([
    import('../updates.ts'),
    import('../runs.ts'),
    import('../standstill.ts'),
  ]);
  const state = await context
    .temporal()
    .then(({ client }) => runState(client, run))
    .catch(() => null);
  if (state?.state !== 'running') throw await unknownRun(context, run);
  const waiting: WaitLine[] = [
    ...(await standstills(context)),
    { task: null, on: 'admission', why: 'the spec is checked, the base commit fetched', sinceMs: null, command: null },
  ];
  if (json) context.print(JSON.stringify({ run: { id: run, phase: 'validate' }, waiting }));
  else
    for (const line of [`run ${run}  validate`, '', ...waitingSection(waiting, Date.now(), context.width)])
      context.print(line);
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
