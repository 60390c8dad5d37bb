import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Bench, IMAGE, LIMITS, openBench } from './fixture.ts';
import { compileRooms } from './compiled.ts';

jest.setTimeout(60_000);

/** A worker: two running steps, a workspace of its own for one of them. Says "ready" when both run. */
const WORKER = `
import { connectDocker, createSandbox, openWorkspace, sandboxUser } from './sandbox/index.js';
const { instance, stateDir, gitDir, commit, image, limits, step } = JSON.parse(process.argv[2]);
const docker = connectDocker(process.env);
const log = { info() {}, warn() {} };
const sandbox = createSandbox({ docker, instance, hostId: 'test-host', stateDir, caBundle: null, slots: 8, log });
const { dir } = await openWorkspace({ stateDir, gitDir, treeish: commit, diskBytes: limits.diskBytes, uid: sandboxUser().uid, name: 'child' });
const start = (n, workspace) => sandbox.runStep({
  key: { run: 'r1', task: 't1', attempt: 1, kind: 'agent', step: step + n }, image, argv: ['sleep', '600'], env: {}, workspace, mounts: [],
  stdinFile: null, limits, deadlineMs: 600000, network: 'none', outputFile: stateDir + '/child-' + step + n + '.log' });
start(1, { dir, readOnly: false }).catch(() => {});
start(2, null).catch(() => {});
const running = async () => (await docker.listContainers({ filters: { label: ['swarmline.owner', 'swarmline.instance=' + instance] } }))
  .filter(({ Labels }) => Labels['swarmline.step'].startsWith(step)).length;
while (await running() < 2) await new Promise((resolve) => setTimeout(resolve, 50));
console.log('ready');
`;

describe('reaping', () => {
  let bench: Bench;
  let compiled: string;
  let repository: { gitDir: string; commit: string };
  const children: ChildProcess[] = [];
  beforeAll(() => {
    bench = openBench();
    compiled = compileRooms();
    writeFileSync(join(compiled, 'worker.js'), WORKER);
    repository = bench.repository({ 'a.txt': 'one\n' });
  });
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
    await bench.close();
    rmSync(compiled, { recursive: true });
  });

  async function worker(step: string): Promise<ChildProcess> {
    const argument = JSON.stringify({
      instance: bench.instance,
      stateDir: bench.stateDir,
      ...repository,
      image: IMAGE,
      limits: LIMITS,
      step,
    });
    const child = spawn(process.execPath, [join(compiled, 'worker.js'), argument], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    const [text] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
    expect(String(text)).toBe('ready\n');
    return child;
  }
  const workspaces = (): string[] => readdirSync(join(bench.stateDir, 'sandbox/workspaces'));
  const mounts = (): number =>
    readFileSync('/proc/self/mounts', 'utf8')
      .split('\n')
      .filter((line) => line.includes(`${bench.stateDir}/`)).length;

  test('what a killed worker owned is removed: containers, workspaces, mounts; what a living one owns stays', async () => {
    const [dead, alive] = await Promise.all([worker('dead'), worker('alive')]);
    const own = bench.run('sleep 3; echo mine');
    // Two of each worker and our own: what is counted below must be there.
    while ((await bench.containers()).length < 5) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await bench.sandbox.reap()).toBe(0); // both live
    dead.kill('SIGKILL');
    await once(dead, 'exit');
    const [containersBefore, mountsBefore] = [(await bench.containers()).length, mounts()];
    expect(await bench.sandbox.reap()).toBe(3); // two containers and a workspace
    expect((await bench.containers()).length).toBe(containersBefore - 2);
    expect((await bench.containers()).map(({ Labels }) => Labels['swarmline.step'])).toEqual(
      expect.arrayContaining(['alive1', 'alive2']),
    );
    expect(workspaces()).toHaveLength(1);
    expect(mounts()).toBe(Math.max(0, mountsBefore - 1)); // none without loop devices

    // A stopped process is slow, not dead.
    alive.kill('SIGSTOP');
    expect(await bench.sandbox.reap()).toBe(0);
    alive.kill('SIGCONT');
    expect(await own).toMatchObject({ output: 'mine\n' });
    alive.kill('SIGKILL');
    await once(alive, 'exit');
    expect(await bench.sandbox.reap()).toBe(3);
    expect(await bench.containers()).toEqual([]);
  });

  test('the retry of a step does not wait for the reaper: it replaces the dead worker’s container', async () => {
    const dead = await worker('again');
    dead.kill('SIGKILL');
    await once(dead, 'exit');
    expect(
      await bench.run('echo retried', null, {
        key: { run: 'r1', task: 't1', attempt: 1, kind: 'agent', step: 'again1' },
      }),
    ).toMatchObject({ output: 'retried\n' });
    expect((await bench.containers()).map(({ Labels }) => Labels['swarmline.step'])).toEqual(['again2']);
    expect(await bench.sandbox.reap()).toBe(2);
  });

  test('a run that was frozen by a worker that died stays frozen for the next, until it is thawed', async () => {
    const dead = await worker('ice');
    await bench.sandbox.freeze('r1');
    dead.kill('SIGKILL');
    await once(dead, 'exit');
    expect(await bench.sandbox.reap()).toBe(3);
    const later = openBench();
    await later.close();
    const step = bench.run('echo thawed');
    expect(await Promise.race([step, new Promise((resolve) => setTimeout(resolve, 1000, 'waits'))])).toBe('waits');
    await bench.sandbox.thaw('r1');
    expect(await step).toMatchObject({ output: 'thawed\n' });
  });

  test('another instance’s containers are not seen', async () => {
    const other = openBench();
    const running = other.run('sleep 2');
    while ((await other.containers()).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await bench.sandbox.reap()).toBe(0);
    expect(await bench.sandbox.stop('r1')).toBe(0);
    expect((await running).exitCode).toBe(0);
    await other.close();
  });
});
