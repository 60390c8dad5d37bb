/**
 * Failure signatures: the same for the same failure, whatever the clock, the line numbers or the temporary names were.
 * From the failing tests where there is a report; else from the normalised end of the output.
 */

/** Lines of output that a signature looks at: the end is where tools say what went wrong. */
const TAIL_LINES = 30;

/** Colours away, everything that changes from run to run (times, numbers, addresses, digests, temporary paths) made alike. */
export function normaliseOutput(output: string): string {
  return stripAnsi(output)
    .split(/\r?\n/)
    .map((line) => line.replace(/^.*\r/, '').trimEnd())
    .filter((line) => line !== '')
    .slice(-TAIL_LINES)
    .map((line) =>
      line
        .replace(/\/tmp\/[^\s:'")]+/g, '/tmp/#')
        .replace(/\b0x[0-9a-f]+\b/gi, '#')
        .replace(/\b[0-9a-f]{7,64}\b/gi, '#')
        .replace(/\d+(?:\.\d+)?/g, '#'),
    )
    .join('\n');
}

export function stripAnsi(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replace(/\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g, '');
}

/** 16 hex digits. Not for security: two different failures with one digest would only share a fix. */
export function failureSignature(step: string, failures: readonly string[], output: string): string {
  return digest(`${step}\n${failures.length > 0 ? failures.toSorted().join('\n') : normaliseOutput(output)}`);
}

/** Two FNV-1a hashes of 32 bit with different starts, as hex. */
export function digest(text: string): string {
  let a = 0x811c9dc5;
  let b = 0xc9dc5118;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul(b ^ ((code << 8) | (code >>> 8)), 0x01000193);
  }
  return [a, b].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
}
