/** The image with Aider, whose packages pip fetches: inside a container of the sandbox image, so that this machine needs no Python. */
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type Docker from 'dockerode';
import { setupEnvironment } from '../../sandbox/index.ts';
import { AIDER_IMAGE, aiderDigest, imageInputs, SANDBOX_IMAGE, SANDBOX_LABEL } from './image-inputs.ts';
import { build, ensureImage, ensureMade, inContext } from './image.ts';
import type { ImageOptions } from './image.ts';

const REQUIREMENTS = 'aider.requirements.txt';
/** Aider sees its packages, what it starts does not. */
const START = `#!/usr/bin/python3 -s
import sys
sys.path.insert(0, '/opt/aider')
from aider.main import main
sys.exit(main())
`;

/** Makes the image unless it is there and up to date: some 120 MB are fetched, 600 MB kept. Throws MissingError. */
export async function ensureAiderImage(
  docker: Docker,
  options: ImageOptions,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<'present' | 'made'> {
  const inputs = await imageInputs();
  const digest = await aiderDigest(inputs);
  return ensureMade(docker, { name: AIDER_IMAGE, digest }, options, async () => {
    await ensureImage(docker, options);
    await options.progress.step(`building ${AIDER_IMAGE}`, (note) =>
      inContext(options.cacheDir, async (context) => {
        note('fetching Aider and its packages');
        await mkdir(join(context, 'aider'));
        await copyFile(join(inputs.folder, REQUIREMENTS), join(context, REQUIREMENTS));
        await copyFile(join(inputs.folder, 'aider.Dockerfile'), join(context, 'Dockerfile'));
        await writeFile(join(context, 'start'), START, { mode: 0o755 });
        await install(docker, context, env);
        const made = { [SANDBOX_LABEL]: digest };
        await build(
          docker,
          context,
          { dockerfile: 'Dockerfile', tag: AIDER_IMAGE, args: { BASE: SANDBOX_IMAGE }, labels: made },
          note,
        );
      }),
    );
  });
}

/** pip fills `<context>/aider`. What is not pinned, or not what it was, it refuses; nothing of what it fetches is run. */
async function install(
  docker: Docker,
  context: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const bundle = env['SWARMLINE_CA_BUNDLE'] ?? '/etc/ssl/certs/ca-certificates.crt';
  const trusted = existsSync(bundle);
  const lent = { ...setupEnvironment(env), ...(trusted ? { PIP_CERT: '/ca.pem' } : {}), HOME: '/tmp' };
  const pinned = ['--require-hashes', '--no-deps', '--only-binary', ':all:', '--no-cache-dir'];
  const container = await docker.createContainer({
    Image: SANDBOX_IMAGE,
    Cmd: ['pip', 'install', ...pinned, '--target', '/out/aider', '-r', `/out/${REQUIREMENTS}`],
    User: `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`,
    Env: Object.entries(lent).map(([name, value]) => `${name}=${value}`),
    HostConfig: { Binds: [`${context}:/out`, ...(trusted ? [`${bundle}:/ca.pem:ro`] : [])], CapDrop: ['ALL'] },
  });
  try {
    await container.start();
    const { StatusCode } = (await container.wait()) as { StatusCode: number };
    if (StatusCode === 0) return;
    const said = await container.logs({ stdout: true, stderr: true, tail: 20, follow: false });
    throw new Error(`pip ended with code ${StatusCode}: ${said.toString('utf8')}`);
  } finally {
    await container.remove({ force: true });
  }
}
