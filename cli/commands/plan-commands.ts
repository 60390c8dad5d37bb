/** Changing what a run is to do: a task amended, a task added. */
import type { Command } from 'commander';
import { withContext } from '../context.ts';
import { outcomeLine } from './arguments.ts';

export function register(program: Command): void {
  program
    .command('amend')
    .description('change a task that is pending or blocked; FILE (YAML or JSON) holds the fields to replace')
    .argument('<run>')
    .argument('<task>')
    .argument('<file>')
    .action((run: string, task: string, file: string) =>
      withContext(async (context) => {
        const { readTaskFile } = await import('../task-file.ts');
        const spec = await readTaskFile(file);
        const { update } = await import('../updates.ts');
        const said = await update(context, run, 'amendTask', { task, spec }, `amending ${task}`);
        context.print(outcomeLine(said, `${task} is amended; its next attempt works by the new text`));
      }),
    );

  program
    .command('add')
    .description('add a task to a run; FILE (YAML or JSON) holds it as it would stand under `tasks`')
    .argument('<run>')
    .argument('<file>')
    .action((run: string, file: string) =>
      withContext(async (context) => {
        const { readTaskFile } = await import('../task-file.ts');
        const task = await readTaskFile(file);
        const { update } = await import('../updates.ts');
        const said = await update(context, run, 'addTask', { task }, 'adding the task');
        context.print(outcomeLine(said, 'the task is added'));
      }),
    );
}
