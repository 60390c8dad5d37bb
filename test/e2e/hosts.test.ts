/** Two sandbox hosts with nothing in common but the hub's address: both work, one is killed, its attempts run on the other. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { isolatedEnvironment } from '../../cli/setup/stack.ts';
import { commanded, makeOrigin, specOf, trailers } from '../support/stack-repository.ts';
import { openTestStack, until } from '../support/stack.ts';
import type { TestStack } from '../support/stack.ts';

jest.setTimeout(300_000);

let stack: TestStack;
const hosts = new Map<string, ChildProcess>();
const TASKS = Array.from({ length: 8 }, (_, n) => `t${n}`);

async function startHost(id: string): Promise<void> {
  await mkdir(join(stack.dir, id), { recursive: true });
  const own = await isolatedEnvironment(join(stack.dir, id));
  const env = {
    ...stack.env,
    SWARMLINE_HOST_ID: id,
    SWARMLINE_INSTANCE: `${stack.env['SWARMLINE_INSTANCE'] ?? 'hosts'}-${id}`,
    SWARMLINE_STATE: join(stack.dir, id),
    SWARMLINE_HUB_LOCAL: '0', // a host elsewhere: it keeps a mirror, and results go as packs
    SWARMLINE_METRICS_PORT: own['SWARMLINE_METRICS_PORT'],
    SWARMLINE_SLOTS: '2',
  };
  hosts.set(id, spawn(process.execPath, ['dist/workers/main.js', 'sandbox'], { env, stdio: 'ignore' }));
  await until(`host ${id} is there`, async () => {
    const { rows } = await stack.db.query('select 1 from hosts where id = $1', [id]);
    return rows.length > 0;
  });
}
async function kill(host: ChildProcess): Promise<void> {
  const gone = host.exitCode === null && host.signalCode === null ? once(host, 'exit') : null;
  host.kill('SIGKILL');
  await gone;
}
const containersOf = async (id: string): Promise<number> =>
  (
    await stack.docker.listContainers({
      all: true,
      filters: { label: [`swarmline.instance=${stack.env['SWARMLINE_INSTANCE'] ?? 'hosts'}-${id}`] },
    })
  ).length;
const attemptsAt = async (id: string, open: boolean): Promise<string[]> => {
  const sql = `select task from attempts where host = $1 and run = 'hosts' and (ended_at is null or not $2)`;
  const { rows } = await stack.db.query<{ task: string }>(sql, [id, open]);
  return rows.map(({ task }) => task);
};

beforeAll(async () => {
  stack = await openTestStack({ workers: ['orchestrator', 'mainline'] });
  await Promise.all([startHost('host-a'), startHost('host-b')]);
  const { url } = await makeOrigin(join(stack.dir, 'hosts'), { 'README.md': 'empty\n' });
  const tasks = TASKS.map((id) => commanded(id, [`${id}.txt`], ['sh', '-c', `sleep 6; echo done > ${id}.txt`]));
  await stack.submit('hosts', specOf('hosts', url, { roles: { worker: { engine: 'command' } }, tasks }));
});
afterAll(async () => {
  await Promise.all([...hosts.values()].map(kill));
  for (const { Id, Labels } of await stack.docker.listContainers({
    all: true,
    filters: { label: ['swarmline.run=hosts'] },
  })) {
    if (Labels['swarmline.instance']?.startsWith(stack.env['SWARMLINE_INSTANCE'] ?? 'hosts-'))
      await stack.docker.getContainer(Id).remove({ force: true });
  }
  await stack.stop();
});

test('both work; the attempts of the one that is killed run on the other, every task lands once, and its containers go when it is back', async () => {
  await until(
    'both hosts run agents',
    async () => (await containersOf('host-a')) > 0 && (await containersOf('host-b')) > 0,
  );
  await kill(hosts.get('host-b')!);
  const lost = await attemptsAt('host-b', true);
  expect(lost.length).toBeGreaterThan(0);
  const overview = await stack.awaitRun('hosts', 'its end', ({ run }) => run.outcome !== null, 240_000);
  expect(overview.run.outcome).toBe('completed');
  expect(await attemptsAt('host-a', false)).toEqual(expect.arrayContaining(lost));
  expect(
    (await trailers(join(stack.dir, 'hosts', '.git'), 'main..swarmline/hosts', 'Swarmline-Task')).toSorted(),
  ).toEqual(TASKS);
  await startHost('host-b');
  await until('what host-b left behind is gone', async () => (await containersOf('host-b')) === 0);
});
