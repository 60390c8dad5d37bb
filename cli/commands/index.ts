/** What can be typed, in the order in which help lists it. Modules are light: clients are loaded by whoever needs them. */
import type { Command } from 'commander';
import * as cancel from './cancel.ts';
import * as cost from './cost.ts';
import * as deliver from './deliver.ts';
import * as estimate from './estimate.ts';
import * as gc from './gc.ts';
import * as logs from './logs.ts';
import * as plan from './plan.ts';
import * as planCommands from './plan-commands.ts';
import * as reviews from './reviews.ts';
import * as run from './run.ts';
import * as schema from './schema.ts';
import * as status from './status.ts';
import * as updateCommands from './update-commands.ts';
import * as validate from './validate.ts';
import * as watch from './watch.ts';
import * as worklog from './worklog.ts';

const MODULES = [
  validate,
  estimate,
  run,
  status,
  watch,
  logs,
  cost,
  reviews,
  plan,
  worklog,
  updateCommands,
  planCommands,
  cancel,
  deliver,
  gc,
  schema,
];

/** Registers every command that talks to a running system. */
export function registerAll(program: Command): void {
  for (const { register } of MODULES) register(program);
}
