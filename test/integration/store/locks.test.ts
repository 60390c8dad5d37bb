import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { holdHubLock, withAdvisoryLock } from '../../../store/locks.ts';
import { startCluster } from './cluster.ts';
import type { Cluster } from './cluster.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
}, 60_000);
afterAll(() => cluster.stop(), 60_000);

test('a hub has one holder, and the next one gets it when it is released', async () => {
  const pool = await cluster.empty();
  const first = await holdHubLock(pool, 'r');
  await expect(holdHubLock(cluster.again(pool), 'r', { waitMs: 50 })).rejects.toMatchObject({ name: 'LockBusy' });
  const other = await holdHubLock(pool, 'another-run', { waitMs: 50 });
  const waiting = holdHubLock(cluster.again(pool), 'r');
  await first.release();
  await first.release();
  const second = await waiting;
  expect([first.lost.aborted, second.lost.aborted]).toEqual([false, false]);
  await second.release();
  await other.release();
});

test('a holder whose connection dies is told, and the lock is free', async () => {
  const pool = await cluster.empty();
  const held = await holdHubLock(pool, 'r');
  const told = new Promise((resolve) => held.lost.addEventListener('abort', resolve, { once: true }));
  await pool.query('select pg_terminate_backend(pid) from pg_locks where locktype = $1', ['advisory']);
  expect(await told).toBeDefined();
  await held.release();
  await (await holdHubLock(pool, 'r')).release();
});

test('work under a lock never overlaps', async () => {
  const pool = await cluster.empty();
  let inside = 0;
  let most = 0;
  await Promise.all(
    Array.from({ length: 8 }, () =>
      withAdvisoryLock(pool, 'x', async () => {
        most = Math.max(most, ++inside);
        await pool.query('select pg_sleep(0.01)');
        inside -= 1;
      }),
    ),
  );
  expect(most).toBe(1);
});

test('the lock is given back when the work fails', async () => {
  const pool = await cluster.empty();
  await expect(withAdvisoryLock(pool, 'x', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await withAdvisoryLock(pool, 'x', () => Promise.resolve(), { waitMs: 50 });
});
