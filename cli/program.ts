/** The commander program: registers every command, and is the only place that turns errors into exit codes. */
import { Command, CommanderError } from 'commander';
import { registerAll } from './commands/index.ts';
import { register as registerDemo } from './demo.ts';
import { register as registerDoctor } from './doctor.ts';
import { register as registerDown } from './down.ts';
import { describeError, EXIT } from './exit.ts';
import { register as registerImage } from './image.ts';
import { register as registerTest } from './test.ts';
import { register as registerUp } from './up.ts';

/** The whole program, without running it. */
export function createProgram(): Command {
  const program = new Command('swarmline')
    .description('Builds software with many coding agents at once: a spec goes in, verified commits come out.')
    .version('0.1.0')
    .showHelpAfterError('(add --help for what can be typed)')
    .exitOverride();
  for (const register of [
    registerDemo,
    registerUp,
    registerDown,
    registerDoctor,
    registerImage,
    registerAll,
    registerTest,
  ])
    register(program);
  return program;
}

/** Runs the command line and returns its exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  try {
    await createProgram().parseAsync(argv);
    return EXIT.done;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.badInput;
    const { exitCode, text } = describeError(error);
    if (text !== null) process.stderr.write(`${text}\n`);
    return exitCode;
  }
}
