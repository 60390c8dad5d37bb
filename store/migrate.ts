/**
 * Brings the database to this version's schema.
 *
 * 1. Several workers may start at once: one migrates, the others wait and find nothing to do.
 * 2. A migration is applied whole or not at all, in a transaction whose first statement is its bookkeeping row.
 * 3. A migration whose file holds a line `-- breaking` makes older versions refuse to start; any other is invisible to them.
 * 4. A migration that was applied never changes: a different file under its number is refused.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { codeOf, dedicatedClient, SQLSTATE } from './db.ts';
import type { Pool } from './db.ts';

/** The database was migrated by a newer version in a way that this one cannot work with. Upgrade this process. */
export class SchemaTooNew extends Error {
  override readonly name = 'SchemaTooNew';
}
/** A migration that has been applied is not the one in this version's files. */
export class MigrationChanged extends Error {
  override readonly name = 'MigrationChanged';
}

export interface Migration {
  readonly id: number;
  readonly name: string;
  readonly sql: string;
  readonly sha256: string;
  readonly breaking: boolean;
}

const FILE = /^(\d{4})_([a-z0-9_]+)\.sql$/;

/** The folder of numbered SQL, the same in source and in dist/: the nearest `migrations` upwards of this module that holds any. */
export function migrationsDir(from: string = dirname(fileURLToPath(import.meta.url))): string {
  for (let dir = from; ; dir = dirname(dir)) {
    const candidate = join(dir, 'migrations');
    if (existsSync(join(candidate, '0001_first_run.sql'))) return candidate;
    if (dirname(dir) === dir) throw new Error(`no migrations folder above ${from}: the installation is incomplete`);
  }
}

/** In order. Throws when two files share a number. */
export async function readMigrations(dir: string): Promise<Migration[]> {
  const migrations: Migration[] = [];
  for (const file of (await readdir(dir)).toSorted()) {
    const match = FILE.exec(file);
    if (match === null) continue;
    const sql = await readFile(join(dir, file), 'utf8');
    const id = Number(match[1]);
    if (migrations.some((other) => other.id === id))
      throw new Error(`two migrations are numbered ${match[1]} in ${dir}`);
    migrations.push({
      id,
      name: match[2] as string,
      sql,
      sha256: createHash('sha256').update(sql).digest('hex'),
      breaking: /^-- breaking\b/m.test(sql),
    });
  }
  return migrations;
}

interface Applied {
  readonly id: number;
  readonly name: string;
  readonly sha256: string;
  readonly breaking: boolean;
}

// A number of our own among the advisory locks of the database ("swarm" in ASCII).
const LOCK = '495673733741';

/**
 * Applies what is missing and returns the names of what it applied. Safe to call from many processes at once.
 * @throws SchemaTooNew, MigrationChanged, or Postgres' own error, in which case nothing of the failing migration stays.
 */
export async function migrate(pool: Pool, options: { readonly dir?: string } = {}): Promise<string[]> {
  const migrations = await readMigrations(options.dir ?? migrationsDir());
  const client = await dedicatedClient(pool);
  try {
    await client.query(`select pg_advisory_lock(${LOCK})`);
    const applied = await readApplied(client);
    refuseIfUnknown(migrations, applied);
    const done = new Set(applied.map((row) => row.id));
    const fresh: string[] = [];
    for (const migration of migrations) {
      if (done.has(migration.id)) continue;
      if (await apply(client, migration)) fresh.push(migration.name);
    }
    return fresh;
  } finally {
    await client.end(); // gives the lock back, too
  }
}

async function readApplied(client: pg.Client): Promise<Applied[]> {
  const select = 'select id, name, sha256, breaking from swarmline_migrations order by id';
  try {
    return (await client.query<Applied>(select)).rows;
  } catch (error) {
    if (codeOf(error) !== SQLSTATE.undefinedTable) throw error;
  }
  try {
    await client.query(`create table swarmline_migrations (
      id integer primary key, name text not null, sha256 text not null, breaking boolean not null,
      applied_at timestamptz not null default now())`);
  } catch (error) {
    // Somebody who does not take the lock was faster; Postgres reports the race in either way.
    const code = codeOf(error);
    if (code !== SQLSTATE.duplicateTable && code !== SQLSTATE.uniqueViolation) throw error;
  }
  return (await client.query<Applied>(select)).rows;
}

function refuseIfUnknown(migrations: readonly Migration[], applied: readonly Applied[]): void {
  for (const row of applied) {
    const own = migrations.find((migration) => migration.id === row.id);
    if (own === undefined) {
      if (!row.breaking) continue;
      throw new SchemaTooNew(
        `the database was changed by a newer swarmline (migration ${row.id}, ${row.name}) in a way that this version ` +
          'cannot work with. Start the newer version, or give this one a database of its own with DATABASE_URL.',
      );
    }
    if (own.sha256 !== row.sha256) {
      throw new MigrationChanged(
        `migration ${row.id} of the database (${row.name}) is not the one of this version (${own.name}). ` +
          'Use a version that fits, or an empty database.',
      );
    }
  }
}

/** false: somebody else has applied it. */
async function apply(client: pg.Client, migration: Migration): Promise<boolean> {
  await client.query('begin');
  try {
    await client.query('insert into swarmline_migrations (id, name, sha256, breaking) values ($1, $2, $3, $4)', [
      migration.id,
      migration.name,
      migration.sha256,
      migration.breaking,
    ]);
  } catch (error) {
    await client.query('rollback');
    if (codeOf(error) === SQLSTATE.uniqueViolation) return false;
    throw error;
  }
  try {
    await client.query(migration.sql);
    await client.query('commit');
    return true;
  } catch (error) {
    await client.query('rollback').catch(() => undefined); // the connection may be what failed
    throw error;
  }
}
