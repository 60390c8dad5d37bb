/** `gc`: removes attempts' commits that `policy.keepDays` of each run no longer asks to keep. The line, green points and logs stay. */
import type { Command } from 'commander';
import { withContext } from '../context.ts';
import { counts } from '../render/status.ts';
import { outcomeLine, wholeNumber } from './arguments.ts';

export function register(program: Command): void {
  program
    .command('gc')
    .description('remove what attempts of ended runs left in the hubs and is older than the runs ask to be kept')
    .option('--keep-days <n>', 'instead of each run’s own policy.keepDays')
    .action((options: { keepDays?: string }) => {
      const argument =
        options.keepDays === undefined ? {} : { keepDays: wholeNumber(options.keepDays, '--keep-days', 0) };
      return withContext(async (context) => {
        const { executeSmall } = await import('../small-workflow.ts');
        context.print(
          removedLine(await executeSmall(context, 'collectGarbage', 'swarmline:gc', argument, 'removing what is old')),
        );
      });
    });
}

/** `removed 2 runs, 40 refs`; what was counted under which name is the workflow's to say. */
export function removedLine(said: unknown): string {
  if (typeof said !== 'object' || said === null) return outcomeLine(said, 'done');
  const numbers = Object.entries(said).filter((entry): entry is [string, number] => typeof entry[1] === 'number');
  const text = counts(Object.fromEntries(numbers));
  return text === 'none' ? 'nothing to remove' : `removed ${text}`;
}
