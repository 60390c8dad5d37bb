import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { dumpSchema } from '../../../store/dump.ts';
import { migrate, migrationsDir, readMigrations } from '../../../store/migrate.ts';
import { startCluster } from './cluster.ts';
import type { Cluster } from './cluster.ts';

let cluster: Cluster;
let dir: string;
beforeAll(async () => {
  cluster = await startCluster();
  dir = await mkdtemp(join(tmpdir(), 'swarmline-test-migrations-'));
}, 60_000);
afterAll(async () => {
  await rm(dir, { recursive: true, force: true });
  await cluster.stop();
}, 60_000);

const folder = async (files: Record<string, string>): Promise<string> => {
  const made = await mkdtemp(join(dir, 'm-'));
  for (const [name, sql] of Object.entries(files)) await writeFile(join(made, name), sql);
  return made;
};
const one = 'create table a (x integer);';
const two = 'alter table a add column y integer;';

describe('migrate', () => {
  test('eight workers that start at once on an empty database apply each migration once', async () => {
    const pool = await cluster.empty();
    const results = await Promise.all(Array.from({ length: 8 }, () => migrate(cluster.again(pool))));
    const all = await readMigrations(migrationsDir());
    expect(results.flat().toSorted()).toEqual(all.map((migration) => migration.name).toSorted());
    const { rows } = await pool.query('select count(*) as n from swarmline_migrations');
    expect(rows[0]).toEqual({ n: all.length });
  });

  test('a second start applies nothing', async () => {
    const pool = await cluster.database();
    expect(await migrate(pool)).toEqual([]);
  });

  test('only what is missing is applied', async () => {
    const pool = await cluster.empty();
    expect(await migrate(pool, { dir: await folder({ '0001_one.sql': one }) })).toEqual(['one']);
    expect(await migrate(pool, { dir: await folder({ '0001_one.sql': one, '0002_two.sql': two }) })).toEqual(['two']);
  });

  test('a migration that fails leaves nothing behind and those before it stay', async () => {
    const pool = await cluster.empty();
    const broken = await folder({ '0001_one.sql': one, '0002_two.sql': `${two} select 1 / 0;` });
    await expect(migrate(pool, { dir: broken })).rejects.toMatchObject({ code: '22012' });
    const { rows } = await pool.query("select attname from pg_attribute where attrelid = 'a'::regclass and attnum > 0");
    expect(rows).toEqual([{ attname: 'x' }]);
    expect(await migrate(pool, { dir: await folder({ '0001_one.sql': one, '0002_two.sql': two }) })).toEqual(['two']);
  });

  test('an older worker refuses a newer breaking schema and says what to do', async () => {
    const pool = await cluster.empty();
    const older = await folder({ '0001_one.sql': one });
    await migrate(pool, { dir: await folder({ '0001_one.sql': one, '0002_two.sql': `-- breaking\n${two}` }) });
    await expect(migrate(pool, { dir: older })).rejects.toMatchObject({
      name: 'SchemaTooNew',
      message: expect.stringContaining('DATABASE_URL'),
    });
  });

  test('an older worker works on with a newer schema that breaks nothing', async () => {
    const pool = await cluster.empty();
    await migrate(pool, { dir: await folder({ '0001_one.sql': one, '0002_two.sql': two }) });
    expect(await migrate(pool, { dir: await folder({ '0001_one.sql': one }) })).toEqual([]);
  });

  test('a migration that changed after it was applied is refused', async () => {
    const pool = await cluster.empty();
    await migrate(pool, { dir: await folder({ '0001_one.sql': one }) });
    const changed = await folder({ '0001_one.sql': `${one} -- better` });
    await expect(migrate(pool, { dir: changed })).rejects.toMatchObject({ name: 'MigrationChanged' });
  });

  test('the committed schema is the one that the migrations make', async () => {
    const committed = await readFile(join(migrationsDir(), '..', 'store', 'schema.sql'), 'utf8');
    expect(await dumpSchema(await cluster.database())).toBe(committed);
  });
});
