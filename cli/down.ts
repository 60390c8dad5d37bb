/** `down`: stops what `up` started on this machine; data stay. */
import type { Command } from 'commander';
import { createProgress } from './progress.ts';
import { loadSettings } from './setup/settings.ts';
import type { Settings } from './setup/settings.ts';
import type { StopReport } from './setup/stack.ts';

/** Attempts that run on the workers of this machine; null when the database does not say. */
async function attemptsRunning(settings: Settings): Promise<number | null> {
  const [{ connect, runningAttempts }, { databaseUrl }] = await Promise.all([
    import('../store/index.ts'),
    import('./setup/postgres.ts'),
  ]);
  const url = databaseUrl(settings);
  if (url === null) return null;
  const pool = connect(url, { max: 1 });
  try {
    return (await runningAttempts(pool)).length;
  } catch {
    // Not running, or no schema yet: then no attempt of ours can be running either.
    return null;
  } finally {
    await pool.end();
  }
}

/** What `down` says before it stops anything; null: nothing to say. Pure. */
export function warning(attempts: number | null): string | null {
  if (attempts === null || attempts === 0) return null;
  return attempts === 1
    ? '1 attempt is running; it will have to be repeated.'
    : `${attempts} attempts are running; they will have to be repeated.`;
}

/** One line per process that was stopped, or that there was none. Pure. */
export function downLines(report: StopReport, settings: Settings): string[] {
  const said = { stopped: 'stopped', killed: 'did not stop in time and was killed' } as const;
  const lines = report.flatMap(({ name, result }) => (result === 'not running' ? [] : [`${name}: ${said[result]}`]));
  if (lines.length === 0) lines.push('Nothing was running.');
  lines.push(`Data are kept in ${settings.stateDir}; the Docker engine is left as it is.`);
  return lines;
}

export function register(program: Command): void {
  program
    .command('down')
    .description('stop the workers, Postgres and Temporal on this machine; data stay')
    .action(async () => {
      const settings = loadSettings(process.env);
      const said = warning(await attemptsRunning(settings));
      if (said !== null) process.stdout.write(`${said}\n`);
      const { stopProcesses } = await import('./setup/stack.ts');
      const report = await stopProcesses(settings, createProgress());
      for (const line of downLines(report, settings)) process.stdout.write(`${line}\n`);
    });
}
