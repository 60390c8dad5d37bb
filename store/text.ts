/** What may go into a column: Postgres takes neither NUL nor half a surrogate pair, and no row may grow without limit. */

/** Bytes kept of one artifact: the first and last half, with a marker between. */
export const ARTIFACT_BYTES = 1024 * 1024;
/** Bytes kept of a message (why, tail, name of a failing test). */
export const MESSAGE_BYTES = 8 * 1024;
/** Failing tests kept by name for each gate step. */
export const FAILURES_KEPT = 500;

/** NUL removed, half surrogates replaced. */
export function clean(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8').replaceAll('\0', '');
}

export interface Capped {
  readonly text: string;
  /** Size before cutting. */
  readonly bytes: number;
  readonly truncated: boolean;
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** Cleaned and at most about `limit` bytes: the first and last half, and a marker that says how much is missing. */
export function cap(content: string | Buffer, limit: number = ARTIFACT_BYTES): Capped {
  const whole = typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
  if (whole.length <= limit) return { text: clean(whole.toString('utf8')), bytes: whole.length, truncated: false };
  let head = Math.floor(limit / 2);
  while (head > 0 && isContinuation(whole[head])) head -= 1;
  let tail = whole.length - Math.floor(limit / 2);
  while (tail < whole.length && isContinuation(whole[tail])) tail += 1;
  const marker = `\n[… ${tail - head} bytes cut …]\n`;
  const text = whole.subarray(0, head).toString('utf8') + marker + whole.subarray(tail).toString('utf8');
  return { text: clean(text), bytes: whole.length, truncated: true };
}

/** A message column: cleaned, at most MESSAGE_BYTES; null stays null. */
export const message = (text: string | null | undefined): string | null =>
  text === null || text === undefined ? null : cap(text, MESSAGE_BYTES).text;

/**
 * JSON that jsonb accepts: NUL dropped, half surrogates replaced. JSON.stringify writes whole pairs as themselves and
 * escapes only NUL and halves, so the escapes are all that must be looked at (`\\` first, so that `\\u0000` is left alone).
 */
export function json(value: unknown): string {
  return JSON.stringify(value ?? null).replace(/\\\\|\\u0000|\\ud[89a-f][0-9a-f]{2}/g, (escape) =>
    escape === '\\\\' ? escape : escape === '\\u0000' ? '' : '\ufffd',
  );
}
