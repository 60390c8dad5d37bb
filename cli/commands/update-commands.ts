/** The orders that a person gives a running run: one update each, told when it has happened. */
import type { Command } from 'commander';
import { WAIVABLE } from '../../spec/model.ts';
import { APPROVALS, ROLE_NAMES } from '../../spec/model.ts';
import { withContext } from '../context.ts';
import { UserError } from '../exit.ts';
import { oneOf, outcomeLine } from './arguments.ts';

async function order(
  run: string,
  name: string,
  argument: Readonly<Record<string, unknown>>,
  title: string,
  otherwise: string,
): Promise<void> {
  await withContext(async (context) => {
    const { update } = await import('../updates.ts');
    const said = await update(context, run, name, argument, title);
    context.print(outcomeLine(said, otherwise));
  });
}

/** A number, or null for `none`. */
function limit(text: string, option: string, command: string): number | null {
  if (text === 'none') return null;
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value) && value >= 0) return value;
  throw new UserError({ what: `${option} ${text} is no limit: a number, or none.`, command });
}

export function register(program: Command): void {
  program
    .command('approve')
    .description('let through what the run’s policy.approve holds back')
    .argument('<run>')
    .argument('<what>', APPROVALS.join(', '))
    .option('--task <id>', 'which task’s merge')
    .action(async (run: string, what: string, options: { task?: string }) => {
      oneOf(what, APPROVALS, 'WHAT', `./swarmline approve ${run} ${APPROVALS[0]}`);
      if (what === 'merge' && options.task === undefined) {
        throw new UserError({
          what: 'A merge is approved for one task: say which.',
          command: `./swarmline approve ${run} merge --task TASK`,
        });
      }
      const argument = options.task === undefined ? { what } : { what, task: options.task };
      await order(run, 'approve', argument, `approving ${what}`, `approved: ${what}`);
    });

  program
    .command('retry')
    .description('give a blocked task new attempts')
    .argument('<run>')
    .argument('<task>')
    .action((run: string, task: string) =>
      order(run, 'retryTask', { task }, `retrying ${task}`, `${task} is being tried again`),
    );

  program
    .command('skip')
    .description('end a task without its work')
    .argument('<run>')
    .argument('<task>')
    .option('--dependants <release|skip>', 'what becomes of the tasks that wait for it', 'release')
    .action(async (run: string, task: string, { dependants }: { dependants: string }) => {
      oneOf(dependants, ['release', 'skip'], '--dependants', `./swarmline skip ${run} ${task} --dependants skip`);
      await order(run, 'skipTask', { task, dependants }, `skipping ${task}`, `${task} is skipped`);
    });

  program
    .command('pause')
    .description('stop starting, merging and running: containers are frozen until `resume`')
    .argument('<run>')
    .option('--drain', 'let the attempts under way end instead of freezing them', false)
    .action((run: string, { drain }: { drain: boolean }) =>
      order(run, 'pause', { drain }, `pausing ${run}`, `${run} is paused; type ./swarmline resume ${run}`),
    );

  program
    .command('resume')
    .description('go on after `pause`')
    .argument('<run>')
    .action((run: string) => order(run, 'resume', {}, `resuming ${run}`, `${run} goes on`));

  program
    .command('raise-budget')
    .description('give a run that has spent its budget more; it goes on at once')
    .argument('<run>')
    .option('--usd <n>', 'the new limit in US dollars, all told (none: no limit)')
    .option('--tokens <n>', 'the new limit in tokens, all told (none: no limit)')
    .option('--of <role|task>', `of a role (${ROLE_NAMES.join(', ')}) or of each task; default: of the run`)
    .action(async (run: string, options: { usd?: string; tokens?: string; of?: string }) => {
      const command = `./swarmline raise-budget ${run} --usd 50`;
      if (options.usd === undefined && options.tokens === undefined) {
        throw new UserError({ what: 'Say what is raised: --usd, --tokens, or both.', command });
      }
      if (options.of !== undefined) oneOf(options.of, [...ROLE_NAMES, 'task'], '--of', `${command} --of worker`);
      const argument = {
        ...(options.usd === undefined ? {} : { usd: limit(options.usd, '--usd', command) }),
        ...(options.tokens === undefined ? {} : { tokens: limit(options.tokens, '--tokens', command) }),
        ...(options.of === undefined ? {} : { of: options.of }),
      };
      await order(run, 'raiseBudget', argument, `raising the budget of ${run}`, 'the budget is raised');
    });

  program
    .command('land-anyway')
    .description('waive one gate step of a blocked task, or its review; mainline and wave gates still decide')
    .argument('<run>')
    .argument('<task>')
    .argument('<step>', WAIVABLE.join(', '))
    .requiredOption('--reason <text>', 'recorded with the task')
    .action(async (run: string, task: string, step: string, { reason }: { reason: string }) => {
      oneOf(step, WAIVABLE, 'STEP', `./swarmline land-anyway ${run} ${task} lint --reason "…"`);
      if (reason.trim() === '') throw new UserError({ what: '--reason must say something: it is recorded.' });
      const argument = { task, step, reason };
      await order(run, 'landAnyway', argument, `waiving ${step} of ${task}`, `${step} of ${task} is waived`);
    });
}
