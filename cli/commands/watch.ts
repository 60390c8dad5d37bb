/** `watch RUN`: follows a run until it ends or only a person can move it. */
import type { Command } from 'commander';
import { withContext } from '../context.ts';

export function register(program: Command): void {
  program
    .command('watch')
    .description('follow a run; exit 0 when it completed, 1 when it failed, was cancelled or waits for a person')
    .argument('<run>')
    .option('--json', 'one JSON object a line, whenever something changed', false)
    .action((run: string, { json }: { json: boolean }) =>
      withContext(async (context) => (await import('../watch.ts')).watch(context, run, { json })),
    );
}
