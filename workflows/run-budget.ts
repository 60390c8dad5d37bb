/**
 * A run that has come to its budget pauses, says so, and goes on when a person has raised it.
 *
 * 1. The pause is the one that a person would ask for: containers are frozen, calls that wait at the gateway wait on.
 * 2. Raised means raised: the store has the new limits before the run goes on, and the update returns after both.
 * 3. A run that a person had paused stays paused when its budget is raised.
 */
import { ApplicationFailure, setHandler } from '@temporalio/workflow';
import * as protocol from './protocol.ts';
import { readableFailure, recordActivities } from './proxies.ts';
import type { RunContext } from './run-context.ts';
import { pauseRun, resumeRun } from './run-pause.ts';

export function handleBudget(current: () => RunContext | null): void {
  setHandler(protocol.budgetReached, async ({ why }) => {
    const context = current();
    if (context === null || context.spent !== null) return;
    context.spent = { why, sinceMs: Date.now(), wasPaused: context.paused };
    await context.notify('budget', `budget-${context.spent.sinceMs}`, `${context.run} is paused: ${why}`);
    if (context.paused) await context.record();
    else await pauseRun(context, false);
  });

  setHandler(protocol.raiseBudgetUpdate, async ({ usd, tokens, of = null }) => {
    const context = current();
    if (context === null) {
      throw ApplicationFailure.nonRetryable('The run is still being validated; try again in a moment', 'Refused');
    }
    const { run } = context;
    const change = { ...(usd === undefined ? {} : { usd }), ...(tokens === undefined ? {} : { tokens }) };
    const { text } = await recordActivities.raiseBudget({ run, of, ...change }).catch((error: unknown): never => {
      throw readableFailure(error);
    });
    const { spent } = context;
    context.spent = null;
    if (spent === null || spent.wasPaused) {
      await context.record();
      return `${text}${context.paused ? `; ${run} stays paused: type ./swarmline resume ${run}` : ''}`;
    }
    return `${text}. ${await resumeRun(context)}`;
  });
}
