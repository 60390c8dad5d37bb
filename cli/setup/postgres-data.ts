/**
 * The data folder of this machine's own Postgres.
 *
 * Invariants
 * 1. Data are initialised beside their place and moved there when complete: a killed set-up leaves nothing half made.
 * 2. A postmaster.pid whose process is gone, or is something else by now, never keeps the next start from working.
 */
import { randomBytes } from 'node:crypto';
import { access, chown, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MissingError } from '../exit.ts';
import { CommandFailed, run } from './exec.ts';
import { ownFolder } from './postgres-files.ts';
import type { PostgresFiles } from './postgres-files.ts';
import { processIdentity } from './process.ts';
import type { Settings } from './settings.ts';

/** The database role that owns everything of ours. */
export const USER = 'swarmline';

export const passwordFile = (settings: Settings): string => join(settings.stateDir, 'postgres-password');

/** Makes the data folder unless it is there. Throws MissingError. */
export async function initialise(settings: Settings, files: PostgresFiles): Promise<void> {
  if (
    await access(join(files.data, 'PG_VERSION')).then(
      () => true,
      () => false,
    )
  )
    return;
  const password = randomBytes(24).toString('hex');
  const fresh = `${files.data}.new`;
  await rm(fresh, { recursive: true, force: true });
  await ownFolder(fresh, files.owner);
  const secret = await mkdtemp(join(tmpdir(), 'swarmline-'));
  try {
    const file = join(secret, 'password');
    await writeFile(file, `${password}\n`, { mode: 0o600 });
    for (const path of [secret, file])
      if (files.owner !== undefined) await chown(path, files.owner.uid, files.owner.gid);
    await run(
      [
        join(files.bin, 'initdb'),
        `--pgdata=${fresh}`,
        `--username=${USER}`,
        `--pwfile=${file}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        '--locale=C',
      ],
      { cwd: '/', ...files.owner },
    );
    await writeFile(passwordFile(settings), `${password}\n`, { mode: 0o600 });
    await rename(fresh, files.data);
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    throw new MissingError(
      {
        what: 'Postgres could not make its data folder.',
        why: error.outputTail.trim() || error.message,
        command: [
          'npm ci   # when shared libraries are missing: the package’s install script did not run',
          'export DATABASE_URL=…   # to use another',
        ],
      },
      { cause: error },
    );
  } finally {
    await rm(secret, { recursive: true, force: true });
  }
}

/** The postmaster that runs on these data whatever our pid file says; removes a postmaster.pid that means nobody. */
export async function postmaster(data: string): Promise<number | null> {
  const file = join(data, 'postmaster.pid');
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) return null;
  const pid = Number(text.split('\n')[0]);
  const alive = Number.isInteger(pid) && pid > 0 && (await processIdentity(pid)) !== null;
  const command = alive ? await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => null) : '';
  // Where there is no /proc, Postgres's own judgement has to do.
  if (alive && (command === null || command.split('\0').includes(data))) return pid;
  await rm(file, { force: true });
  return null;
}

/** The port of the server that has these data open; null when none is noted. */
export async function postmasterPort(data: string): Promise<number | null> {
  const text = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '');
  const port = Number(text.split('\n')[3]); // the fourth line of postmaster.pid, by Postgres's miscadmin.h
  return Number.isInteger(port) && port > 0 ? port : null;
}
