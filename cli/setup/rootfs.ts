/** A base file system made from Debian packages, for machines that cannot pull an image: debootstrap into a tar in the cache. */
import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MissingError } from '../exit.ts';
import type { Progress } from '../progress.ts';
import { canInstall, install, installCommand } from './apt.ts';
import { askConsent } from './consent.ts';
import { CommandFailed, run, which } from './exec.ts';
import type { ImageInputs } from './image-inputs.ts';

const TOOLS = ['debootstrap', 'debian-archive-keyring'];

/** A mount namespace of its own, where that is possible, so that nothing stays mounted when debootstrap is killed. */
async function privateMounts(): Promise<string[]> {
  const prefix = ['unshare', '--mount', '--propagation', 'private', '--'];
  return run([...prefix, 'true']).then(
    () => prefix,
    () => [],
  );
}

/** The tar of the base file system; made once per set of packages, in half a minute. Throws MissingError. */
export async function ensureRootfs(
  inputs: ImageInputs,
  cacheDir: string,
  { yes, progress }: { yes: boolean; progress: Progress },
): Promise<string> {
  const folder = join(cacheDir, 'rootfs');
  const tar = join(folder, `${inputs.baseDigest}.tar`);
  if (
    await stat(tar).then(
      () => true,
      () => false,
    )
  )
    return tar;
  if (process.getuid?.() !== 0) {
    throw new MissingError({
      what: `The base image ${inputs.versions.base} cannot be pulled, and making one from Debian packages needs root.`,
      command: [
        'sudo ./swarmline up',
        `docker pull ${inputs.versions.base}   # from where it can be reached, then docker save and load`,
      ],
    });
  }
  if ((await which('debootstrap')) === null) {
    const offer = {
      what: `The base image ${inputs.versions.base} cannot be pulled; making one needs debootstrap.`,
      commands: [installCommand(TOOLS)],
    };
    if (!(await canInstall())) throw new MissingError({ what: offer.what, command: offer.commands });
    await askConsent(offer, yes);
    await progress.step('installing debootstrap', (note) => install(TOOLS, note));
  }
  await mkdir(folder, { recursive: true });
  const work = await mkdtemp(join(folder, '.work-'));
  try {
    await progress.step('making a base image from Debian packages (half a minute, once)', async (note) => {
      const root = join(work, 'root');
      const include = inputs.versions.packages.join(',');
      await run(
        [
          ...(await privateMounts()),
          'debootstrap',
          '--variant=minbase',
          `--include=${include}`,
          inputs.versions.suite,
          root,
        ],
        { onLine: note, env: { ...process.env, LC_ALL: 'C', TMPDIR: work } },
      );
      for (const path of ['var/cache/apt', 'var/lib/apt/lists', 'var/log', 'tmp']) {
        for (const name of await readdir(join(root, path)))
          await rm(join(root, path, name), { recursive: true, force: true });
      }
      note('packing');
      await run(['tar', '-C', root, '--numeric-owner', '--one-file-system', '-cf', join(work, 'root.tar'), '.']);
      await rename(join(work, 'root.tar'), tar);
    });
    return tar;
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    throw new MissingError(
      {
        what: 'debootstrap could not make a base image.',
        why: error.outputTail.trim().split('\n').slice(-5).join('\n'),
        command: `debootstrap --variant=minbase ${inputs.versions.suite} /tmp/base   # to see it fail`,
      },
      { cause: error },
    );
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
