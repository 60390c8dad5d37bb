/** `reviews RUN [TASK]`: what reviewers said. `finding`: a person's word about one of their findings. */
import type { Command } from 'commander';
import { readFindingName } from '../../spec/finding-proof.ts';
import type { Context } from '../context.ts';
import { withContext } from '../context.ts';
import { UserError } from '../exit.ts';
import { reviewLines } from '../render/reviews.ts';
import { oneOf } from './arguments.ts';

export function register(program: Command): void {
  program
    .command('reviews')
    .description('what reviewers said of each attempt, and what their findings proved to be')
    .argument('<run>')
    .argument('[task]', 'of this task only')
    .option('--json', 'as one JSON object', false)
    .action((run: string, task: string | undefined, { json }: { json: boolean }) =>
      withContext((context) => reviews(context, run, task ?? null, json)),
    );

  program
    .command('finding')
    .description('say that a finding of a reviewer was right or wrong; `cost` counts it so from then on')
    .argument('<run>')
    .argument('<attempt>', 'TASK/ATTEMPT')
    .argument('<finding>', 'as `reviews` names it: REVIEWER.NUMBER')
    .argument('<word>', 'right or wrong')
    .action((run: string, attempt: string, finding: string, word: string) =>
      withContext((context) => say(context, run, attempt, finding, word)),
    );
}

async function reviews(context: Context, run: string, task: string | null, json: boolean): Promise<void> {
  const { listReviewed, loadRun } = await import('../../store/index.ts');
  const pool = await context.store();
  if ((await loadRun(pool, run)) === null) throw await (await import('../runs.ts')).unknownRun(context, run);
  const attempts = await listReviewed(pool, run, task);
  if (json) context.print(JSON.stringify({ run, attempts }));
  else if (attempts.length === 0) context.print(`no attempt of ${task ?? run} has been reviewed yet`);
  else for (const line of reviewLines(attempts)) context.print(line);
}

async function say(context: Context, run: string, attempt: string, finding: string, word: string): Promise<void> {
  const example = `./swarmline finding ${run} TASK/1 1.1 wrong`;
  oneOf(word, ['right', 'wrong'], 'WORD', example);
  const [, task, nth] = /^(.+)\/([1-9]\d{0,5})$/.exec(attempt) ?? [];
  const name = readFindingName(finding);
  if (task === undefined || nth === undefined || name === null) {
    throw new UserError({
      what: `"${attempt} ${finding}" names no finding: the attempt as TASK/ATTEMPT, the finding as REVIEWER.NUMBER.`,
      command: `./swarmline reviews ${run}`,
    });
  }
  const { sayOfFinding } = await import('../../store/index.ts');
  const key = { run, task, attempt: Number(nth), ...name };
  if (!(await sayOfFinding(await context.store(), key, word as 'right' | 'wrong'))) {
    throw new UserError({
      what: `${run} has no finding ${finding} of ${attempt}.`,
      command: `./swarmline reviews ${run} ${task}`,
    });
  }
  context.print(`finding ${finding} of ${attempt} counts as ${word}`);
}
