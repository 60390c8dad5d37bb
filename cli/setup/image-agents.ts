/** The image with the agent programs that npm carries: Claude Code and Codex, each one program of its own. */
import { chmod, cp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type Docker from 'dockerode';
import { AGENTS_IMAGE, agentsInputs, imageInputs, SANDBOX_IMAGE, SANDBOX_LABEL } from './image-inputs.ts';
import { build, ensureImage, ensureMade, inContext } from './image.ts';
import type { ImageOptions } from './image.ts';
import { fetchPackage } from './npm-package.ts';

/** Makes it, and what it stands on, unless it is there and up to date: some 200 MB are fetched. Throws MissingError. */
export async function ensureAgentsImage(docker: Docker, options: ImageOptions): Promise<'present' | 'made'> {
  const inputs = await imageInputs();
  const { claude: claudePackage, codex: codexPackage, digest } = await agentsInputs(inputs);
  return ensureMade(docker, { name: AGENTS_IMAGE, digest }, options, async () => {
    await ensureImage(docker, options);
    await options.progress.step(`building ${AGENTS_IMAGE}`, async (note) => {
      note(`fetching Claude Code ${claudePackage.version} and Codex ${codexPackage.version}`);
      const claude = await fetchPackage(claudePackage, options.cacheDir);
      const codex = join(await fetchPackage(codexPackage, options.cacheDir), 'vendor');
      const [target = ''] = await readdir(codex);
      await inContext(options.cacheDir, async (context) => {
        await cp(join(claude, 'claude'), join(context, 'claude'));
        await chmod(join(context, 'claude'), 0o755);
        await cp(join(codex, target), join(context, 'codex'), { recursive: true, verbatimSymlinks: true });
        await cp(join(inputs.folder, 'agents.Dockerfile'), join(context, 'Dockerfile'));
        const made = { [SANDBOX_LABEL]: digest };
        await build(
          docker,
          context,
          { dockerfile: 'Dockerfile', tag: AGENTS_IMAGE, args: { BASE: SANDBOX_IMAGE }, labels: made },
          note,
        );
      });
    });
  });
}
