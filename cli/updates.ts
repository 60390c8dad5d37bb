/**
 * Asking a run's workflow for something and waiting until it has happened.
 *
 * 1. What is printed as done is what the workflow said it did.
 * 2. A refusal is the user's to answer (exit 2); a failure while doing it is not (exit 1).
 */
import { WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import type { Client } from '@temporalio/client';
import { ActivityFailure, ApplicationFailure, ChildWorkflowFailure } from '@temporalio/common';
import type { Context } from './context.ts';
import { FailedError, UserError } from './exit.ts';
import { printable } from './render/table.ts';
import { unknownRun } from './runs.ts';
import { workerPolls } from './temporal.ts';

export type RunState = 'running' | 'closed' | 'unknown';

/** What Temporal knows of the run's workflow. */
export async function runState(client: Client, run: string): Promise<{ state: RunState; status: string }> {
  try {
    const { status } = await client.workflow.getHandle(run).describe();
    return { state: status.name === 'RUNNING' || status.name === 'PAUSED' ? 'running' : 'closed', status: status.name };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { state: 'unknown', status: 'NOT_FOUND' };
    throw error;
  }
}

/** Executes an update and returns what the workflow said. @throws UserError, FailedError */
export async function update(
  context: Context,
  run: string,
  name: string,
  argument: Readonly<Record<string, unknown>>,
  title: string,
): Promise<unknown> {
  const temporal = await context.temporal();
  await tellIfNobodyWorks(context);
  try {
    return await context.progress.step(title, () =>
      temporal.client.workflow.getHandle(run).executeUpdate(name, { args: [argument] }),
    );
  } catch (error) {
    throw await explain(context, run, error);
  }
}

/** A line on standard error when no worker would hear: the command then waits for one. */
export async function tellIfNobodyWorks(context: Context): Promise<void> {
  if (await workerPolls(await context.temporal())) return;
  context.progress.line('no worker is running; this waits for one (type: ./swarmline up)');
}

/** A line on standard error for each worker without which the run would stand still. */
export async function tellWhoIsMissing(context: Context): Promise<void> {
  const { standstills } = await import('./standstill.ts');
  for (const { on, why, command } of await standstills(context))
    context.progress.line(`${on} is waited for: ${why} (type: ${command ?? './swarmline doctor'})`);
}

async function explain(context: Context, run: string, error: unknown): Promise<unknown> {
  if (error instanceof WorkflowUpdateFailedError) return refusal(error.cause) ?? error;
  if (!(error instanceof WorkflowNotFoundError)) return error;
  const { client } = await context.temporal();
  const { state } = await runState(client, run);
  if (state === 'unknown') return unknownRun(context, run);
  return new UserError({
    what: `Run ${run} has ended.`,
    why: 'A run that has ended takes no more orders; its commits stay.',
    command: [`./swarmline status ${run}`, `./swarmline deliver ${run}`],
  });
}

/** Types of failures that the user can answer: refused by the workflow's own checks, or a spec that is wrong. */
const USERS = new Set(['Refused', 'BadSpec']);

/** The error for a cause that came back from a workflow; null for one that says nothing. Pure. */
export function refusal(cause: unknown): UserError | FailedError | null {
  const wrapped = cause instanceof ActivityFailure || cause instanceof ChildWorkflowFailure;
  const inner: unknown = wrapped ? cause.cause : cause;
  if (!(inner instanceof ApplicationFailure)) {
    return inner instanceof Error ? new FailedError({ what: printable(inner.message) }, { cause: inner }) : null;
  }
  const what = printable(inner.message);
  return USERS.has(inner.type ?? '')
    ? new UserError({ what }, { cause: inner })
    : new FailedError({ what, why: inner.cause?.message }, { cause: inner });
}
