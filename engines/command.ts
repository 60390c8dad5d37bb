/**
 * Any executable: a codemod, a script. It gets `{"task": …, "lastFailure": null | {cause, why, log}}` as JSON on standard input, and the same
 * in files: SWARMLINE_TASK names the Task Spec, SWARMLINE_FAILURE_LOG the last failure's log (unset at the first attempt).
 */
import { ENGINE_DIR, EngineInputError } from './engine.ts';
import type { Engine, EngineCommand, EngineInput } from './engine.ts';
import { plainOutcome } from './plain-outcome.ts';

export const commandEngine: Engine = {
  name: 'command',
  command(input: EngineInput): EngineCommand {
    const argv = input.task.run;
    if (argv === null || argv.length === 0)
      throw new EngineInputError(
        `Task "${input.task.id}" has no command to run: the engine "command" needs \`run: [program, argument, …]\`.`,
      );
    const { script: _script, ...task } = input.task;
    const failure = input.lastFailure;
    const files: Record<string, string> = {
      'task.json': `${JSON.stringify(task, null, 2)}\n`,
      'stdin.json': `${JSON.stringify({ task, lastFailure: failure })}\n`,
    };
    const env: Record<string, string> = { SWARMLINE_TASK: `${ENGINE_DIR}/task.json` };
    if (failure !== null) {
      files['failure.log'] = failureLog(failure.why, failure.log);
      env['SWARMLINE_FAILURE_LOG'] = `${ENGINE_DIR}/failure.log`;
    }
    return { argv, env, files, stdinFile: `${ENGINE_DIR}/stdin.json` };
  },
  outcome: plainOutcome,
};

/** The reason first, then the log: a program that reads only the first lines still learns why. */
function failureLog(why: string, log: string): string {
  return log === '' ? `${why}\n` : `${why}\n\n${log.endsWith('\n') ? log : `${log}\n`}`;
}
