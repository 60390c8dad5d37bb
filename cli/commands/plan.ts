/** `plan RUN`: what planners made of the goal. `replan RUN`: call one again. `scope RUN`: answer an agent that asks for more files. */
import type { Command } from 'commander';
import { withContext } from '../context.ts';
import type { Context } from '../context.ts';
import { UserError } from '../exit.ts';
import { planReport, planLines } from '../render/plan.ts';
import { oneOf, outcomeLine } from './arguments.ts';

const ANSWERS = ['grant', 'refuse', 'task'] as const;

export function register(program: Command): void {
  program
    .command('plan')
    .description('the plan: planners and their scopes, tasks, decisions, and what the whole is worth')
    .argument('<run>')
    .option('--json', 'as one JSON object', false)
    .action((run: string, { json }: { json: boolean }) => withContext((context) => show(context, run, json)));

  program
    .command('replan')
    .description('call a planner again, with a word from you; or leave one that failed as it is')
    .argument('<run>')
    .option('--scope <id>', 'whose planner; the first one’s where it is left out')
    .option('--say <text>', 'what it is told')
    .option('--leave', 'do not call it: it has nothing more to plan', false)
    .action((run: string, { scope = '', say, leave }: { scope?: string; say?: string; leave: boolean }) =>
      withContext(async (context) => {
        if (leave && say !== undefined) {
          const what = '--leave calls nobody who could be told something.';
          throw new UserError({ what, command: `./swarmline replan ${run} --say "…"` });
        }
        const { update } = await import('../updates.ts');
        const argument = { scope, leave, ...(say === undefined ? {} : { say }) };
        const said = await update(context, run, 'replan', argument, leave ? 'leaving it' : 'the planner plans');
        context.print(outcomeLine(said, 'it has planned'));
      }),
    );

  program
    .command('scope')
    .description('answer an agent that asks for files which its task was not given; without a request: list them')
    .argument('<run>')
    .argument('[request]', 'as `scope RUN` names it')
    .argument('[answer]', ANSWERS.join(', '))
    .option('--note <text>', 'what the agent is told')
    .action((run: string, request: string | undefined, answer: string | undefined, { note }: { note?: string }) =>
      withContext(async (context) => {
        if (request === undefined) return requests(context, run);
        oneOf(answer ?? '', ANSWERS, 'ANSWER', `./swarmline scope ${run} ${request} ${ANSWERS[0]}`);
        const { update } = await import('../updates.ts');
        const argument = { request, answer, ...(note === undefined ? {} : { note }) };
        const said = await update(context, run, 'answerScope', argument, `answering ${request}`);
        context.print(outcomeLine(said, 'answered'));
      }),
    );
}

async function show(context: Context, run: string, json: boolean): Promise<void> {
  const { listPlanAnswers, loadPlan, loadPlanScore, loadRun } = await import('../../store/index.ts');
  const pool = await context.store();
  if ((await loadRun(pool, run)) === null) throw await (await import('../runs.ts')).unknownRun(context, run);
  const report = planReport(
    await loadPlan(pool, run),
    await listPlanAnswers(pool, run),
    await loadPlanScore(pool, run),
  );
  if (json) context.print(JSON.stringify({ run, ...report }));
  else for (const line of planLines(run, report)) context.print(line);
}

async function requests(context: Context, run: string): Promise<void> {
  const { listScopeRequests, loadRun } = await import('../../store/index.ts');
  const pool = await context.store();
  if ((await loadRun(pool, run)) === null) throw await (await import('../runs.ts')).unknownRun(context, run);
  const all = await listScopeRequests(pool, run);
  if (all.length === 0) context.print(`no agent of ${run} has asked for files that its task was not given`);
  for (const { key, task, paths, note, state, answer } of all) {
    context.print(
      `${key}  ${state}${answer === null ? '' : ` (${answer})`}  ${task} asks for ${paths.join(', ')}: ${note}`,
    );
  }
}
