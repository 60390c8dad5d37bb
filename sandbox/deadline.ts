/** A deadline that can stand still. Monotonic clock; fires once. */
export class Deadline {
  private remainingMs: number;
  private readonly onExpire: () => void;
  private since: number | null = null;
  private usedMs = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(ms: number, onExpire: () => void) {
    this.remainingMs = ms;
    this.onExpire = onExpire;
  }

  /** Starts or goes on. Harmless when running. */
  run(): void {
    if (this.since !== null) return;
    this.since = performance.now();
    // setTimeout takes at most 2^31-1 ms; a longer deadline is as good as that (24 days).
    this.timer = setTimeout(this.onExpire, Math.min(Math.max(0, this.remainingMs), 2 ** 31 - 1));
  }

  /** Stands still until `run`. */
  hold(): void {
    if (this.since === null) return;
    const ran = performance.now() - this.since;
    this.usedMs += ran;
    this.remainingMs -= ran;
    this.since = null;
    clearTimeout(this.timer);
  }

  /** Time that counted, in whole ms. */
  elapsedMs(): number {
    return Math.round(this.usedMs + (this.since === null ? 0 : performance.now() - this.since));
  }
}
