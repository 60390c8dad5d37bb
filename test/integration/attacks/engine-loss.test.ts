/** The Docker engine goes away under a running step. Each test has an engine of its own. */
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { createReadStream } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectDocker } from '../../../sandbox/index.ts';
import { type Bench, LIMITS, openBench } from '../sandbox/fixture.ts';
import { type OwnEngine, canRunEngine, ownEngine } from '../sandbox/own-engine.ts';

jest.setTimeout(120_000);

// Only root can run an engine; for other users nothing here can be shown.
(canRunEngine ? describe : describe.skip)('an engine that goes away', () => {
  let engine: OwnEngine;
  let bench: Bench;
  const image = 'tiny:latest';
  const small = { image, limits: { ...LIMITS, memoryBytes: 64 * 2 ** 20 } };

  beforeAll(async () => {
    engine = await ownEngine();
    // No registry: a shell and sleep, taken out of the sandbox's image by a step of the usual engine whose output is a tar.
    const usual = openBench();
    const files = 'bin/sh bin/sleep bin/true lib/x86_64-linux-gnu/libc.so.6 lib64/ld-linux-x86-64.so.2';
    const tar = usual.request(['sh', '-c', `tar -ch -C / ${files} 2>/dev/null`], {
      limits: { ...LIMITS, outputBytes: 64 * 2 ** 20 },
    });
    const packed = await usual.sandbox.runStep(tar);
    if (packed.exitCode !== 0 || packed.truncated) throw new Error('no image could be made for the test');
    const done = await engine.docker.importImage(createReadStream(tar.outputFile), { repo: 'tiny', tag: 'latest' });
    await new Promise((resolve, reject) => done.on('end', resolve).on('error', reject).resume());
    await usual.close();
    bench = openBench({ docker: engine.docker });
  });
  afterAll(async () => {
    await bench.close();
    await engine.close();
  });

  /** A step that runs; wrapped, so that awaiting the start does not await the end. */
  async function runningStep(): Promise<{ settled: Promise<unknown> }> {
    const step = bench.run('while :; do echo tick; sleep 0.2; done', null, small);
    const settled = step.catch((error: unknown) => error);
    while ((await bench.containers()).every(({ State }) => State !== 'running')) await sleep(50);
    return { settled };
  }

  test('works over tcp as well as over a socket', async () => {
    const over = openBench({ docker: connectDocker({ DOCKER_HOST: engine.tcp }) });
    expect(await over.run('echo over tcp', null, small)).toMatchObject({
      end: 'exited',
      exitCode: 0,
      output: 'over tcp\n',
    });
    await over.close();
  });

  test('killed: the step settles as a fault of the infrastructure; after the restart its next try runs and nothing is left', async () => {
    const { settled } = await runningStep();
    const before = performance.now();
    await engine.kill('SIGKILL');
    expect(await settled).toMatchObject({ name: 'InfrastructureFault' });
    expect(performance.now() - before).toBeLessThan(20_000);
    await engine.start();
    expect(await bench.run('echo again', null, small)).toMatchObject({ end: 'exited', exitCode: 0, output: 'again\n' });
    await bench.sandbox.reap(); // the container of the lost try is this process's, which is no longer busy with it
    expect(await bench.containers()).toEqual([]);
  });

  test('killed and restarted at once: still a fault, whatever the new engine says about the container', async () => {
    const { settled } = await runningStep();
    await engine.kill('SIGKILL');
    await engine.start();
    expect(await settled).toMatchObject({ name: 'InfrastructureFault' });
    await bench.sandbox.reap();
    expect(await bench.containers()).toEqual([]);
  });

  test('shut down in order, which ends the command with a signal: a fault, not an exit with 137 or 143', async () => {
    const { settled } = await runningStep();
    await engine.kill('SIGTERM');
    expect(await settled).toMatchObject({ name: 'InfrastructureFault' });
    await engine.start();
    await bench.sandbox.reap();
    expect(await bench.containers()).toEqual([]);
  });

  test('a stop while the engine is away says that it could not, instead of saying that it did', async () => {
    await engine.kill('SIGTERM');
    await expect(bench.sandbox.stop('r1')).rejects.toMatchObject({ name: 'InfrastructureFault' });
    await engine.start();
  });
});
