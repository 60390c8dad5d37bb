/**
 * Following a run: a picture that redraws itself on a terminal, one line a change in a pipe.
 *
 * 1. State comes from Postgres alone; Temporal is asked only who is missing, and whether a run that does not move is still alive.
 * 2. It ends by itself: 0 when the run completed, 1 when it ended otherwise or nothing but a person can move it.
 */
import { runOverview } from '../store/index.ts';
import type { Pool, RunOverview } from '../store/index.ts';
import type { Context } from './context.ts';
import { EXIT, FailedError, QuietExit } from './exit.ts';
import { changeLines } from './render/changes.ts';
import { overviewJson } from './render/json.ts';
import { reportLines } from './render/report.ts';
import { statusLines } from './render/status.ts';
import { clock } from './render/time.ts';
import { needsPerson, waits } from './render/waiting.ts';
import type { WaitLine } from './render/waiting.ts';
import { unknownRun } from './runs.ts';
import { standstills } from './standstill.ts';

const LOOK_MS = 1_000;
/** A wait for a person counts when nothing has changed for so long: between two waves everything is quiet for a moment. */
const QUIET_MS = 10_000;
/** Without any change for so long, Temporal is asked whether the workflow still runs. */
const ALIVE_MS = 30_000;
/** So often it is asked which workers are there. */
const MISSING_MS = 15_000;
/** A database that does not answer is asked again for so long: Postgres may be restarting. */
const PATIENCE_MS = 120_000;

export interface WatchOptions {
  readonly json: boolean;
}

export async function watch(context: Context, run: string, options: WatchOptions): Promise<void> {
  const pool = await context.store();
  const show = options.json ? asJson(context) : context.isTerminal ? asPicture(context) : asLines(context);
  let before: RunOverview | null = null;
  let changedAt = Date.now();
  let askedAt = Date.now();
  let missing: readonly WaitLine[] = [];
  let missingAt = 0;
  for (;;) {
    const overview = await look(context, pool, run);
    if (overview === null) {
      await awaitRow(context, run);
      continue;
    }
    if (before === null || fingerprint(before) !== fingerprint(overview)) changedAt = askedAt = Date.now();
    if (overview.run.outcome === null && Date.now() - missingAt >= MISSING_MS) {
      missingAt = Date.now();
      // Not awaited: a server that is away must not stop the picture.
      void standstills(context).then(
        (found) => (missing = found),
        () => undefined,
      );
    }
    show(before, overview, missing);
    before = overview;
    if (overview.run.outcome !== null) return end(context, overview, options);
    const quiet = Date.now() - changedAt;
    if (quiet >= QUIET_MS && needsPerson(overview)) return stuck(context, overview, options);
    if (Date.now() - askedAt >= ALIVE_MS) {
      askedAt = Date.now();
      await refuseDead(context, run);
    }
    await pauseFor(LOOK_MS);
  }
}

/** One look, repeated while the database is away. */
async function look(context: Context, pool: Pool, run: string): Promise<RunOverview | null> {
  const until = Date.now() + PATIENCE_MS;
  for (let told = false; ; told = true) {
    try {
      return await runOverview(pool, run);
    } catch (error) {
      if (Date.now() > until) throw error;
      if (!told) context.progress.line('the database does not answer; asking again');
      await pauseFor(LOOK_MS);
    }
  }
}

/** The run has no row yet: it is being admitted, or was refused, or does not exist. */
async function awaitRow(context: Context, run: string): Promise<void> {
  const { runState, refusal } = await import('./updates.ts');
  const { client } = await context.temporal();
  const { state, status } = await runState(client, run);
  if (state === 'unknown') throw await unknownRun(context, run);
  if (state === 'closed') {
    const { WorkflowFailedError } = await import('@temporalio/client');
    const error: unknown = await client.workflow
      .getHandle(run)
      .result()
      .then(
        () => null,
        (reason: unknown) => reason,
      );
    const known = error instanceof WorkflowFailedError ? refusal(error.cause) : null;
    throw known ?? new FailedError({ what: `Run ${run} ended before it began (${status}).` });
  }
  await pauseFor(LOOK_MS);
}

/** Its workflow was terminated, or timed out: nobody will write the end into the store. */
async function refuseDead(context: Context, run: string): Promise<void> {
  const { runState } = await import('./updates.ts');
  const found = await context
    .temporal()
    .then(({ client }) => runState(client, run))
    .catch(() => null); // away: it will be asked again
  if (found === null || found.state === 'running') return;
  // Ended in the moment before: its end is about to be read.
  if (found.status === 'COMPLETED') return;
  throw new FailedError({
    what: `The workflow of run ${run} is no longer running (${found.status}).`,
    why: 'It did not end by itself, so the record stays as it is. Its commits are kept.',
    command: [`./swarmline status ${run}`, `./swarmline deliver ${run}`],
  });
}

function end(context: Context, overview: RunOverview, options: WatchOptions): void {
  if (!options.json) for (const line of reportLines(overview.run.report)) context.print(line);
  if (overview.run.outcome !== 'completed') throw new QuietExit(EXIT.failed);
}

function stuck(context: Context, overview: RunOverview, options: WatchOptions): never {
  if (!options.json) {
    context.print(`run ${overview.run.id} waits for a person; nothing else is left to do`);
    for (const wait of waits(overview)) {
      if (wait.command !== null) context.print(`  ${wait.command}`);
    }
  }
  throw new QuietExit(EXIT.failed);
}

type Show = (before: RunOverview | null, after: RunOverview, missing: readonly WaitLine[]) => void;

function asLines(context: Context): Show {
  let told: readonly WaitLine[] = [];
  return (before, after, missing) => {
    const fresh = missing.filter(({ on }) => !told.some((wait) => wait.on === on));
    const back = told.filter(({ on }) => !missing.some((wait) => wait.on === on));
    told = missing;
    for (const line of [
      ...changeLines(before, after),
      ...fresh.map(({ on, why, command }) => `waits for ${on}: ${why}${command === null ? '' : `; type: ${command}`}`),
      ...back.map(({ on }) => `${on} is there`),
    ])
      context.print(`${clock(after.atMs)} ${line}`);
  };
}

function asJson(context: Context): Show {
  let told: string | null = null;
  return (_, after, missing) => {
    const now = fingerprint(after) + JSON.stringify(missing);
    if (now !== told) context.print(JSON.stringify(overviewJson(after, missing)));
    told = now;
  };
}

/** Moves up over what it drew and writes over it; lines are cut at the width, so that each is one line of the terminal. */
function asPicture(context: Context): Show {
  let drawn = 0;
  return (_, after, missing) => {
    const width = (process.stdout.columns ?? context.width) - 1;
    const height = Math.max(5, (process.stdout.rows ?? 40) - 1);
    const lines = statusLines(after, { width, missing })
      .slice(0, height)
      .map((line) => line.slice(0, width));
    const up = drawn === 0 ? '' : `\u001b[${drawn}A\r`;
    context.write(`${up}${lines.map((line) => `${line}\u001b[K\n`).join('')}\u001b[J`);
    drawn = lines.length;
  };
}

/** Everything but the clock. */
const fingerprint = (overview: RunOverview): string => JSON.stringify({ ...overview, atMs: 0 });

const pauseFor = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
