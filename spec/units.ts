/** Durations and sizes as people write them, compiled once to milliseconds and bytes. */

const MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const BYTES: Readonly<Record<string, number>> = { b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 };

export const DURATION_PATTERN = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))(?: ?\d+(?:\.\d+)?(?:ms|s|m|h|d))*$/;
export const SIZE_PATTERN = /^\d+(?:\.\d+)?(?:b|[kmgt](?:i?b)?)$/i;

/** Milliseconds of `90s`, `15m`, `1h 30m`; null when it is no duration. Units: ms, s, m, h, d. */
export function parseDuration(text: string): number | null {
  if (!DURATION_PATTERN.test(text)) return null;
  let ms = 0;
  for (const [, digits, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g))
    ms += Number(digits) * (MS[unit as string] as number);
  return Math.round(ms);
}

/** Bytes of `512m`, `1g`, `10MiB`; null when it is no size. Units are powers of 1024: b, k, m, g, t, with or without `b`/`ib`. */
export function parseSize(text: string): number | null {
  if (!SIZE_PATTERN.test(text)) return null;
  const unit = text.replace(/[\d.]/g, '').charAt(0).toLowerCase();
  return Math.round(Number.parseFloat(text) * (BYTES[unit] as number));
}

/** The two largest units that are not zero: `1h 30m`, `2m`, `1.5s`, `250ms`. Reads back through parseDuration. */
export function formatDuration(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  if (whole < 1000) return `${whole}ms`;
  if (whole < 60_000) return `${Math.round(whole / 100) / 10}s`;
  const parts: string[] = [];
  let rest = Math.round(whole / 1000) * 1000;
  for (const unit of ['d', 'h', 'm', 's']) {
    const size = MS[unit] as number;
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0 && parts.length < 2) parts.push(`${count}${unit}`);
    else if (parts.length > 0) break;
  }
  return parts.join(' ');
}

/** The largest unit of which there is at least one: `1g`, `1.5m`. Reads back through parseSize, to the digits shown. */
export function formatSize(bytes: number): string {
  for (const unit of ['t', 'g', 'm', 'k']) {
    const size = BYTES[unit] as number;
    if (bytes >= size) return `${Math.round((bytes / size) * 100) / 100}${unit}`;
  }
  return `${Math.round(bytes)}b`;
}
