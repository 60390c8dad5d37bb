/** `demo`: a real batch refactor of a real repository, from nothing to commits that can be read. */
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import { FailedError, MissingError } from './exit.ts';
import { createProgress } from './progress.ts';
import type { Progress } from './progress.ts';
import { CommandFailed, run } from './setup/exec.ts';
import { projectRoot } from './setup/root.ts';
import { runIdFor } from './submit.ts';
import { bringUp } from './up.ts';

/** What we need to know of the spec that was written for us. */
const Prepared = z.object({
  name: z.string(),
  deliver: z.object({ branch: z.string().optional() }).optional(),
});

interface Demonstration {
  readonly id: string;
  readonly repository: string;
  /** The spec as JSON, as `temporal workflow start` takes it. */
  readonly specFile: string;
  readonly branch: string;
}

/** Makes the repository, one for each demonstration so that each has its own branch to look at, and the spec on it. */
async function prepare(folder: string, full: boolean, progress: Progress): Promise<Demonstration> {
  const id = runIdFor(full ? 'demo-full' : 'demo', new Date());
  const specFile = join(folder, `${id}.json`);
  await mkdir(folder, { recursive: true });
  const program = join(projectRoot(), 'examples/zod/prepare.mjs');
  const argv = [process.execPath, program, '--out', join(folder, id), '--spec', full ? 'full' : 'small'];
  const printed = await progress.step('preparing the repository of the demonstration', async (note) => {
    try {
      return await run([...argv, '--write-spec', specFile], { onLine: note });
    } catch (error) {
      if (!(error instanceof CommandFailed)) throw error;
      const explanation = {
        what: 'The repository of the demonstration could not be made.',
        why: error.outputTail.trim(),
      };
      // Its exit codes are ours.
      throw error.exitCode === 3
        ? new MissingError(explanation, { cause: error })
        : new FailedError({ ...explanation, command: argv.join(' ') }, { cause: error });
    }
  });
  const repository = printed.trimEnd().split('\n').at(-1) ?? '';
  const spec = Prepared.parse(JSON.parse(await readFile(specFile, 'utf8')));
  return { id, repository, specFile, branch: spec.deliver?.branch ?? `swarmline/${spec.name}` };
}

/** The arguments of `temporal` that start the run. Pure. */
export function startArguments(
  demonstration: Pick<Demonstration, 'id' | 'specFile'>,
  at: { readonly address: string; readonly namespace: string },
): string[] {
  const workflow = ['--type', 'runSpec', '--task-queue', 'swarmline', '--workflow-id', demonstration.id];
  const input = ['--input-file', demonstration.specFile, '--fail-existing'];
  const summary = ['--static-summary', `run ${demonstration.id}`];
  return ['workflow', 'start', ...workflow, ...input, ...summary, '--address', at.address, '--namespace', at.namespace];
}

/** Where the results of a demonstration are. Pure. */
export function whereToLook({ id, repository, branch }: Demonstration, page: string | null): string[] {
  return [
    'Where to look:',
    `  the commits        git -C ${repository} log --oneline --graph ${branch}`,
    `  what they changed  git -C ${repository} diff --stat HEAD...${branch}`,
    `  the run            ./swarmline status ${id}`,
    ...(page === null ? [] : [`  the workflows      ${page}`]),
  ];
}

async function runDemo({ full, yes }: { full: boolean; yes: boolean }): Promise<void> {
  const progress = createProgress();
  const { settings } = await bringUp(process.env, { yes, progress });
  const [{ findTemporal }, { temporalAddress }, { withContext }, { watch }, { uiLink }] = await Promise.all([
    import('./setup/temporal.ts'),
    import('./setup/temporal-server.ts'),
    import('./context.ts'),
    import('./watch.ts'),
    import('./temporal.ts'),
  ]);
  const demonstration = await prepare(join(settings.stateDir, 'demo'), full, progress);
  const at = { address: temporalAddress(settings), namespace: settings.namespace };
  const start = startArguments(demonstration, at);
  process.stdout.write(
    `$ temporal ${start.map((argument) => (/^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument}'`)).join(' ')}\n`,
  );
  await run([(await findTemporal(settings)) ?? 'temporal', ...start]);
  const page = uiLink(at, demonstration.id, settings.ports);
  if (page !== null) process.stdout.write(`Watch it in the Temporal UI: ${page}\n`);
  process.once('SIGINT', () => {
    const { id } = demonstration;
    process.stdout.write(
      `\nThe run goes on. To follow it: ./swarmline watch ${id}   To stop it: ./swarmline cancel ${id}\n`,
    );
    process.exit(130);
  });
  try {
    await withContext((context) => watch(context, demonstration.id, { json: false }));
  } finally {
    process.stdout.write(`\n${whereToLook(demonstration, page).join('\n')}\n`);
  }
}

export function register(program: Command): void {
  program
    .command('demo')
    .description('start everything, run a real batch refactor in Docker, and say where to look')
    .option('--full', 'the whole demonstration, under an hour on two cores', false)
    .option('-y, --yes', 'install what is missing without asking', false)
    .action((options: { full: boolean; yes: boolean }) => runDemo(options));
}
