/** `deliver RUN`: push what is green, of a run that is open or has ended. */
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { withContext } from '../context.ts';
import { outcomeLine } from './arguments.ts';

export function register(program: Command): void {
  program
    .command('deliver')
    .description('push the newest green point to where the spec says; never by force')
    .argument('<run>')
    .action((run: string) => withContext((context) => deliver(context, run)));
}

async function deliver(context: Context, run: string): Promise<void> {
  const { runState, update } = await import('../updates.ts');
  const { client } = await context.temporal();
  const { state } = await runState(client, run);
  const otherwise = `what is green of ${run} is delivered`;
  if (state === 'running') {
    context.print(deliveryLine(await update(context, run, 'deliver', {}, `delivering ${run}`), otherwise));
    return;
  }
  // Temporal forgets closed runs after its retention; the store and the hub do not.
  const { loadRun } = await import('../../store/index.ts');
  if ((await loadRun(await context.store(), run)) === null) {
    throw await (await import('../runs.ts')).unknownRun(context, run);
  }
  const { executeSmall } = await import('../small-workflow.ts');
  const said = await executeSmall(context, 'deliverRun', `${run}:deliver`, { run }, `delivering ${run}`);
  context.print(deliveryLine(said, otherwise));
}

/** What `deliverMain` says, as a sentence. */
export function deliveryLine(said: unknown, otherwise: string): string {
  if (typeof said !== 'object' || said === null) return outcomeLine(said, otherwise);
  const text = (name: string): string | null => {
    const value: unknown = Reflect.get(said, name);
    return typeof value === 'string' ? value : null;
  };
  const commit = text('commit');
  const pushed = text('pushed');
  const fetch = text('fetch');
  if (pushed !== null) return `${commit ?? 'main'} is pushed to ${pushed}`;
  if (fetch !== null) return `${commit ?? 'main'} stays in the hub; type ${fetch}`;
  return otherwise;
}
