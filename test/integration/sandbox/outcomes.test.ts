import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { ImageMissing, RequestRefused, connectDocker, createSandbox } from '../../../sandbox/index.ts';
import { type Bench, LIMITS, openBench, quietLog } from './fixture.ts';

const MIB = 2 ** 20;
jest.setTimeout(30_000);

/** Allocates and touches n MiB. */
const EAT = (mib: number): string =>
  `node -e 'const a = []; for (let i = 0; i < ${mib}; i++) a.push(Buffer.alloc(1 << 20, 1))'`;

describe('how a step ended is told apart', () => {
  let bench: Bench;
  beforeAll(() => {
    bench = openBench();
  });
  afterAll(() => bench.close());

  test('by itself, with its code', async () => {
    expect(await bench.run('exit 0')).toMatchObject({ end: 'exited', exitCode: 0 });
    expect(await bench.run('exit 3')).toMatchObject({ end: 'exited', exitCode: 3 });
  });

  test('exit 137 and 143 of its own are exits, neither out of memory nor our kill', async () => {
    expect(await bench.run('exit 137')).toMatchObject({ end: 'exited', exitCode: 137, childOom: false });
    expect(await bench.run('exit 143')).toMatchObject({ end: 'exited', exitCode: 143 });
    expect(await bench.run('kill -9 $$')).toMatchObject({ end: 'exited', exitCode: 137, childOom: false });
  });

  test('out of memory of the command, and of a child only', async () => {
    const limits = { ...LIMITS, memoryBytes: 96 * MIB };
    expect(await bench.run(`exec ${EAT(200)}`, null, { limits })).toMatchObject({ end: 'oom', exitCode: 137 });
    expect(await bench.run(`${EAT(200)}; exit 0`, null, { limits })).toMatchObject({
      end: 'exited',
      exitCode: 0,
      childOom: true,
    });
  });

  test('the deadline, also for a command that ignores TERM, stops its own wrapper or daemonises', async () => {
    for (const line of [
      'trap "" TERM; while :; do sleep 1; done',
      'kill -STOP $$; sleep 60',
      '(setsid sleep 600 &) ; sleep 600',
    ]) {
      const before = performance.now();
      const outcome = await bench.run(line, null, { deadlineMs: 700 });
      expect(outcome).toMatchObject({ end: 'timeout', exitCode: null });
      expect(outcome.durationMs).toBeGreaterThanOrEqual(690);
      expect(performance.now() - before).toBeLessThan(6000);
    }
    expect(await bench.containers()).toEqual([]);
  });

  test('a background process ends with the command', async () => {
    const outcome = await bench.run('(setsid sh -c "while :; do sleep 1; done" &); echo started');
    expect(outcome).toMatchObject({ end: 'exited', exitCode: 0, output: 'started\n' });
  });

  test('a command that is not there or not executable exits with the codes of a shell', async () => {
    expect(await bench.sandbox.runStep(bench.request(['no-such-command']))).toMatchObject({
      end: 'exited',
      exitCode: 127,
    });
    expect(await bench.sandbox.runStep(bench.request(['/etc/passwd']))).toMatchObject({ end: 'exited', exitCode: 126 });
  });

  test('a container that the engine cannot start says so, after a second try', async () => {
    const mounts = [{ source: bench.stateDir, target: '/etc/passwd', readOnly: true }];
    const request = bench.request(['true'], { mounts });
    expect(await bench.sandbox.runStep(request)).toMatchObject({
      end: 'start-failed',
      detail: expect.stringContaining('could not be started'),
    });
    expect(readFileSync(request.outputFile, 'utf8')).toContain('[swarmline: The command could not be started');
  });

  test('an unknown image is a person’s mistake, a mount beneath the workspace is ours', async () => {
    await expect(bench.sandbox.runStep(bench.request(['true'], { image: 'sha256:'.padEnd(71, '0') }))).rejects.toThrow(
      ImageMissing,
    );
    const mounts = [{ source: '/tmp', target: '/workspace/x', readOnly: true }];
    await expect(bench.sandbox.runStep(bench.request(['true'], { mounts }))).rejects.toThrow(RequestRefused);
  });

  test('an engine that is not there is a fault of the infrastructure', async () => {
    const sandbox = createSandbox({
      docker: connectDocker({ DOCKER_HOST: `unix://${bench.stateDir}/none.sock` }),
      instance: bench.instance,
      hostId: 'test-host',
      stateDir: bench.stateDir,
      caBundle: null,
      slots: 1,
      log: quietLog,
    });
    await expect(sandbox.runStep(bench.request(['true']))).rejects.toMatchObject({ name: 'InfrastructureFault' });
  });

  test('a container that someone removes is a fault of the infrastructure', async () => {
    const running = bench.run('sleep 60');
    running.catch(() => undefined);
    for (;;) {
      const [container] = (await bench.containers()).filter(({ State }) => State === 'running');
      if (container !== undefined) {
        await bench.docker.getContainer(container.Id).remove({ force: true });
        break;
      }
    }
    await expect(running).rejects.toMatchObject({ name: 'InfrastructureFault' });
  });

  test('a leftover of the same name is removed first', async () => {
    const request = bench.request(['sh', '-c', 'sleep 60'], { step: 'same' });
    const first = bench.sandbox.runStep(request);
    first.catch(() => undefined);
    while ((await bench.containers()).every(({ State }) => State !== 'running'))
      await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await bench.sandbox.runStep(bench.request(['true'], { step: 'same' }))).toMatchObject({
      end: 'exited',
      exitCode: 0,
    });
    await expect(first).rejects.toMatchObject({ name: 'InfrastructureFault' });
  });
});
