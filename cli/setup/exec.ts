/** Runs other programs for set-up: argv only, a failure carries what was run, how it ended and the end of its output. */
import { spawn } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** Bytes of output kept for the message of a failure. */
const TAIL_BYTES = 4_096;

/** A program ended other than with 0; `exitCode` null: it was killed or did not start. */
export class CommandFailed extends Error {
  readonly argv: readonly string[];
  readonly exitCode: number | null;
  readonly outputTail: string;

  constructor(argv: readonly string[], exitCode: number | null, outputTail: string, options?: ErrorOptions) {
    super(`${argv.join(' ')} ended with ${exitCode ?? 'no exit code'}: ${outputTail.trim()}`, options);
    this.name = 'CommandFailed';
    this.argv = argv;
    this.exitCode = exitCode;
    this.outputTail = outputTail;
  }
}

export interface RunOptions {
  readonly cwd?: string | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
  readonly timeoutMs?: number | undefined;
  /** Called with each line of output, for a note beside a progress line. */
  readonly onLine?: ((line: string) => void) | undefined;
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
}

/** Runs a program to its end and returns what it printed on standard output. Throws CommandFailed. */
export function run(argv: readonly string[], options: RunOptions = {}): Promise<string> {
  const [file, ...args] = argv;
  if (file === undefined) throw new TypeError('an empty command');
  const { onLine, timeoutMs, ...rest } = options;
  const spawnOptions = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      ...spawnOptions,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    // Not spawn's own timeout: its timer outlives a program that could not be started.
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    let stdout = '';
    let tail = '';
    const take = (text: string): void => {
      tail = (tail + text).slice(-TAIL_BYTES);
      if (onLine === undefined) return;
      const last = text
        .trimEnd()
        .split(/[\r\n]/)
        .at(-1);
      if (last !== undefined && last.trim() !== '') onLine(last.trim());
    };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      take(text);
    });
    child.stderr.setEncoding('utf8').on('data', take);
    child.on('error', (error) => {
      clearTimeout(timer);
      reject(new CommandFailed(argv, null, error.message, { cause: error }));
    });
    child.on('close', (code) => {
      clearTimeout(timer);
      if (code === 0) resolve(stdout);
      else reject(new CommandFailed(argv, code, tail));
    });
  });
}

/** The absolute path of a program on PATH, or null. */
export async function which(name: string, env: NodeJS.ProcessEnv = process.env): Promise<string | null> {
  for (const folder of (env['PATH'] ?? '').split(delimiter)) {
    if (folder === '') continue;
    const path = join(folder, name);
    const found = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return path;
  }
  return null;
}
