/**
 * Runs git with a closed environment.
 *
 * 1. No configuration but the repository's own and the flags below is read: no system file, no user file, no HOME.
 * 2. No hook, no fsmonitor, no replace ref, no prompt, no automatic gc, no transport helper that runs commands.
 * 3. Secrets travel in `options.env`, never in `args`; what an error carries has user parts of URLs cut out.
 */
import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export interface GitOptions {
  /** Standard input: text, bytes or a stream. */
  readonly input?: Buffer | string | Readable;
  /** Added to the closed environment; wins over it. */
  readonly env?: Readonly<Record<string, string>>;
  /** The process is killed after this. Default 120 000. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
  /** The process is killed when its output grows beyond this. Default 1 GiB. */
  readonly maxOutputBytes?: number;
}

export interface GitResult {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderrTail: string;
}

export type GitEnd = 'exited' | 'signal' | 'timeout' | 'aborted' | 'too-much-output' | 'not-started';

/** A git command that did not end with a code that its caller expects. */
export class GitError extends Error {
  override readonly name = 'GitError';
  readonly argv: readonly string[];
  /** null when a signal ended it. */
  readonly exitCode: number | null;
  readonly end: GitEnd;
  readonly signalName: string | null;
  readonly stderrTail: string;

  constructor(
    argv: readonly string[],
    end: GitEnd,
    exitCode: number | null,
    signalName: string | null,
    stderr: string,
  ) {
    const shown = argv.map(redact);
    const how = end === 'exited' ? `exit code ${exitCode}` : end === 'signal' ? `signal ${signalName}` : end;
    super(`git ${shown.slice(0, 6).join(' ')} failed: ${how}${stderr === '' ? '' : `: ${redact(stderr).trim()}`}`);
    this.argv = shown;
    this.exitCode = exitCode;
    this.end = end;
    this.signalName = signalName;
    this.stderrTail = redact(stderr);
  }
}

/** Cuts the user part of every URL in a text. */
export function redact(text: string): string {
  return text.replace(/([a-z][a-z0-9+.-]*:\/\/)[^/@\s]*@/gi, '$1***@');
}

const STDERR_KEPT_BYTES = 8192;
const DEFAULT_TIMEOUT_MS = 120_000;
const DEFAULT_OUTPUT_BYTES = 1024 ** 3;

const FLAGS = [
  '-c', 'core.hooksPath=/dev/null',
  '-c', 'core.fsmonitor=false',
  '-c', 'core.attributesFile=/dev/null',
  '-c', 'core.excludesFile=/dev/null',
  '-c', 'core.quotePath=false',
  '-c', 'gc.auto=0',
  '-c', 'maintenance.auto=false',
  '-c', 'advice.detachedHead=false',
]; // prettier-ignore

/** Variables of ours that git may see: where programs are, and how to get out to the network. */
const PASSED_ON = [
  'PATH', 'TMPDIR', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy', 'ALL_PROXY', 'all_proxy',
  'SSL_CERT_FILE', 'SSL_CERT_DIR', 'GIT_SSL_CAINFO', 'GIT_EXEC_PATH',
]; // prettier-ignore

export function closedEnvironment(): Record<string, string> {
  const env: Record<string, string> = {
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_ALLOW_PROTOCOL: 'file:http:https:ssh',
    GIT_SSH_COMMAND: 'ssh -oBatchMode=yes',
    HOME: '/nonexistent',
    LC_ALL: 'C',
    TZ: 'UTC',
  };
  for (const name of PASSED_ON) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  return env;
}

/** Runs git on a git directory; every exit code in `codes` is an answer, everything else throws GitError. */
export async function gitRun(
  gitDir: string,
  args: readonly string[],
  options: GitOptions = {},
  codes: readonly number[] = [0],
): Promise<GitResult> {
  const signal = options.signal;
  if (signal?.aborted === true) throw new GitError(args, 'aborted', null, null, '');
  const child = spawn('git', [...FLAGS, ...args], {
    cwd: gitDir,
    env: { ...closedEnvironment(), GIT_DIR: gitDir, ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let end: GitEnd | null = null;
  const kill = (why: GitEnd): void => {
    end ??= why;
    child.kill('SIGKILL');
  };
  const timer = setTimeout(() => kill('timeout'), options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
  const onAbort = (): void => kill('aborted');
  signal?.addEventListener('abort', onAbort, { once: true });

  const out: Buffer[] = [];
  let outBytes = 0;
  const limit = options.maxOutputBytes ?? DEFAULT_OUTPUT_BYTES;
  child.stdout.on('data', (chunk: Buffer) => {
    outBytes += chunk.length;
    if (outBytes > limit) kill('too-much-output');
    else out.push(chunk);
  });
  let stderr = Buffer.alloc(0);
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = Buffer.concat([stderr, chunk]).subarray(-STDERR_KEPT_BYTES);
  });

  const closed = new Promise<{ code: number | null; signalName: string | null; spawnError: Error | null }>(
    (resolve) => {
      let spawnError: Error | null = null;
      child.on('error', (error) => {
        spawnError = error;
        if (child.pid === undefined) resolve({ code: null, signalName: null, spawnError });
      });
      child.on('close', (code, signalName) => resolve({ code, signalName, spawnError }));
    },
  );
  const feeding = feed(child.stdin, options.input, () => kill('aborted'));
  try {
    const { code, signalName, spawnError } = await closed;
    const stderrTail = stderr.toString('utf8');
    // A stream that broke is the cause; the killed process is only its effect.
    const inputError = await feeding;
    if (spawnError !== null && child.pid === undefined)
      throw new GitError(args, 'not-started', null, null, spawnError.message);
    if (inputError !== null && code !== 0) throw inputError;
    if (end !== null) throw new GitError(args, end, code, signalName, stderrTail);
    if (code === null) throw new GitError(args, 'signal', null, signalName, stderrTail);
    if (!codes.includes(code)) throw new GitError(args, 'exited', code, null, stderrTail);
    return { exitCode: code, stdout: Buffer.concat(out), stderrTail };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

/** Feeds standard input. Resolves to the error of a source stream that broke; a closed pipe is the process's own business. */
async function feed(
  stdin: NodeJS.WritableStream & { end(data?: Buffer | string): unknown; on(e: 'error', f: () => void): unknown },
  input: GitOptions['input'],
  onBroken: () => void,
): Promise<Error | null> {
  stdin.on('error', () => undefined);
  if (input === undefined || typeof input === 'string' || Buffer.isBuffer(input)) {
    stdin.end(input);
    return null;
  }
  try {
    await pipeline(input, stdin);
    return null;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED') return null;
    onBroken();
    return error as Error;
  }
}

/** Runs git and returns its standard output. Throws GitError on any exit code but 0. */
export async function git(gitDir: string, args: readonly string[], options: GitOptions = {}): Promise<Buffer> {
  return (await gitRun(gitDir, args, options)).stdout;
}

/** As git(), trimmed text. */
export async function gitText(gitDir: string, args: readonly string[], options: GitOptions = {}): Promise<string> {
  return (await git(gitDir, args, options)).toString('utf8').trim();
}
