/**
 * Agents that ask for files which their task was not given: granted, refused or made a task of, by policy or by a person.
 *
 * 1. A request is answered in the store, where the agent hears of it; until then a person is told that it waits.
 */
import { ApplicationFailure, setHandler } from '@temporalio/workflow';
import type { ScopeAnswer } from '../activities/contract.ts';
import * as protocol from './protocol.ts';
import { mainlineActivities, recordActivities } from './proxies.ts';
import type { RunContext } from './run-context.ts';

export function handleScope(current: () => RunContext | null): void {
  setHandler(protocol.scopeRequested, async (asked) => {
    const context = current();
    if (context === null || context.scopeRequests.has(asked.request)) return;
    const policy = context.admitted.policy.scope ?? 'ask'; // absent in runs of an older version
    context.scopeRequests.set(asked.request, { ...asked, sinceMs: Date.now(), why: '' });
    if (policy !== 'ask') {
      const refused = await answer(context, asked.request, policy, `by policy.scope: ${policy}`);
      if (refused === null) return;
      context.scopeRequests.set(asked.request, { ...asked, sinceMs: Date.now(), why: refused });
    }
    const files = asked.paths.join(', ');
    await recordActivities.askPersonForScope({ run: context.run, request: asked.request });
    context.planning?.concern(
      asked.task,
      'scope',
      `Task ${asked.task} asks to change ${files}, which it was not given: ${asked.note}\nPlan what is missing, if anything is; its own scope stays as it is.`,
    );
    await context.notify(
      'blocked',
      `scope-${asked.request}`,
      `${context.run}: ${asked.task} asks to change ${files}: ${asked.note}`,
    );
    context.stirred = true;
    await context.record();
  });

  setHandler(protocol.answerScopeUpdate, async ({ request, answer: how, note = '' }) => {
    const context = current();
    if (context === null) throw refusal('The run is still being validated; try again in a moment');
    const refused = await answer(context, request, how, note);
    if (refused !== null) throw refusal(refused);
    return `${request}: answered`;
  });
}

const refusal = (message: string): ApplicationFailure =>
  ApplicationFailure.create({ message, type: 'Refused', nonRetryable: true });

/** @returns why it could not be answered so; null: it is answered */
async function answer(context: RunContext, request: string, how: ScopeAnswer, note: string): Promise<string | null> {
  const { run, state } = context;
  const answered = await mainlineActivities.answerScope({ run, request, answer: how, note });
  if (answered.refused !== null) return answered.refused;
  const { task } = answered;
  if (task !== null) {
    if (state.get(task.id) === undefined) state.add(task, Date.now());
    else state.amend(task);
    await context.tellPlan();
  }
  context.scopeRequests.delete(request);
  context.stirred = true;
  await context.record();
  return null;
}
