/**
 * What must be true of a run that was struck, each fault in words. Judged from outside: plain git on the hub and the origin, the tables, the
 * engine, the mounts of the machine.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { listOwned, mountsBelow } from '../../sandbox/owned-directory.ts';
import { execute, until } from '../support/stack.ts';
import type { CrashRun } from './crash-run.ts';
import type { System, Victim } from './system.ts';
import type { Workload } from './workload.ts';

/** What dead owners left is looked for once a minute. */
const CLEAN_MS = 100_000;

const RAN_AGAIN = 'ran again though its host was never killed';

/** What an agent that runs depends on. */
const HOST: readonly Victim[] = ['sandbox', 'docker', 'docker-all'];

/** Every fault; none: the crash has cost time and nothing else. */
export async function faultsOf(system: System, workload: Workload, crashed: CrashRun): Promise<string[]> {
  return [
    ...(await endOf(system, crashed.run)),
    ...(await mainlineOf(system, workload, crashed.run)),
    ...(await recordOf(system, workload, crashed.run)),
    ...blind(workload, crashed),
    ...repeated(crashed),
    ...(await leftovers(system, crashed.run)),
  ];
}

async function endOf(system: System, run: string): Promise<string[]> {
  const { rows } = await system.db.query('select outcome, report from runs where id = $1', [run]);
  const faults = rows[0]?.outcome === 'completed' ? [] : [`the run ended: ${JSON.stringify(rows[0])}`];
  const open = await until(
    'every workflow of the run has ended',
    async () => {
      const query = `SwarmRun="${run}" and ExecutionStatus="Running"`;
      const { out } = await system.temporal('workflow', 'count', '--query', query);
      return /Total: 0\b/.test(out);
    },
    60_000,
  ).catch((error: Error) => error.message);
  return open === true ? faults : [...faults, open];
}

const git = async (dir: string, ...args: string[]): Promise<string> => {
  const { code, out, err } = await execute(['git', '-C', dir, ...args], {
    env: {
      PATH: process.env['PATH'],
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      HOME: '/nonexistent',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
    },
  });
  if (code !== 0) throw new Error(`git ${args.join(' ')} exited ${code}: ${err}${out}`);
  return out.trim();
};

async function mainlineOf(system: System, workload: Workload, run: string): Promise<string[]> {
  const faults: string[] = [];
  const hub = system.hubDir(run);
  const line = await git(
    hub,
    'log',
    '--format=%(trailers:key=Swarmline-Task,valueonly,separator=%x2C)',
    'refs/swarmline/base..refs/heads/main',
  );
  const landed = line.split('\n').filter(Boolean);
  for (const task of workload.attempts.keys()) {
    const times = landed.filter((one) => one === task).length;
    if (times !== 1) faults.push(`${task} stands ${times} times under main`);
  }
  if (landed.length !== workload.attempts.size)
    faults.push(`main has ${landed.length} commits for ${workload.attempts.size} tasks`);
  const heads = await git(
    hub,
    'for-each-ref',
    '--format=%(objectname)',
    'refs/heads/main',
    'refs/swarmline/verified',
    'refs/swarmline/next',
  );
  if (new Set(heads.split('\n')).size !== 1) faults.push(`main, verified and next stand apart: ${heads}`);
  const [main] = heads.split('\n');
  for (const [path, content] of workload.files) {
    const found = await git(hub, 'show', `${main}:${path}`).catch((error: Error) => error.message);
    if (found !== content.trim()) faults.push(`${path} is not what its tasks wrote: ${found}`);
  }
  const { code, out, err } = await execute(['git', '-C', hub, 'fsck', '--full', '--strict', '--no-dangling']);
  if (code !== 0 || /error|missing|corrupt/.test(out + err)) faults.push(`git fsck exited ${code}: ${out}${err}`);
  const delivered = await git(workload.origin, 'rev-parse', 'refs/heads/swarmline/squares').catch(
    (error: Error) => error.message,
  );
  if (delivered !== main) faults.push(`the origin was given ${delivered}, main is ${main}`);
  return faults;
}

async function recordOf(system: System, workload: Workload, run: string): Promise<string[]> {
  const faults: string[] = [];
  const { rows: merges } = await system.db.query<{ request: string; task: string; state: string; commit: string }>(
    'select request, task, state, commit from merges where run = $1',
    [run],
  );
  const line = await git(system.hubDir(run), 'log', '--format=%H', 'refs/swarmline/base..refs/heads/main');
  const commits = new Set(line.split('\n'));
  for (const { request, state, commit } of merges) {
    if (state !== 'green') faults.push(`merge ${request} is recorded as ${state}`);
    else if (!commits.has(commit)) faults.push(`merge ${request} is recorded with ${commit}, which is not under main`);
  }
  const { rows: attempts } = await system.db.query<{
    task: string;
    attempt: number;
    outcome: string;
    why: string;
    phase: string;
  }>('select task, attempt, outcome, why, phase from attempts where run = $1 order by task, attempt', [run]);
  for (const [task, expected] of workload.attempts) {
    const wanted = [...Array.from({ length: expected - 1 }, () => 'gate-red'), 'passed'];
    const own = attempts.filter((attempt) => attempt.task === task);
    if (own.map(({ outcome }) => outcome).join() !== wanted.join())
      faults.push(
        `${task} took ${own.map(({ outcome, why }) => `${outcome} (${why})`).join(', ')} and not ${wanted.join(', ')}`,
      );
    if (merges.filter((merge) => merge.task === task).length !== 1) faults.push(`${task} has not one merge request`);
  }
  const { rows: tasks } = await system.db.query<{ id: string; state: string }>(
    'select id, state from tasks where run = $1',
    [run],
  );
  for (const { id, state } of tasks) if (state !== 'passed') faults.push(`task ${id} is recorded as ${state}`);
  const { rows: flaky } = await system.db.query<{ key: string; tail: string }>(
    'select key, tail from gate_results where run = $1 and flaky',
    [run],
  );
  for (const { key, tail } of flaky) faults.push(`a gate was red once for no reason (${key}): ${tail}`);
  return faults;
}

/** A witness that has not seen every attempt could not have seen one repeated either. */
function blind(workload: Workload, { witness }: CrashRun): string[] {
  const seen = new Set(witness.starts.filter(({ kind }) => kind === 'agent').map(({ attempt }) => attempt));
  const made = [...workload.attempts].flatMap(([task, count]) =>
    Array.from({ length: count }, (_, at) => `${task}/${at + 1}`),
  );
  return made.filter((attempt) => !seen.has(attempt)).map((attempt) => `nobody saw the agent of ${attempt} start`);
}

/** An agent or a gate that was started though its result had been recorded; an agent that was started twice though nothing it needs was killed. */
function repeated({ witness, struck }: CrashRun): string[] {
  const late = (kind: string, done: ReadonlyMap<string, number>): string[] =>
    witness.starts
      .filter((start) => start.kind === kind && start.atMs > (done.get(start.attempt) ?? Infinity))
      .map(({ attempt, atMs }) => {
        const lateMs = Math.round(atMs - done.get(attempt)!);
        return `${kind} of ${attempt} started ${lateMs} ms after its result was recorded`;
      });
  const faults = [...late('agent', witness.agentDone), ...late('gate', witness.gateDone)];
  const hostWasKilled = struck.some(({ victims }) => victims.some((victim) => HOST.includes(victim)));
  if (hostWasKilled) return faults;
  const agents = witness.starts.filter(({ kind }) => kind === 'agent').map(({ attempt }) => attempt);
  const twice = new Set(agents.filter((attempt, at) => agents.indexOf(attempt) !== at));
  return [...faults, ...[...twice].map((attempt) => `the agent of ${attempt} ${RAN_AGAIN}`)];
}

async function leftovers(system: System, run: string): Promise<string[]> {
  const faults: string[] = [];
  let left: string[] = [];
  const gone = async (what: string, look: () => Promise<string[]>): Promise<void> => {
    await until(
      what,
      async () => {
        left = await look();
        return left.length === 0;
      },
      CLEAN_MS,
    ).catch(() => faults.push(`${what}, but there is: ${left.join(', ')}`));
  };
  await gone('no container is left', async () =>
    (await system.containers()).map(({ Names, State, Status }) => `${Names.join()} ${State} ${Status}`),
  );
  const sandbox = join(system.settings.stateDir, 'sandbox');
  await gone('no workspace is mounted', () => mountsBelow(sandbox));
  await gone('no directory of an attempt is left', async () => (await listOwned(sandbox)).map(({ path }) => path));
  // Quarantines and half-written packs are swept after an hour.
  await gone('no ref is locked', async () =>
    (await readdir(system.hubDir(run), { recursive: true })).filter((path) => path.endsWith('.lock')),
  );
  return faults;
}
