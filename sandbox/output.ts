/**
 * The output of one step, on disk, capped: the first half of the cap as it came, the last half, and a marker between them.
 *
 * Invariants
 * 1. Memory use does not depend on the size of the output: the tail lives in a ring file, not in memory.
 * 2. Writing beyond the cap never fails and never blocks the container for ever (an undrained stream blocks kill and remove: moby #41827).
 */
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

export class OutputFile {
  readonly path: string;
  /** Bytes that arrived. */
  bytes = 0;
  private readonly headCap: number;
  private readonly tailCap: number;
  private readonly head: FileHandle;
  private ring: FileHandle | null = null;
  private headUsed = 0;
  private tailBytes = 0;

  private constructor(path: string, head: FileHandle, cap: number) {
    this.path = path;
    this.head = head;
    this.headCap = Math.ceil(cap / 2);
    this.tailCap = Math.max(1, Math.floor(cap / 2));
  }

  /** Creates or empties the file, and its directory. `cap` in bytes. */
  static async create(path: string, cap: number): Promise<OutputFile> {
    await mkdir(dirname(path), { recursive: true });
    return new OutputFile(path, await open(path, 'w', 0o600), cap);
  }

  async write(chunk: Buffer): Promise<void> {
    this.bytes += chunk.length;
    const first = chunk.subarray(0, Math.min(chunk.length, this.headCap - this.headUsed));
    if (first.length > 0) {
      await this.head.write(first);
      this.headUsed += first.length;
    }
    await this.writeTail(chunk.subarray(first.length));
  }

  private async writeTail(chunk: Buffer): Promise<void> {
    if (chunk.length === 0) return;
    this.ring ??= await open(`${this.path}.tail`, 'w+', 0o600);
    // Of a chunk longer than the ring only its end survives anyway.
    let rest = chunk.subarray(Math.max(0, chunk.length - this.tailCap));
    let position = this.tailBytes + (chunk.length - rest.length);
    this.tailBytes += chunk.length;
    while (rest.length > 0) {
      const at = position % this.tailCap;
      const part = rest.subarray(0, this.tailCap - at);
      await this.ring.write(part, 0, part.length, at);
      position += part.length;
      rest = rest.subarray(part.length);
    }
  }

  get truncated(): boolean {
    return this.tailBytes > this.tailCap;
  }

  /** Puts marker and tail behind the head and closes. Harmless when called twice. */
  async close(lastLine: string | null = null): Promise<void> {
    const ring = this.ring;
    this.ring = null;
    try {
      if (ring !== null) {
        if (this.truncated) {
          await this.head.write(`\n[swarmline: ${this.tailBytes - this.tailCap} bytes of output cut here]\n`);
          await this.copy(ring, this.tailBytes % this.tailCap, this.tailCap);
          await this.copy(ring, 0, this.tailBytes % this.tailCap);
        } else await this.copy(ring, 0, this.tailBytes);
      }
      if (lastLine !== null) await this.head.write(`\n[swarmline: ${lastLine}]\n`);
    } finally {
      await this.head.close();
      await ring?.close();
      if (ring !== null) await rm(`${this.path}.tail`, { force: true });
    }
  }

  private async copy(ring: FileHandle, from: number, to: number): Promise<void> {
    const buffer = Buffer.allocUnsafe(Math.min(64 * 1024, Math.max(1, to - from)));
    for (let at = from; at < to;) {
      const { bytesRead } = await ring.read(buffer, 0, Math.min(buffer.length, to - at), at);
      if (bytesRead === 0) return;
      await this.head.write(buffer, 0, bytesRead);
      at += bytesRead;
    }
  }
}
