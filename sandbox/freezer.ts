/**
 * Which runs are frozen on this host. A marker file per run, so that every worker process of the host, and one that starts later, agrees.
 *
 * Invariant: whoever starts or unpauses something looks at the marker *after* it exists; whoever freezes writes the marker *before* it lists.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** How soon another process's freeze or thaw is noticed, in milliseconds. */
export const FREEZE_POLL_MS = 500;

export class Freezer {
  private readonly dir: string;
  private readonly listeners = new Set<() => void>();

  constructor(stateDir: string) {
    this.dir = join(stateDir, 'frozen');
    mkdirSync(this.dir, { recursive: true });
  }

  private marker(run: string): string {
    const safe = /^[a-z0-9][a-z0-9._-]{0,62}$/.test(run) ? run : createHash('sha256').update(run).digest('hex');
    return join(this.dir, safe);
  }

  isFrozen(run: string): boolean {
    return existsSync(this.marker(run));
  }

  set(run: string): void {
    writeFileSync(this.marker(run), '');
    this.tell();
  }

  clear(run: string): void {
    rmSync(this.marker(run), { force: true });
    this.tell();
  }

  /** Called at every change made by this process; others' changes are noticed by polling isFrozen. */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }

  /** Rejects with the signal's reason. */
  async whenThawed(run: string, signal: AbortSignal): Promise<void> {
    while (this.isFrozen(run)) {
      signal.throwIfAborted();
      await new Promise<void>((resolve) => {
        const go = (): void => {
          clearTimeout(timer);
          off();
          signal.removeEventListener('abort', go);
          resolve();
        };
        const timer = setTimeout(go, FREEZE_POLL_MS);
        const off = this.onChange(go);
        signal.addEventListener('abort', go, { once: true });
      });
    }
    signal.throwIfAborted();
  }
}
