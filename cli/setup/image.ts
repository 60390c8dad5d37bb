/**
 * The images of an engine: `swarmline/base:bookworm` and on it `swarmline/node:22`.
 *
 * 1. An image carries the digest of what it was made from as a label; it is made again exactly when that differs.
 * 2. On one machine an image is made by one process at a time: whoever comes second finds it made.
 */
import { cp, chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type Docker from 'dockerode';
import { MissingError } from '../exit.ts';
import type { Progress } from '../progress.ts';
import { BASE_IMAGE, BASE_LABEL, imageInputs, SANDBOX_IMAGE, SANDBOX_LABEL } from './image-inputs.ts';
import type { ImageInputs } from './image-inputs.ts';
import { withLock } from './lock.ts';
import { fetchPackage } from './npm-package.ts';
import { ensureRootfs } from './rootfs.ts';

/** A registry that cannot be reached is given up after this. */
const PULL_START_MS = 30_000;

export async function labels(docker: Docker, image: string): Promise<Readonly<Record<string, string>> | null> {
  try {
    return (await docker.getImage(image).inspect()).Config.Labels ?? {};
  } catch (error) {
    if ((error as { statusCode?: number }).statusCode === 404) return null;
    throw error;
  }
}

/** Is the sandbox image there, and made from what this checkout says? */
export async function imageState(docker: Docker): Promise<'present' | 'outdated' | 'missing'> {
  const [inputs, found] = await Promise.all([imageInputs(), labels(docker, SANDBOX_IMAGE)]);
  if (found === null) return 'missing';
  return found[SANDBOX_LABEL] === inputs.sandboxDigest ? 'present' : 'outdated';
}

/** Reads an engine's answer to its end; an error in it is thrown with the lines before. */
async function follow(docker: Docker, stream: NodeJS.ReadableStream, note: (text: string) => void): Promise<void> {
  const said: string[] = [];
  await new Promise<void>((resolve, reject) => {
    docker.modem.followProgress(
      stream,
      (error) =>
        error
          ? reject(new Error(`${said.slice(-10).join('\n')}\n${error.message}`.trim(), { cause: error }))
          : resolve(),
      (event: { stream?: string; status?: string }) => {
        const text = (event.stream ?? event.status ?? '').trim();
        if (text === '') return;
        said.push(text);
        note(text);
      },
    );
  });
}

export async function build(
  docker: Docker,
  context: string,
  options: { dockerfile: string; tag: string; args: Record<string, string>; labels: Record<string, string> },
  note: (text: string) => void,
): Promise<void> {
  const stream = await docker.buildImage(
    { context, src: ['.'] },
    {
      t: options.tag,
      dockerfile: options.dockerfile,
      buildargs: options.args,
      labels: options.labels,
      // The builder that every engine still has; it needs no session.
      version: '1',
      forcerm: true,
    },
  );
  await follow(docker, stream, note);
}

/** True when the ordinary base image is on the engine or could be pulled. */
async function pulled(docker: Docker, image: string, note: (text: string) => void): Promise<boolean> {
  if ((await labels(docker, image)) !== null) return true;
  try {
    const stream = await docker.pull(image, { abortSignal: AbortSignal.timeout(PULL_START_MS) });
    await follow(docker, stream, note);
    return true;
  } catch {
    // No registry in reach, or none that has it: a base of our own is the answer to both.
    return false;
  }
}

export interface ImageOptions {
  readonly cacheDir: string;
  readonly yes: boolean;
  readonly progress: Progress;
}

async function ensureBase(docker: Docker, inputs: ImageInputs, options: ImageOptions): Promise<void> {
  if ((await labels(docker, BASE_IMAGE))?.[BASE_LABEL] === inputs.baseDigest) return;
  const { base, packages } = inputs.versions;
  if (await options.progress.step(`pulling ${base}`, (note) => pulled(docker, base, note))) {
    await options.progress.step(`building ${BASE_IMAGE}`, (note) =>
      build(
        docker,
        inputs.folder,
        {
          dockerfile: 'base.Dockerfile',
          tag: BASE_IMAGE,
          args: { BASE: base, PACKAGES: packages.join(' ') },
          labels: { [BASE_LABEL]: inputs.baseDigest },
        },
        note,
      ),
    );
    return;
  }
  options.progress.line(`${base} cannot be pulled from here; making the base image from Debian packages instead`);
  const tar = await ensureRootfs(inputs, options.cacheDir, options);
  await options.progress.step(`importing ${BASE_IMAGE}`, async (note) => {
    const [repo, tag] = BASE_IMAGE.split(':');
    const changes = [`LABEL ${BASE_LABEL}=${inputs.baseDigest}`, 'CMD ["bash"]'];
    const stream = await docker.importImage(tar, { repo, tag, changes });
    await follow(docker, stream, note);
  });
}

/** A folder for what an image is built from, gone afterwards. */
export async function inContext<T>(cacheDir: string, work: (context: string) => Promise<T>): Promise<T> {
  await mkdir(cacheDir, { recursive: true });
  const context = await mkdtemp(join(cacheDir, '.image-'));
  try {
    return await work(context);
  } finally {
    await rm(context, { recursive: true, force: true });
  }
}

/** Makes an image unless it is there with this digest. Throws MissingError. */
export async function ensureMade(
  docker: Docker,
  image: { readonly name: string; readonly digest: string },
  options: ImageOptions,
  make: () => Promise<void>,
): Promise<'present' | 'made'> {
  const there = async (): Promise<boolean> => (await labels(docker, image.name))?.[SANDBOX_LABEL] === image.digest;
  if (await there()) return 'present';
  const lock = join(options.cacheDir, `${image.name.replaceAll(/[/:]/g, '-')}.lock`);
  const work = async (): Promise<'present' | 'made'> => {
    if (await there()) return 'present';
    try {
      await make();
      return 'made';
    } catch (error) {
      if (error instanceof MissingError) throw error;
      const what = `The image ${image.name} could not be built.`;
      const why = (error as Error).message;
      throw new MissingError({ what, why, command: './swarmline doctor' }, { cause: error });
    }
  };
  return withLock(lock, work, () => options.progress.line(`waiting for another process that makes ${image.name}`));
}

/** Makes the sandbox image unless it is there and up to date. Throws MissingError. */
export async function ensureImage(docker: Docker, options: ImageOptions): Promise<'present' | 'made'> {
  const inputs = await imageInputs();
  const image = { name: SANDBOX_IMAGE, digest: inputs.sandboxDigest };
  return ensureMade(docker, image, options, async () => {
    await ensureBase(docker, inputs, options);
    await options.progress.step(`building ${SANDBOX_IMAGE}`, async (note) => {
      const { node, npm } = inputs.versions;
      const arch = process.arch === 'arm64' ? node.arm64 : node.x64;
      note(`fetching Node ${node.version} and npm ${npm.version}`);
      const nodePackage = await fetchPackage({ ...arch, version: node.version }, options.cacheDir);
      const npmPackage = await fetchPackage(npm, options.cacheDir);
      await inContext(options.cacheDir, async (context) => {
        await cp(join(nodePackage, 'bin', 'node'), join(context, 'node'));
        await chmod(join(context, 'node'), 0o755);
        await cp(npmPackage, join(context, 'npm'), { recursive: true, verbatimSymlinks: true });
        for (const name of ['npm-cli.js', 'npx-cli.js']) await chmod(join(context, 'npm', 'bin', name), 0o755);
        await cp(join(inputs.folder, 'sandbox.Dockerfile'), join(context, 'Dockerfile'));
        const made = { [SANDBOX_LABEL]: image.digest };
        await build(
          docker,
          context,
          { dockerfile: 'Dockerfile', tag: SANDBOX_IMAGE, args: { BASE: BASE_IMAGE }, labels: made },
          note,
        );
      });
    });
  });
}
