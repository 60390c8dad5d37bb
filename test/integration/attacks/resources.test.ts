/** Commands that take all they can get: each meets its limit, the host and the worker do not notice. */
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { readFileSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { type Bench, LIMITS, openBench } from '../sandbox/fixture.ts';

jest.setTimeout(120_000);
const MIB = 2 ** 20;
/** Issue: 1 GiB. The point is the same with less: the cap is 1 MiB. */
const OUTPUT_MB = Number(process.env['SWARMLINE_TEST_OUTPUT_MB'] ?? 200);

describe('a command that takes all it can get', () => {
  let bench: Bench;
  let repository: { gitDir: string; commit: string };
  beforeAll(() => {
    bench = openBench();
    repository = bench.repository({ 'a.txt': 'one\n' });
  });
  afterAll(() => bench.close());

  test('a fork bomb meets its limit and is cleaned within seconds of the deadline', async () => {
    const before = performance.now();
    const outcome = await bench.run(`perl -e 'while (1) { fork }'`, null, { deadlineMs: 2000 });
    expect(outcome.end).toBe('timeout');
    expect(performance.now() - before).toBeLessThan(12_000);
    expect(await bench.containers()).toEqual([]);
    const limited = await bench.run('i=0; while [ $i -lt 300 ]; do sleep 30 & i=$((i+1)); done', null, {
      deadlineMs: 5000,
    });
    expect(limited.output).toMatch(/Cannot fork|Resource temporarily unavailable/);
  });

  test('a full workspace with a file system of its own is ENOSPC inside, disk-full outside, with the exit code', async () => {
    const workspace = await bench.workspace(repository, { diskBytes: 32 * MIB });
    expect(workspace.store).toBe(process.getuid?.() === 0 ? 'loop' : 'directory');
    if (workspace.store !== 'loop') return; // only root has it; the tests after the next are for the others
    const free = (await statfs(bench.stateDir)).bavail;
    const outcome = await bench.run('cat /dev/zero > big1; cat /dev/zero > big2', workspace, {
      limits: { ...LIMITS, diskBytes: 1024 * MIB },
    });
    expect(outcome).toMatchObject({ end: 'disk-full', output: expect.stringContaining('No space left on device') });
    expect(outcome.exitCode).not.toBe(0);
    expect(free - (await statfs(bench.stateDir)).bavail).toBeLessThan((200 * MIB) / 4096);
  });

  test('a million empty files meet the same wall', async () => {
    const workspace = await bench.workspace(repository, { diskBytes: 16 * MIB });
    if (workspace.store !== 'loop') return;
    const line = `node -e 'for (let i = 0; i < 1e6; i++) fs.closeSync(fs.openSync("f" + i, "w"))'`;
    expect(await bench.run(line, workspace)).toMatchObject({
      end: 'disk-full',
      exitCode: 1,
      output: expect.stringContaining('ENOSPC'),
    });
  });

  test('a plain directory that grows beyond its limit is noticed, and the step stopped', async () => {
    const workspace = await bench.workspace(repository, { diskBytes: 32 * MIB, store: 'directory' });
    const limits = { ...LIMITS, diskBytes: 32 * MIB };
    const many = 'i=0; while [ $i -lt 8 ]; do head -c 8M /dev/zero > f$i; i=$((i+1)); done';
    expect(await bench.run(`${many}; sleep 60`, workspace, { limits })).toMatchObject({
      end: 'disk-full',
      exitCode: null,
    });
    const one = await bench.workspace(repository, { diskBytes: 32 * MIB, store: 'directory' });
    // One file alone is stopped by the kernel (SIGXFSZ) at the limit.
    const outcome = await bench.run('head -c 200M /dev/zero > big; echo code $?', one, { limits });
    expect(outcome.output).toContain('code 153');
    expect(statSync(`${one.dir}/big`).size).toBe(32 * MIB);
  });

  test('a plain directory full of empty files is noticed as well', async () => {
    const workspace = await bench.workspace(repository, { diskBytes: 16 * MIB, store: 'directory' });
    const line = `node -e 'for (let i = 0; i < 5000; i++) fs.closeSync(fs.openSync("f" + i, "w"))'; sleep 60`;
    expect(await bench.run(line, workspace, { limits: { ...LIMITS, diskBytes: 16 * MIB } })).toMatchObject({
      end: 'disk-full',
      exitCode: null,
    });
  });

  test('/tmp, the home directory and shared memory have walls of their own', async () => {
    const limits = { ...LIMITS, diskBytes: 1024 * MIB };
    const fill = (path: string): string => `cat /dev/zero > ${path}/x; rm ${path}/x`;
    const outcome = await bench.run(`${['/tmp', '/home/agent', '/dev/shm'].map(fill).join('; ')}; echo alive`, null, {
      limits,
    });
    expect(outcome).toMatchObject({ end: 'exited', exitCode: 0 });
    expect(outcome.output.match(/No space left on device/g)).toHaveLength(3);
    expect(outcome.output).toContain('alive');
    const inodes = await bench.run(
      `node -e 'for (let i = 0; i < 1e6; i++) fs.closeSync(fs.openSync("/tmp/f" + i, "w"))'`,
    );
    expect(inodes).toMatchObject({
      end: 'exited',
      exitCode: 1,
      childOom: false,
      output: expect.stringContaining('ENOSPC'),
    });
  });

  test('all of them filled together stay under the memory limit', async () => {
    const limits = { ...LIMITS, diskBytes: 1024 * MIB };
    const outcome = await bench.run(
      'for d in /tmp /home/agent /dev/shm; do cat /dev/zero > $d/x; done; echo alive',
      null,
      { limits },
    );
    expect(outcome).toMatchObject({ end: 'exited', childOom: false, output: expect.stringContaining('alive') });
  });

  test(`${OUTPUT_MB} MB of output leave the ends, a marker, and the worker's memory as it was`, async () => {
    let most = 0;
    globalThis.gc?.();
    const before = process.memoryUsage().rss;
    const sample = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 20);
    const outcome = await bench.run(
      `echo first; yes 0123456789abcde | head -c ${OUTPUT_MB}000000; echo; echo last; exit 9`,
    );
    clearInterval(sample);
    expect(outcome).toMatchObject({ end: 'exited', exitCode: 9, truncated: true });
    expect(outcome.outputBytes).toBe(OUTPUT_MB * 1e6 + 'first\n\nlast\n'.length);
    expect(outcome.output.startsWith('first\n')).toBe(true);
    expect(outcome.output.endsWith('\nlast\n')).toBe(true);
    expect(outcome.output).toMatch(/\[swarmline: \d+ bytes of output cut here\]/);
    expect(outcome.output.length).toBeLessThan(LIMITS.outputBytes + 200);
    expect(most - before).toBeLessThan(50 * MIB);
  });

  test('binary output is kept byte for byte, and both streams arrive', async () => {
    const line = `node -e 'process.stdout.write(Buffer.from(Array.from({ length: 256 }, (_, i) => i)), () => setTimeout(() => process.stderr.write("\\0err"), 500))'`; // two pipes have no order of their own
    const request = bench.request(['sh', '-c', line]);
    expect(await bench.sandbox.runStep(request)).toMatchObject({ exitCode: 0, outputBytes: 260, truncated: false });
    const bytes = readFileSync(request.outputFile);
    expect([...bytes.subarray(0, 256)]).toEqual(Array.from({ length: 256 }, (_, i) => i));
    expect(String(bytes.subarray(256))).toBe('\0err');
  });

  test('four busy loops get the CPU of one', async () => {
    const line = `for i in 1 2 3 4; do timeout 3 sh -c 'while :; do :; done' & done; wait; cat /proc/self/cgroup >/dev/null; cat /sys/fs/cgroup/cpu.stat /sys/fs/cgroup/cpuacct/cpuacct.usage 2>/dev/null`;
    const { output } = await bench.run(line, null, { limits: { ...LIMITS, cpus: 0.5 } });
    const v2 = /usage_usec (\d+)/.exec(output);
    const seconds = v2 === null ? Number(/^(\d{6,})$/m.exec(output)?.[1]) / 1e9 : Number(v2[1]) / 1e6;
    expect(seconds).toBeGreaterThan(0.1);
    expect(seconds).toBeLessThan(3 * 0.5 * 1.5);
  });
});
