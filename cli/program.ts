/** The commander program: registers every command, and is the only place that turns errors into exit codes. */
import { Command, CommanderError } from 'commander';
import { registerAll } from './commands/index.ts';
import { describeError, EXIT } from './exit.ts';

/** The whole program, without running it. */
export function createProgram(): Command {
  const program = new Command('swarmline')
    .description('Builds software with many coding agents at once: a spec goes in, verified commits come out.')
    .version('0.1.0')
    .showHelpAfterError('(add --help for what can be typed)')
    .exitOverride();
  registerAll(program);
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
