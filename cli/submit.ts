/** Starting a run: its id, the size that Temporal takes, and one start that never touches an older run. Also used by `demo`. */
import type { Context } from './context.ts';
import { UserError } from './exit.ts';

/** Largest argument of a workflow: 2 MiB in Temporal Server 1.28 (beyond it the workflow is terminated), less some room for its envelope. */
export const PAYLOAD_BYTES = 2 * 1024 * 1024 - 16 * 1024;
const ID = /^[a-z0-9][a-z0-9._-]{0,62}$/;
const ID_LENGTH = 63;

export interface Submission {
  /** The spec as it was written, preset tests read in. */
  readonly raw: unknown;
  /** Its validated name. */
  readonly name: string;
  /** null: made of name and time. */
  readonly id: string | null;
}

/** `<name>-<yyyymmdd-hhmmss>` in UTC, the name cut where the id would be too long. Pure. */
export function runIdFor(name: string, now: Date): string {
  const stamp = now.toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
  return `${name.slice(0, ID_LENGTH - stamp.length - 1).replace(/[._-]+$/, '')}-${stamp}`;
}

/** @throws UserError when the id cannot be one */
export function checkRunId(id: string): void {
  if (ID.test(id) && !id.includes('..') && !id.endsWith('.') && !id.endsWith('.lock')) return;
  throw new UserError({
    what: `"${id}" cannot be the id of a run.`,
    why: 'It names refs and containers: a-z, 0-9, ".", "_", "-", at most 63, starting with a letter or digit, without "..", not ending in "." or ".lock".',
  });
}

/** @throws UserError when Temporal would not take it */
export function checkPayload(raw: unknown): void {
  const bytes = Buffer.byteLength(JSON.stringify(raw));
  if (bytes <= PAYLOAD_BYTES) return;
  throw new UserError({
    what: `The spec is ${mib(bytes)} MiB; Temporal takes at most ${mib(PAYLOAD_BYTES)} MiB.`,
    why: 'Name preset tests by their path in the repository instead of carrying them, use fanOut instead of many similar tasks, or split the spec into several runs.',
  });
}

const mib = (bytes: number): string => (bytes / (1024 * 1024)).toFixed(2);

/** Starts the run. @throws UserError when the id is taken, by an open run or by one that has ended */
export async function submit(
  context: Context,
  { raw, name, id: wanted }: Submission,
): Promise<{ readonly id: string; readonly ui: string | null }> {
  const id = wanted ?? runIdFor(name, new Date());
  checkRunId(id);
  checkPayload(raw);
  const [{ QUEUE, uiLink }, { tellWhoIsMissing }, { WorkflowExecutionAlreadyStartedError }] = await Promise.all([
    import('./temporal.ts'),
    import('./updates.ts'),
    import('@temporalio/client'),
  ]);
  const temporal = await context.temporal();
  await context.store(); // what cannot be followed is not started
  try {
    await temporal.client.workflow.start('runSpec', {
      taskQueue: QUEUE,
      workflowId: id,
      args: [raw],
      workflowIdConflictPolicy: 'FAIL',
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      staticSummary: `run ${name}`,
      staticDetails: `\`./swarmline status ${id}\``,
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    throw new UserError(
      {
        what: `There is a run ${id} already.`,
        why: 'An id names one run for ever.',
        command: [`./swarmline status ${id}`, './swarmline run SPEC   # without --id'],
      },
      { cause: error },
    );
  }
  await tellWhoIsMissing(context);
  return { id, ui: uiLink(temporal, id, context.settings.ports, context.env) };
}
