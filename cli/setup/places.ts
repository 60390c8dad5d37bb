/** Files of the processes that `up` starts, and what is said when one of them does not come up. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MissingError } from '../exit.ts';
import type { Settings } from './settings.ts';

export const pidFile = (settings: Settings, name: string): string => join(settings.stateDir, 'pids', `${name}.pid`);
export const logFile = (settings: Settings, name: string): string => join(settings.stateDir, 'logs', `${name}.log`);

/** The last lines of a log, for a message; '' when there is none. */
export async function logTail(path: string, lines = 8): Promise<string> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.trimEnd().split('\n').slice(-lines).join('\n').slice(-2_000).trim();
}

/** The error for a process that ended, or did not become ready in time. */
export async function startFailure(
  settings: Settings,
  name: string,
  what: string,
  ended: boolean,
): Promise<MissingError> {
  const log = logFile(settings, name);
  const tail = await logTail(log);
  return new MissingError({
    what: ended ? `${what} ended while it was starting.` : `${what} did not become ready in time.`,
    why: tail === '' ? 'Its log is empty.' : tail,
    command: `less ${log}`,
  });
}
