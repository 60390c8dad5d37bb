/** `logs RUN TASK`: agent output, gate output, and why it failed. */
import type { Command } from 'commander';
import { STEPS } from '../../activities/agent-attempt.ts';
import type { Artifact, Pool } from '../../store/index.ts';
import type { Context } from '../context.ts';
import { withContext } from '../context.ts';
import { UserError } from '../exit.ts';
import { artifactLines, attemptLines, attemptTable, stepLines } from '../render/logs.ts';
import { wholeNumber } from './arguments.ts';

export function register(program: Command): void {
  program
    .command('logs')
    .description('what an attempt’s agent and gate printed, and why it failed')
    .argument('<run>')
    .argument('<task>', 'or baseline, mainline, wave-N: the gates of the run itself')
    .option('--attempt <n>', 'default: the newest')
    .action((run: string, task: string, options: { attempt?: string }) => {
      const attempt = options.attempt === undefined ? null : wholeNumber(options.attempt, '--attempt', 1);
      return withContext((context) => logs(context, run, task, attempt));
    });
}

async function logs(context: Context, run: string, task: string, wanted: number | null): Promise<void> {
  const { listAttempts, gateSteps, listTasks, loadRun } = await import('../../store/index.ts');
  const pool = await context.store();
  if ((await loadRun(pool, run)) === null) throw await (await import('../runs.ts')).unknownRun(context, run);
  const attempts = await listAttempts(pool, run, task);
  if (attempts.length === 0) {
    const tasks = (await listTasks(pool, run)).map((row) => row.id);
    if (tasks.includes(task)) {
      context.print(`task ${task} has made no attempt yet`);
      return;
    }
    if (await gateLogs(context, pool, run, task)) return;
    throw (await import('../runs.ts')).unknownTask(run, task, tasks);
  }
  const attempt = wanted === null ? attempts.at(-1) : attempts.find((row) => row.attempt === wanted);
  if (attempt === undefined) {
    throw new UserError({
      what: `Task ${task} has made no attempt ${wanted}.`,
      why: `Its attempts: ${attempts.map((row) => row.attempt).join(', ')}.`,
    });
  }
  const steps = await gateSteps(pool, run, `${task}/${attempt.attempt}`);
  const artifacts = await load(pool, run, task, attempt.attempt);
  for (const line of attemptLines(attempt, steps, artifacts)) context.print(line);
  if (attempts.length > 1) for (const line of ['', 'attempts', ...attemptTable(attempts)]) context.print(line);
}

/** Gates of the run itself, by the key under which they were recorded. false: nothing was. */
async function gateLogs(context: Context, pool: Pool, run: string, key: string): Promise<boolean> {
  const { gateSteps } = await import('../../store/index.ts');
  const steps = await gateSteps(pool, run, key);
  if (steps.length === 0) return false;
  const named = new Set(steps.map((step) => step.artifact));
  const artifacts = (await load(pool, run, null, 0)).filter((artifact) => named.has(artifact.name));
  for (const line of [`${key} of ${run}`, ...stepLines(steps)]) context.print(line);
  for (const line of artifacts.flatMap(artifactLines)) context.print(line);
  return true;
}

/** The agent's own output first, then the gate's in the order in which they were written. */
async function load(pool: Pool, run: string, task: string | null, attempt: number): Promise<Artifact[]> {
  const { listArtifacts, loadArtifact } = await import('../../store/index.ts');
  // What an agent did step by step is in its log as well, in its own words.
  const infos = (await listArtifacts(pool, run, task, attempt)).filter(({ name }) => name !== STEPS);
  const found: Artifact[] = [];
  for (const { name } of infos.toSorted((a, b) => Number(b.name === 'agent.log') - Number(a.name === 'agent.log'))) {
    const artifact = await loadArtifact(pool, { run, task, attempt, name });
    if (artifact !== null) found.push(artifact);
  }
  return found;
}
