/**
 * How the command ends: four exit codes and the errors that choose them.
 *
 * Invariants
 * 1. An error that a user can act on says what happened, why, and the command that fixes it.
 * 2. Anything else is our bug: its stack is shown, and it exits 1.
 */

export const EXIT = {
  done: 0,
  /** A run, a check or a test failed. */
  failed: 1,
  /** The input cannot be used: arguments, a spec, a name that does not exist. */
  badInput: 2,
  /** Something is missing on this machine, or does not answer. */
  missing: 3,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The parts of an error message; `command` is what to type, one line each. */
export interface Explanation {
  readonly what: string;
  readonly why?: string | undefined;
  readonly command?: string | readonly string[] | undefined;
}

/** An error with an exit code and an explanation; its message is the whole text. */
export class CliError extends Error {
  readonly exitCode: ExitCode;
  readonly explanation: Explanation;

  constructor(exitCode: ExitCode, explanation: Explanation, options?: ErrorOptions) {
    super(formatExplanation(explanation), options);
    this.name = new.target.name;
    this.exitCode = exitCode;
    this.explanation = explanation;
  }
}

/** The user's input cannot be used. Exit 2. */
export class UserError extends CliError {
  constructor(explanation: Explanation, options?: ErrorOptions) {
    super(EXIT.badInput, explanation, options);
  }
}

/** Something on this machine is missing or does not answer. Exit 3. */
export class MissingError extends CliError {
  constructor(explanation: Explanation, options?: ErrorOptions) {
    super(EXIT.missing, explanation, options);
  }
}

/** A run or a check failed, and what it has to say has been said or is in the explanation. Exit 1. */
export class FailedError extends CliError {
  constructor(explanation: Explanation, options?: ErrorOptions) {
    super(EXIT.failed, explanation, options);
  }
}

/** Ends the command with this code after everything has already been printed. */
export class QuietExit extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode) {
    super(`exit ${exitCode}`);
    this.name = 'QuietExit';
    this.exitCode = exitCode;
  }
}

/** What happened, why, and what to type, as lines for a terminal. */
export function formatExplanation({ what, why, command }: Explanation): string {
  const lines = [what];
  if (why !== undefined && why !== '') lines.push(`  why:  ${why.replaceAll('\n', '\n        ')}`);
  const commands = command === undefined ? [] : typeof command === 'string' ? [command] : command;
  for (const [index, text] of commands.entries()) lines.push(`  ${index === 0 ? 'type:' : '     '} ${text}`);
  return lines.join('\n');
}

/** The code and text with which an error ends the command; text null: nothing more to print. */
export function describeError(error: unknown): { exitCode: number; text: string | null } {
  if (error instanceof QuietExit) return { exitCode: error.exitCode, text: null };
  if (error instanceof CliError) return { exitCode: error.exitCode, text: error.message };
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { exitCode: EXIT.failed, text: `This is a defect of swarmline, not of your input:\n${text}` };
}
