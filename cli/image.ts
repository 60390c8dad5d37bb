/** `image agents` and `image aider`: the sandbox image with agent programs, for roles whose engine is one of them. */
import type { Command } from 'commander';
import { createProgress } from './progress.ts';

export function register(program: Command): void {
  program
    .command('image')
    .description('make a sandbox image that `up` does not make by itself')
    .addArgument(
      program
        .createArgument('<name>', 'agents: Claude Code and Codex on the sandbox image; aider: Aider on it')
        .choices(['agents', 'aider']),
    )
    .option('-y, --yes', 'install what is missing without asking', false)
    .action(async (name: 'agents' | 'aider', { yes }: { yes: boolean }) => {
      const [{ ensureDocker }, { ensureAgentsImage }, { ensureAiderImage }, images, { loadSettings }] =
        await Promise.all([
          import('./setup/docker.ts'),
          import('./setup/image-agents.ts'),
          import('./setup/image-aider.ts'),
          import('./setup/image-inputs.ts'),
          import('./setup/settings.ts'),
        ]);
      const settings = loadSettings(process.env);
      const progress = createProgress();
      const { docker } = await ensureDocker(settings, { yes, progress });
      const [image, ensure] =
        name === 'aider'
          ? ([images.AIDER_IMAGE, ensureAiderImage] as const)
          : ([images.AGENTS_IMAGE, ensureAgentsImage] as const);
      const made = await ensure(docker, { cacheDir: settings.cacheDir, yes, progress });
      process.stdout.write(`${image} is ${made === 'made' ? 'made' : 'there'}; name it as sandbox.image of a spec\n`);
    });
}
