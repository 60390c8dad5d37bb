/** `{changed}` in a gate command: the changed files, each quoted for `sh`. */

const PLACEHOLDER = '{changed}';

export function usesChanged(command: string): boolean {
  return command.includes(PLACEHOLDER);
}

/**
 * Puts the files in for `{changed}`. null: the command asks for changed files and there is none, so that there is nothing to run
 * (running it without arguments would mean "everything" to most tools, and "usage error" to the rest).
 *
 * Every path is single-quoted, and one that begins with a dash gets `./` before it, so that no file name is read as shell or as
 * an option. The placeholder must therefore stand by itself, not inside quotes of the command's own.
 */
export function withChanged(command: string, changed: readonly string[]): string | null {
  if (!usesChanged(command)) return command;
  if (changed.length === 0) return null;
  const files = changed.map((path) => shellQuote(path.startsWith('-') ? `./${path}` : path)).join(' ');
  return command.split(PLACEHOLDER).join(files);
}

/** One word for a POSIX shell, whatever is in it. */
export function shellQuote(word: string): string {
  return /^[A-Za-z0-9_./@%+:,=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
