/**
 * Processes that outlive the command: started detached, known by a pid file, stopped by it.
 *
 * Invariants
 * 1. A process is only signalled when its id, its start time and the boot are those of the pid file: a recycled id is never killed.
 * 2. A pid file whose process is gone means "not running", whatever left it behind.
 */
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { run } from './exec.ts';

const PidFile = z.object({
  pid: z.number().int().positive(),
  /** Identity of the process beside its id, from processIdentity. */
  identity: z.string(),
  argv: z.array(z.string()),
  /** Milliseconds since the epoch. */
  startedAtMs: z.number(),
});
export type PidFile = z.infer<typeof PidFile>;

/** The state letter and start time (clock ticks since boot) in /proc/<pid>/stat; the name in brackets may itself hold brackets. */
export function parseStat(stat: string): { state: string; startTicks: string } | null {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields[0];
  // Field 22 of proc(5), counted from 1; fields here begin with the third.
  const startTicks = fields[19];
  return state === undefined || startTicks === undefined ? null : { state, startTicks };
}

/** What tells a process from a later one with the same id; null: there is none (a zombie counts as none). */
export async function processIdentity(pid: number): Promise<string | null> {
  if (process.platform === 'linux') {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
    const parsed = stat === null ? null : parseStat(stat);
    if (parsed === null || parsed.state === 'Z' || parsed.state === 'X') return null;
    const boot = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
    return `${boot} ${parsed.startTicks}`;
  }
  const started = await run(['ps', '-o', 'lstart=', '-p', String(pid)]).catch(() => '');
  return started.trim() === '' ? null : started.trim();
}

/** The process of a pid file, or null when there is none any more. */
export async function readRunning(pidFile: string): Promise<PidFile | null> {
  const text = await readFile(pidFile, 'utf8').catch(() => null);
  if (text === null) return null;
  let parsed;
  try {
    parsed = PidFile.safeParse(JSON.parse(text));
  } catch {
    return null;
  }
  if (!parsed.success) return null;
  return (await processIdentity(parsed.data.pid)) === parsed.data.identity ? parsed.data : null;
}

export interface DaemonOptions {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly logFile: string;
  readonly pidFile: string;
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
}

/** Starts a process that survives this one, its output appended to the log. The pid file is written before it returns. */
export async function startDaemon(options: DaemonOptions): Promise<PidFile> {
  const [file, ...args] = options.argv;
  if (file === undefined) throw new TypeError('an empty command');
  await mkdir(dirname(options.logFile), { recursive: true });
  await mkdir(dirname(options.pidFile), { recursive: true });
  const log = openSync(options.logFile, 'a');
  try {
    const child = spawn(file, args, {
      cwd: options.cwd,
      env: options.env,
      detached: true,
      stdio: ['ignore', log, log],
      ...(options.uid === undefined ? {} : { uid: options.uid }),
      ...(options.gid === undefined ? {} : { gid: options.gid }),
    });
    const pid = await new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('spawn', () => resolve(child.pid!));
    });
    child.unref();
    const record: PidFile = {
      pid,
      identity: (await processIdentity(pid)) ?? 'ended at once',
      argv: [...options.argv],
      startedAtMs: Date.now(),
    };
    await writeFile(`${options.pidFile}.new`, `${JSON.stringify(record)}\n`);
    await rename(`${options.pidFile}.new`, options.pidFile);
    return record;
  } finally {
    closeSync(log);
  }
}

/** Polls until the answer is not null; null after `timeoutMs`. */
export async function poll<T>(question: () => Promise<T | null>, timeoutMs: number, everyMs = 100): Promise<T | null> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const answer = await question();
    if (answer !== null) return answer;
    if (Date.now() >= deadline) return null;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

export type StopResult = 'not running' | 'stopped' | 'killed';

/** Signals the process of a pid file, waits until it is gone, kills it after `timeoutMs`; removes the pid file. */
export async function stopDaemon(pidFile: string, signal: NodeJS.Signals, timeoutMs: number): Promise<StopResult> {
  const record = await readRunning(pidFile);
  if (record === null) {
    await rm(pidFile, { force: true });
    return 'not running';
  }
  const send = (name: NodeJS.Signals): void => {
    try {
      process.kill(record.pid, name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  };
  const gone = async (): Promise<true | null> =>
    (await processIdentity(record.pid)) === record.identity ? null : true;
  send(signal);
  let result: StopResult = 'stopped';
  if ((await poll(gone, timeoutMs)) === null) {
    send('SIGKILL');
    result = 'killed';
    await poll(gone, 10_000);
  }
  await rm(pidFile, { force: true });
  return result;
}
