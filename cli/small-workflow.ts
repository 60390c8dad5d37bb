/** A small workflow that belongs to no open run: started, or joined when it runs already, and waited for. */
import { WorkflowFailedError } from '@temporalio/client';
import type { Context } from './context.ts';
import { QUEUE } from './temporal.ts';
import { refusal, tellIfNobodyWorks } from './updates.ts';

/** @throws UserError, FailedError */
export async function executeSmall(
  context: Context,
  type: string,
  workflowId: string,
  argument: Readonly<Record<string, unknown>>,
  title: string,
): Promise<unknown> {
  const { client } = await context.temporal();
  await tellIfNobodyWorks(context);
  try {
    return await context.progress.step(title, () =>
      client.workflow.execute(type, {
        taskQueue: QUEUE,
        workflowId,
        args: [argument],
        workflowIdConflictPolicy: 'USE_EXISTING',
        staticSummary: title,
      }),
    );
  } catch (error) {
    if (error instanceof WorkflowFailedError) throw refusal(error.cause) ?? error;
    throw error;
  }
}
