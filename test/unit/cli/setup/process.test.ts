import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { withLock } from '../../../../cli/setup/lock.ts';
import {
  parseStat,
  poll,
  processIdentity,
  readRunning,
  startDaemon,
  stopDaemon,
} from '../../../../cli/setup/process.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'swarmline-process-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const daemon = (script: string): Promise<{ pid: number }> =>
  startDaemon({
    argv: [process.execPath, '-e', script],
    cwd: folder,
    env: process.env,
    logFile: join(folder, 'log'),
    pidFile: join(folder, 'pid'),
  });

describe('processes that outlive the command', () => {
  test('the name in /proc/<pid>/stat may hold blanks and brackets', () => {
    const stat = `7 (a) b (c)) S ${Array.from({ length: 18 }, (_, index) => index).join(' ')} 4711 0`;
    expect(parseStat(stat)).toEqual({ state: 'S', startTicks: '4711' });
  });

  test('one is started, found by its pid file, stopped, and gone', async () => {
    const { pid } = await daemon('setInterval(() => {}, 1000)');
    expect((await readRunning(join(folder, 'pid')))?.pid).toBe(pid);
    expect(await stopDaemon(join(folder, 'pid'), 'SIGTERM', 5_000)).toBe('stopped');
    expect(await processIdentity(pid)).toBeNull();
    expect(await stopDaemon(join(folder, 'pid'), 'SIGTERM', 5_000)).toBe('not running');
  });

  test('one that ignores the signal is killed after its time', async () => {
    await daemon("process.on('SIGTERM', () => {}); console.log('deaf'); setInterval(() => {}, 1000)");
    const deaf = async (): Promise<true | null> =>
      (await readFile(join(folder, 'log'), 'utf8')).includes('deaf') ? true : null;
    expect(await poll(deaf, 10_000)).toBe(true);
    expect(await stopDaemon(join(folder, 'pid'), 'SIGTERM', 200)).toBe('killed');
  });

  test('a recycled process id is never taken for ours, and never signalled', async () => {
    const record = { pid: process.pid, identity: 'another boot 1', argv: ['x'], startedAtMs: 1 };
    await writeFile(join(folder, 'pid'), JSON.stringify(record));
    expect(await readRunning(join(folder, 'pid'))).toBeNull();
    expect(await stopDaemon(join(folder, 'pid'), 'SIGKILL', 100)).toBe('not running');
  });

  test.each(['', 'not json', '{"pid": "x"}', '{"pid": -1, "identity": "", "argv": [], "startedAtMs": 0}'])(
    'a pid file holding %p means not running',
    async (text) => {
      await writeFile(join(folder, 'pid'), text);
      expect(await readRunning(join(folder, 'pid'))).toBeNull();
    },
  );

  test('one that cannot be started is an error, not a pid file', async () => {
    const options = {
      argv: [join(folder, 'nothing')],
      cwd: folder,
      env: {},
      logFile: join(folder, 'log'),
      pidFile: join(folder, 'pid'),
    };
    await expect(startDaemon(options)).rejects.toThrow(/ENOENT/);
    expect(await readRunning(join(folder, 'pid'))).toBeNull();
  });
});

describe('the lock of a state folder', () => {
  test('only one holds it at a time, and all get it', async () => {
    let inside = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      most = Math.max(most, ++inside);
      await new Promise((resolve) => setTimeout(resolve, 5));
      inside--;
    };
    await Promise.all(Array.from({ length: 4 }, () => withLock(join(folder, 'lock'), work)));
    expect(most).toBe(1);
  });

  test('the lock of a process that is gone is taken over', async () => {
    const { mkdir } = await import('node:fs/promises');
    await mkdir(join(folder, 'lock'));
    await writeFile(join(folder, 'lock', 'owner'), `${process.pid}\nan earlier process\n`);
    expect(await withLock(join(folder, 'lock'), async () => 'mine')).toBe('mine');
  });

  test('it is released when the work fails', async () => {
    await expect(withLock(join(folder, 'lock'), () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await withLock(join(folder, 'lock'), async () => 1)).toBe(1);
  });
});
