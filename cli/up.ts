/** `up`: everything that a run needs on this machine, started and ready. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { createProgress } from './progress.ts';
import type { Progress } from './progress.ts';
import { loadSettings } from './setup/settings.ts';
import type { Settings } from './setup/settings.ts';
import type { StackReport, Started } from './setup/stack.ts';

/** One line per service: what was done about it. Pure. */
export function upLines(report: StackReport, ui: string | null): string[] {
  const said: Record<Started, string> = { given: 'given', 'already running': 'runs already', started: 'started' };
  const workers = Object.entries(report.workers).map(([name, how]) => `${name} worker: ${said[how]}`);
  return [
    `Temporal: ${said[report.temporal]}`,
    `Postgres: ${said[report.postgres]}`,
    ...workers,
    ...(ui === null ? [] : [`Temporal UI: ${ui}`]),
  ];
}

/** When this checkout was last built, milliseconds since the epoch; 0 when that is unknown. */
function builtAtMs(root: string): number {
  return statSync(join(root, 'dist', '.swarmline-stamp'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

async function workersAreOld(settings: Settings): Promise<boolean> {
  const [{ WORKERS, workerPidFile }, { readRunning }, { projectRoot }] = await Promise.all([
    import('./setup/worker-processes.ts'),
    import('./setup/process.ts'),
    import('./setup/root.ts'),
  ]);
  const built = builtAtMs(projectRoot());
  const running = await Promise.all(WORKERS.map((worker) => readRunning(workerPidFile(settings, worker))));
  return running.some((record) => record !== null && record.startedAtMs < built);
}

/** Makes the machine ready and starts everything. Throws MissingError. */
export async function bringUp(
  given: NodeJS.ProcessEnv,
  { yes, progress = createProgress() }: { yes: boolean; progress?: Progress },
): Promise<{ report: StackReport; settings: Settings; ui: string | null }> {
  const settings = loadSettings(given);
  const [{ ensureMachine }, { startProcesses }, { temporalUi }] = await Promise.all([
    import('./setup/machine.ts'),
    import('./setup/stack.ts'),
    import('./setup/temporal-server.ts'),
  ]);
  const temporalIsGiven = settings.given.temporalAddress !== null;
  await ensureMachine({
    yes,
    progress,
    settings,
    want: ['docker', 'image', 'postgres', ...(temporalIsGiven ? [] : (['temporal'] as const))],
  });
  const report = await startProcesses(settings, given, { progress, yes });
  return { report, settings, ui: temporalUi(settings) };
}

export function register(program: Command): void {
  program
    .command('up')
    .description('start Temporal, Postgres and the workers on this machine; what runs already is left alone')
    .option('-y, --yes', 'install what is missing without asking', false)
    .action(async ({ yes }: { yes: boolean }) => {
      const { report, settings, ui } = await bringUp(process.env, { yes });
      for (const line of upLines(report, ui)) process.stdout.write(`${line}\n`);
      if (await workersAreOld(settings)) {
        process.stdout.write(
          'The workers run an older build. To take the new one: ./swarmline down && ./swarmline up\n',
        );
      }
    });
}
