/**
 * The setup cache: `sandbox.setup.run` once per image and lockfile, its result read-only in every later container.
 *
 * Invariants
 * 1. The setup container sees setup.files and nothing else of the repository. It alone may have network and the worker's lent variables.
 * 2. Same image, files, command and options: same key, one run, over attempts and processes of the host. A failure is kept for nobody.
 * 3. A result is complete when it is there: it is renamed into place.
 * 4. It runs for as long as anyone waits for it; the last one to be aborted sees its container gone.
 * 5. No value that the worker lent stays in the output.
 */
import { createHash } from 'node:crypto';
import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { type TreeEntry, listTree, readBlobs } from '../mainline/git.ts';
import type { Limits, Setup } from '../spec/model.ts';
import { resolveImage } from './docker.ts';
import { CALL_MS, engineCall } from './engine-call.ts';
import { InfrastructureFault, SetupFailed } from './faults.ts';
import { ownedDirectory, removeTree } from './owned-directory.ts';
import { reapDirectories } from './reap-directories.ts';
import { setupEnvironment, setupSurroundings } from './setup-env.ts';
import { lockSetup } from './setup-lock.ts';
import { type SetUp, badProvides, readResult, takeResult } from './setup-result.ts';
import { shared } from './shared-work.ts';
import type { Sandbox } from './types.ts';
import { sandboxUser } from './user.ts';

export type { SetUp } from './setup-result.ts';

export interface SetupRequest {
  readonly sandbox: Sandbox;
  readonly gitDir: string;
  /** Commit or tree that setup.files are read from. A file that it does not have is simply absent. */
  readonly commit: string;
  readonly setup: Setup;
  readonly image: string;
  readonly cacheDir: string;
  /** stepMs is the deadline. */
  readonly limits: Limits;
  readonly signal?: AbortSignal | undefined;
  /** Gets what the command printed, when it ran; absent after a hit. */
  readonly outputFile: string;
  /** Variables lent to the container; by default setupEnvironment(process.env). */
  readonly lend?: Readonly<Record<string, string>>;
}

interface Job extends SetupRequest {
  readonly key: string;
  readonly imageId: string;
  readonly files: readonly TreeEntry[];
  readonly target: string;
  readonly log: string;
}

/** Throws SetupFailed with the output's file. */
export async function ensureSetup(request: SetupRequest): Promise<SetUp> {
  const { sandbox, setup, commit, gitDir, signal, outputFile } = request;
  const bad = badProvides(setup.provides);
  if (bad !== null) throw new SetupFailed(`sandbox.setup.provides is "${setup.provides}": ${bad}.`, outputFile);
  const imageId = await resolveImage(sandbox.docker, request.image);
  const names = new Set(setup.files);
  const files = (await listTree(gitDir, commit, { signal })).filter(
    ({ path, mode }) => mode.startsWith('100') && names.has(path.toString('utf8')),
  );
  const cacheDir = resolve(request.cacheDir);
  const key = keyOf(setup, imageId, files);
  const job: Job = {
    ...request,
    cacheDir,
    key,
    imageId,
    files,
    target: join(cacheDir, key),
    log: join(cacheDir, 'logs', `${key}.log`),
  };
  const image = await engineCall('image inspect', CALL_MS.quick, () => sandbox.docker.getImage(imageId).inspect());
  const result = (): Promise<SetUp | null> => readResult(job.target, image.Config.Env ?? []);
  const hit = await result();
  if (hit !== null) return hit;
  await mkdir(join(cacheDir, 'logs'), { recursive: true });
  try {
    await shared(job.target, signal, (all) => make(job, all, async () => (await result()) !== null));
  } catch (error) {
    if (!(error instanceof SetupFailed)) throw error;
    throw new SetupFailed(error.message, outputFile); // everyone who waited gets a copy of his own
  } finally {
    await mkdir(dirname(outputFile), { recursive: true });
    await copyFile(job.log, outputFile).catch(() => undefined);
  }
  const made = await result();
  if (made === null) throw new SetupFailed(`The result of the setup vanished from ${job.target}.`, outputFile);
  return made;
}

function keyOf(setup: Setup, imageId: string, files: readonly TreeEntry[]): string {
  const { run, provides, network, installScripts } = setup;
  const content = files.map(({ path, mode, oid }) => [path.toString('latin1'), mode, oid]); // in the order of the tree
  const text = JSON.stringify([1, imageId, run, provides, network, installScripts, [...setup.files].sort(), content]);
  return createHash('sha256').update(text).digest('hex').slice(0, 40);
}

async function make(job: Job, signal: AbortSignal, isDone: () => Promise<boolean>): Promise<void> {
  const unlock = await lockSetup(`${job.target}.lock`, signal, isDone);
  if (unlock === null) return;
  try {
    if (await isDone()) return; // its maker released the lock between our two looks
    await reapDirectories(job.cacheDir, job.sandbox.log);
    const base = await ownedDirectory(job.cacheDir, 'setup', job.key);
    try {
      await runSetup(job, base, signal);
    } finally {
      await removeTree(base);
    }
  } finally {
    await unlock();
  }
}

async function runSetup(job: Job, base: string, signal: AbortSignal): Promise<void> {
  const { sandbox, setup, limits } = job;
  const [work, cache, finished] = ['work', 'cache', 'finished'].map((name) => join(base, name)) as [
    string,
    string,
    string,
  ];
  await mkdir(cache);
  await writeFiles(job, work);
  const { uid, gid } = sandboxUser();
  if (process.getuid?.() === 0) await promisify(execFile)('chown', ['-R', '-h', '--', `${uid}:${gid}`, work, cache]);
  const lent = job.lend ?? setupEnvironment(process.env);
  const { env, mounts } = setupSurroundings(setup, sandbox.caBundle, cache);
  const outcome = await sandbox.runStep(
    {
      key: { run: 'swarmline-setup', task: null, attempt: 1, kind: 'setup', step: job.key },
      image: job.imageId,
      argv: ['/bin/sh', '-c', setup.run],
      env: { ...env, ...lent },
      workspace: { dir: work, readOnly: false },
      mounts,
      stdinFile: null,
      limits,
      deadlineMs: limits.stepMs,
      network: setup.network ? 'bridge' : 'none',
      outputFile: job.log,
    },
    { signal },
  );
  await redactFile(job.log, Object.values(lent));
  signal.throwIfAborted();
  // Image, mounts and argv are ours: an engine that cannot start this (a lost bridge, say) says nothing about the spec.
  if (outcome.end === 'start-failed' || outcome.end === 'killed') {
    throw new InfrastructureFault(outcome.detail ?? 'The setup container was stopped from outside.');
  }
  if (outcome.end !== 'exited' || outcome.exitCode !== 0) {
    const how = outcome.detail ?? (outcome.end === 'exited' ? `exit code ${outcome.exitCode}` : outcome.end);
    throw new SetupFailed(
      `sandbox.setup.run failed (${how}): ${setup.run}. See its output, then change setup in the spec or the files it reads.`,
      job.log,
    );
  }
  const why = await takeResult(work, setup.provides, finished);
  if (why !== null) throw new SetupFailed(`sandbox.setup.run ended well, but ${why}: ${setup.run}`, job.log);
  await rename(finished, job.target).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error; // another process was first: as good
  });
}

async function writeFiles({ gitDir, files }: Job, work: string): Promise<void> {
  await mkdir(work);
  const blobs = await readBlobs(
    gitDir,
    files.map(({ oid }) => oid),
  );
  for (const { path, mode, oid } of files) {
    const target = join(work, path.toString('utf8'));
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, blobs.get(oid) ?? Buffer.alloc(0), { mode: mode === '100755' ? 0o755 : 0o644 });
  }
}

/** Values shorter than 6 characters are no secrets, and would riddle the output. */
async function redactFile(path: string, values: readonly string[]): Promise<void> {
  const secrets = values.filter((value) => value.length >= 6);
  if (secrets.length === 0) return;
  const text = await readFile(path, 'latin1');
  const clean = secrets.reduce((all, secret) => all.replaceAll(Buffer.from(secret).toString('latin1'), '***'), text);
  if (clean !== text) await writeFile(path, clean, 'latin1');
}
