/** What a setup made, taken out of its container's directory and given to later ones. */
import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { lstat, mkdir, open, readFile, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Mount } from './types.ts';

const run = promisify(execFile);
const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** First components of `provides` that would hide a part of the image or of the sandbox. */
const TAKEN = new Set(
  'bin boot cache dev etc home lib lib32 lib64 media mnt opt proc root run sbin srv sys tmp usr var workspace'.split(
    ' ',
  ),
);
const MAX_SCRIPT_BYTES = 2 ** 20;

export interface SetUp {
  readonly mounts: Mount[];
  readonly env: Record<string, string>;
}

/** Why `provides` cannot be mounted at /<provides>, or null. */
export function badProvides(provides: string): string | null {
  const parts = provides.split('/');
  if (!parts.every((part) => /^[A-Za-z0-9._@+-]+$/.test(part) && part !== '.' && part !== '..')) {
    return 'it must be a plain relative path such as node_modules or vendor/bundle';
  }
  return TAKEN.has(parts[0] as string) ? `/${parts[0]} is a directory of the image or of the sandbox` : null;
}

/** Moves `<work>/<provides>` to `<target>/tree` and describes it in `<target>/setup.json`. Returns why not, or null. */
export async function takeResult(work: string, provides: string, target: string): Promise<string | null> {
  // A link at any step of the way would make us mount whatever it names.
  let at = work;
  for (const part of provides.split('/')) {
    at = join(at, part);
    const stat = await lstat(at).catch(() => null);
    if (stat?.isDirectory() !== true) return `it did not make the directory ${provides} (sandbox.setup.provides)`;
  }
  const tree = join(target, 'tree');
  await mkdir(target, { recursive: true, mode: 0o711 });
  await rename(at, tree);
  if (process.getuid?.() === 0) await run('chown', ['-R', '-h', '--', '0:0', tree]);
  // After the change of owner nothing but the mount's readOnly would be needed; group and others must still be able to read.
  await run('chmod', ['-R', 'u+rwX,go+rX', '--', tree]);
  await pointAtFinalPlace(tree, provides);
  await writeFile(join(target, 'setup.json'), JSON.stringify(await describe(tree, provides)));
  return null;
}

/** Scripts of a Python environment start with the interpreter's absolute path, which was below /workspace and will be below /. */
async function pointAtFinalPlace(tree: string, provides: string): Promise<void> {
  const bin = join(tree, 'bin');
  const from = Buffer.from(`#!/workspace/${provides}/`);
  for (const name of await readdir(bin).catch(() => [])) {
    const file = await open(join(bin, name), constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
      () => null,
    );
    if (file === null) continue;
    try {
      const stat = await file.stat();
      if (!stat.isFile() || stat.size > MAX_SCRIPT_BYTES) continue;
      const text = await file.readFile();
      if (!text.subarray(0, from.length).equals(from)) continue;
      const moved = Buffer.concat([Buffer.from(`#!/${provides}/`), text.subarray(from.length)]);
      await file.truncate(0);
      await file.write(moved, 0, moved.length, 0);
    } finally {
      await file.close();
    }
  }
}

interface Description {
  readonly provides: string;
  /** Directories for PATH, in the container. */
  readonly path: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

async function describe(tree: string, provides: string): Promise<Description> {
  const inside = `/${provides}`;
  const isDirectory = async (name: string): Promise<boolean> =>
    (await lstat(join(tree, name)).catch(() => null))?.isDirectory() === true;
  const path: string[] = [];
  const env: Record<string, string> = {};
  if (await isDirectory('.bin')) path.push(`${inside}/.bin`);
  if (await isDirectory('bin')) path.push(`${inside}/bin`);
  if ((await lstat(join(tree, 'pyvenv.cfg')).catch(() => null))?.isFile() === true) env['VIRTUAL_ENV'] = inside;
  if (provides.split('/').at(-1) === 'site-packages') env['PYTHONPATH'] = inside;
  return { provides, path, env };
}

/** The mounts and environment for later containers, or null when there is no finished result at `target`. */
export async function readResult(target: string, imageEnv: readonly string[]): Promise<SetUp | null> {
  const text = await readFile(join(target, 'setup.json'), 'utf8').catch(() => null);
  if (text === null) return null;
  const { provides, path, env } = JSON.parse(text) as Description;
  const imagePath = imageEnv.find((line) => line.startsWith('PATH='))?.slice('PATH='.length) ?? DEFAULT_PATH;
  return {
    mounts: [{ source: join(target, 'tree'), target: `/${provides}`, readOnly: true }],
    env: { ...env, ...(path.length === 0 ? {} : { PATH: [...path, imagePath].join(':') }) },
  };
}
