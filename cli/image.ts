/** `image agents`: the sandbox image with the agent programs, for roles whose engine is one of them. */
import type { Command } from 'commander';
import { createProgress } from './progress.ts';

export function register(program: Command): void {
  program
    .command('image')
    .description('make a sandbox image that `up` does not make by itself')
    .addArgument(
      program.createArgument('<name>', 'agents: Claude Code and Codex on the sandbox image').choices(['agents']),
    )
    .option('-y, --yes', 'install what is missing without asking', false)
    .action(async (_name: string, { yes }: { yes: boolean }) => {
      const [{ ensureDocker }, { ensureAgentsImage }, { AGENTS_IMAGE }, { loadSettings }] = await Promise.all([
        import('./setup/docker.ts'),
        import('./setup/image.ts'),
        import('./setup/image-inputs.ts'),
        import('./setup/settings.ts'),
      ]);
      const settings = loadSettings(process.env);
      const progress = createProgress();
      const { docker } = await ensureDocker(settings, { yes, progress });
      const made = await ensureAgentsImage(docker, { cacheDir: settings.cacheDir, yes, progress });
      process.stdout.write(
        `${AGENTS_IMAGE} is ${made === 'made' ? 'made' : 'there'}; name it as sandbox.image of a spec\n`,
      );
    });
}
