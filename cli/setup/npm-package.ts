/** One file or folder of an npm package at a pinned version, fetched by npm itself and checked against its integrity. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { MissingError } from '../exit.ts';
import { CommandFailed, run } from './exec.ts';

export interface PinnedPackage {
  readonly package: string;
  readonly version: string;
  /** Subresource integrity as in a lockfile: `sha512-…`. */
  readonly integrity: string;
}

async function integrityOf(path: string): Promise<string> {
  const hash = createHash('sha512');
  await pipeline(createReadStream(path), hash);
  return `sha512-${hash.digest('base64')}`;
}

/** The unpacked package in the cache (its `package` folder); fetched once per version. Throws MissingError. */
export async function fetchPackage(pinned: PinnedPackage, cacheDir: string): Promise<string> {
  const name = `${pinned.package.replaceAll('/', '+')}-${pinned.version}`;
  const target = join(cacheDir, 'packages', name);
  if (
    await stat(target).then(
      () => true,
      () => false,
    )
  )
    return join(target, 'package');
  await mkdir(join(cacheDir, 'packages'), { recursive: true });
  const work = await mkdtemp(join(cacheDir, 'packages', '.fetch-'));
  try {
    const spec = `${pinned.package}@${pinned.version}`;
    const printed = await run(['npm', 'pack', spec, '--pack-destination', work, '--json', '--loglevel=error'], {
      cwd: work,
    });
    const [packed] = JSON.parse(printed) as [{ filename: string }];
    const tarball = join(work, packed.filename.replace(/^@/, '').replaceAll('/', '-'));
    const actual = await integrityOf(tarball);
    if (actual !== pinned.integrity) {
      throw new MissingError({
        what: `${spec} is not what it was: its content does not have the pinned digest.`,
        why: `expected ${pinned.integrity}\ngot      ${actual}`,
        command: 'npm config get registry   # is it one that you trust?',
      });
    }
    const unpacked = join(work, 'unpacked');
    await mkdir(unpacked);
    await run(['tar', '-xzf', tarball, '-C', unpacked, '--no-same-owner']);
    // Somebody else may have been faster with the same content.
    await rename(unpacked, target).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
    return join(target, 'package');
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    throw new MissingError(
      {
        what: `npm could not fetch ${pinned.package}@${pinned.version}.`,
        why: error.outputTail.trim(),
        command: 'npm ping',
      },
      { cause: error },
    );
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
