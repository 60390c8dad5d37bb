/**
 * Docker's multiplexed attach stream (8-byte header: type, 0, 0, 0, big-endian length; then the payload) taken apart.
 *
 * Why not docker-modem's demuxStream: it ignores back-pressure (65 MB buffered for a slow sink), copies quadratically, recurses per
 * frame and passes frames of type 3 on raw. This one is iterative, keeps at most one header between chunks, and waits for its sink.
 */
import { Writable } from 'node:stream';

const HEADER_BYTES = 8;

export class Demux extends Writable {
  private readonly sink: (payload: Buffer) => Promise<void>;
  private header: Buffer = Buffer.alloc(0);
  private left = 0;

  /** `sink` gets stdout and stderr in the order in which they came, and slows the container down while it works. */
  constructor(sink: (payload: Buffer) => Promise<void>) {
    super({ highWaterMark: 256 * 1024 });
    this.sink = sink;
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.sink(this.payloads(chunk)).then(() => done(), done);
  }

  private payloads(chunk: Buffer): Buffer {
    const found: Buffer[] = [];
    let at = 0;
    while (at < chunk.length) {
      if (this.left > 0) {
        const part = chunk.subarray(at, at + this.left);
        found.push(part);
        at += part.length;
        this.left -= part.length;
        continue;
      }
      const part = chunk.subarray(at, at + HEADER_BYTES - this.header.length);
      this.header = this.header.length === 0 ? part : Buffer.concat([this.header, part]);
      at += part.length;
      if (this.header.length < HEADER_BYTES) {
        this.header = Buffer.from(this.header); // let go of the big chunk
        break;
      }
      this.left = this.header.readUInt32BE(4);
      this.header = Buffer.alloc(0);
    }
    return found.length === 1 ? (found[0] as Buffer) : Buffer.concat(found);
  }
}
