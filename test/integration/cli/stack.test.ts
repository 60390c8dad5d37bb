/** The whole system on this machine, started and stopped by the real command, on a state folder and ports of its own. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { realpath, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { run, which } from '../../../cli/setup/exec.ts';
import { pidFile } from '../../../cli/setup/places.ts';
import { portAnswers } from '../../../cli/setup/ports.ts';
import { databaseFault, databaseUrl } from '../../../cli/setup/postgres.ts';
import { poll, processIdentity, readRunning } from '../../../cli/setup/process.ts';
import { loadSettings } from '../../../cli/setup/settings.ts';
import type { Settings } from '../../../cli/setup/settings.ts';
import { isolatedEnvironment } from '../../../cli/setup/stack.ts';
import { workerHealthy, WORKERS } from '../../../cli/setup/worker-processes.ts';
import { connect, saveRun, saveTasks, startAttempt } from '../../../store/index.ts';
import { compiledSpec, taskSpec } from '../store/fixtures.ts';

let state: string;
let env: NodeJS.ProcessEnv;
let settings: Settings;

/** The built command, as the launcher starts it. */
function swarmline(
  args: string[],
  over: NodeJS.ProcessEnv = {},
): Promise<{ code: number | null; out: string; err: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['dist/cli/main.js', ...args], {
      env: { ...env, ...over },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    let err = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, err }));
  });
}
const pidOf = async (name: string): Promise<number> => (await readRunning(pidFile(settings, name)))!.pid;
const NAMES = ['temporal', 'postgres', ...WORKERS.map((name) => `worker-${name}`)];

beforeAll(async () => {
  state = mkdtempSync(join(tmpdir(), 'swarmline-stack-'));
  env = await isolatedEnvironment(state);
  settings = loadSettings(env);
});

afterAll(async () => {
  await swarmline(['down']);
  await rm(state, { recursive: true, force: true });
}, 120_000);

describe('up and down', () => {
  let pids: number[];

  test('up starts everything and says where the UI is', async () => {
    const { code, out, err } = await swarmline(['up', '--yes']);
    expect({ code, out, err }).toMatchObject({ code: 0 });
    expect(out).toContain('Temporal: started\nPostgres: started\norchestrator worker: started\n');
    expect(out).toContain(`Temporal UI: http://127.0.0.1:${settings.ports.temporalUi}`);
    expect(await portAnswers(settings.ports.temporalUi)).toBe(true);
    expect(await databaseFault(databaseUrl(settings)!)).toBeNull();
    for (const worker of WORKERS) expect(await workerHealthy(settings, worker)).toBe(true);
    pids = await Promise.all(NAMES.map(pidOf));
  }, 300_000);

  test('two more at once leave everything as it is', async () => {
    const both = await Promise.all([swarmline(['up']), swarmline(['up'])]);
    for (const { code, out } of both) {
      expect(code).toBe(0);
      expect(out).not.toContain('started');
    }
    expect(await Promise.all(NAMES.map(pidOf))).toEqual(pids);
  }, 120_000);

  test('another port for a Postgres that runs is refused at once, with the port on which it is', async () => {
    const { code, err } = await swarmline(['up'], { SWARMLINE_POSTGRES_PORT: String(settings.ports.postgres + 20) });
    expect(code).toBe(3);
    expect(err).toContain(`on port ${settings.ports.postgres} and not on ${settings.ports.postgres + 20}`);
    expect(err).toContain(`export SWARMLINE_POSTGRES_PORT=${settings.ports.postgres}`);
    expect(await Promise.all(NAMES.map(pidOf))).toEqual(pids);
  }, 30_000);

  test('secrets are for their owner only', async () => {
    for (const name of ['hub-token', 'postgres-password']) expect((await stat(join(state, name))).mode & 0o077).toBe(0);
    expect((await stat(await realpath(join(state, 'postgres')))).mode & 0o077).toBe(0);
  });

  test('doctor finds nothing missing', async () => {
    const { code, out } = await swarmline(['doctor', '--json']);
    const findings = JSON.parse(out) as { name: string; state: string }[];
    expect(findings.filter(({ state: found }) => found !== 'present')).toEqual([]);
    expect(code).toBe(0);
  }, 60_000);

  test('what was killed is started again, with its data; what runs is left alone', async () => {
    const pool = connect(databaseUrl(settings)!, { max: 1 });
    await saveRun(pool, { id: 'kept', spec: compiledSpec() });
    await saveTasks(pool, 'kept', [taskSpec('a')]);
    await startAttempt(pool, { run: 'kept', task: 'a', attempt: 1 });
    await pool.end();
    for (const name of ['postgres', 'temporal', 'worker-mainline']) process.kill(await pidOf(name), 'SIGKILL');
    const { code, out } = await swarmline(['up']);
    expect(code).toBe(0);
    expect(out).toContain(
      'Temporal: started\nPostgres: started\norchestrator worker: runs already\nmainline worker: started\n',
    );
  }, 120_000);

  test('down says how many attempts will be repeated, and leaves no process', async () => {
    const running = await Promise.all(NAMES.map(pidOf));
    const { code, out } = await swarmline(['down']);
    expect(code).toBe(0);
    expect(out.split('\n')[0]).toBe('1 attempt is running; it will have to be repeated.');
    expect(out).toContain('Postgres: stopped\nTemporal: stopped\n');
    expect(await Promise.all(running.map(processIdentity))).toEqual(running.map(() => null));
  }, 120_000);

  test('down again has nothing to do', async () => {
    const { code, out } = await swarmline(['down']);
    expect(code).toBe(0);
    expect(out).toContain('Nothing was running.');
  }, 60_000);

  test('doctor then says what is stopped, which is nothing missing', async () => {
    const { code, out } = await swarmline(['doctor']);
    expect(code).toBe(0);
    expect(out).toMatch(/^-- +Postgres .*does not run\n +type: \.\/swarmline up$/m);
  }, 60_000);

  test('a port that somebody else holds is named with its holder, and nothing of it is left running', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(settings.ports.postgres, '127.0.0.1', resolve));
    try {
      const { code, err } = await swarmline(['up']);
      expect(code).toBe(3);
      expect(err).toContain(`Port ${settings.ports.postgres}, for Postgres, is taken.`);
      expect(err).toContain(`Process ${process.pid} listens on it`);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
    expect((await swarmline(['down'])).code).toBe(0);
  }, 120_000);
});

describe('services that somebody else runs', () => {
  test.each([
    ['TEMPORAL_ADDRESS', '127.0.0.1:1', /Temporal does not answer at TEMPORAL_ADDRESS=127\.0\.0\.1:1/],
    ['DATABASE_URL', 'postgres://u:secret@127.0.0.1:1/d', /Postgres does not answer at DATABASE_URL/],
    ['DOCKER_HOST', 'tcp://127.0.0.1:1', /No Docker engine answers at DOCKER_HOST=tcp:/],
    ['SWARMLINE_TEMPORAL_BIN', '/no/such/temporal', /SWARMLINE_TEMPORAL_BIN=\/no\/such\/temporal is no Temporal CLI/],
  ])(
    '%s that does not answer exits 3 and says what to type',
    async (name, value, message) => {
      const { code, err } = await swarmline(['up'], { [name]: value });
      expect(err).toMatch(message);
      expect(err).toMatch(/ {2}type: /);
      expect(err).not.toContain('secret');
      expect(code).toBe(3);
      await swarmline(['down']);
    },
    120_000,
  );
});

describe('a Docker engine that is not there', () => {
  const engine = (folder: string): NodeJS.ProcessEnv => ({
    SWARMLINE_DOCKER_SOCKET: join(folder, 'docker.sock'),
    SWARMLINE_DOCKER_DATA: join(folder, 'data'),
    SWARMLINE_DOCKER_EXEC: join(folder, 'exec'),
    SWARMLINE_DOCKER_PIDFILE: join(folder, 'docker.pid'),
    SWARMLINE_DOCKER_OPTIONS: '--bridge=none --iptables=false --ip-forward=false',
  });

  /**
   * A `dockerd` that runs the real one in a network namespace of its own: bridge and packet filter belong to the engine that
   * this machine has already, and `--bridge=none` alone would delete its docker0.
   */
  const usualPath = process.env['PATH'];
  beforeAll(async () => {
    const real = (await which('dockerd', { PATH: `${usualPath}:/usr/sbin` })) ?? 'dockerd';
    mkdirSync(join(state, 'bin'));
    writeFileSync(join(state, 'bin/dockerd'), `#!/bin/sh\nexec unshare -n ${real} "$@"\n`, { mode: 0o755 });
    process.env['PATH'] = `${join(state, 'bin')}:${usualPath}`;
  });
  afterAll(() => {
    process.env['PATH'] = usualPath;
  });

  test('is offered, not started, without leave: exit 3 with the exact command', async () => {
    const { code, err } = await swarmline(['up'], engine(join(state, 'engine')));
    expect(code).toBe(3);
    expect(err).toMatch(/Docker engine/);
    expect(err).toContain(`--host unix://${join(state, 'engine/docker.sock')}`);
  }, 60_000);

  // Only root can start one.
  (process.getuid?.() === 0 ? test : test.skip)(
    'is started with leave, and again after it was killed, in spite of the pid file that stays',
    async () => {
      const folder = join(state, 'engine');
      const { ensureDocker } = await import('../../../cli/setup/docker.ts');
      const { createProgress } = await import('../../../cli/progress.ts');
      const own = loadSettings({ ...env, ...engine(folder), DOCKER_HOST: '' });
      const options = { progress: createProgress({ write: () => true }) };
      try {
        const first = await ensureDocker(own, { ...options, yes: true });
        expect(first.how).toBe('started');
        expect((await first.docker.info()).DockerRootDir).toBe(join(folder, 'data'));
        expect((await ensureDocker(own, { ...options, yes: false })).how).toBe('already running');
        process.kill(await pidOf('dockerd'), 'SIGKILL');
        expect(readFileSync(join(folder, 'docker.pid'), 'utf8')).toMatch(/^\d+/);
        // Leave was given the first time.
        expect((await ensureDocker(own, { ...options, yes: false })).how).toBe('started');
      } finally {
        const record = await readRunning(pidFile(own, 'dockerd'));
        if (record !== null) {
          process.kill(record.pid, 'SIGTERM');
          await poll(async () => ((await processIdentity(record.pid)) === null ? true : null), 30_000);
        }
        // A killed engine leaves its data root mounted on itself.
        while (
          await run(['umount', join(folder, 'data')]).then(
            () => true,
            () => false,
          )
        );
      }
    },
    180_000,
  );
});
