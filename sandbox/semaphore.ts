/** A fair counting semaphore whose waiters can give up. */
export class Semaphore {
  readonly size: number;
  private free: number;
  private readonly queue: (() => void)[] = [];

  constructor(size: number) {
    this.size = Math.max(1, Math.floor(size));
    this.free = this.size;
  }

  get taken(): number {
    return this.size - this.free;
  }
  get waiting(): number {
    return this.queue.length;
  }

  /** Resolves to the function that gives the place back (calling it twice is harmless). Rejects with the signal's reason. */
  async acquire(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.free > 0) this.free -= 1;
    else {
      await new Promise<void>((resolve, reject) => {
        const turn = (): void => {
          signal?.removeEventListener('abort', giveUp);
          resolve();
        };
        const giveUp = (): void => {
          this.queue.splice(this.queue.indexOf(turn), 1);
          reject(signal?.reason as Error);
        };
        this.queue.push(turn);
        signal?.addEventListener('abort', giveUp, { once: true });
      });
    }
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const next = this.queue.shift();
      if (next !== undefined)
        next(); // the place passes on without becoming free
      else this.free += 1;
    };
  }
}
