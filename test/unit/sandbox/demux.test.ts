import { describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { Demux } from '../../../sandbox/demux.ts';

function frame(type: number, payload: string): Buffer {
  const header = Buffer.from([type, 0, 0, 0, 0, 0, 0, 0]);
  header.writeUInt32BE(Buffer.byteLength(payload), 4);
  return Buffer.concat([header, Buffer.from(payload)]);
}

describe('taking the attach stream apart', () => {
  const stream = Buffer.concat([
    frame(1, 'out'),
    frame(2, 'err'),
    frame(1, ''),
    frame(3, 'system'),
    frame(1, 'a longer payload'),
  ]);
  const expected = 'outerrsystema longer payload';

  test('gives the payloads in order, however the chunks fall', async () => {
    for (const size of [1, 2, 3, 7, 8, 9, stream.length]) {
      let seen = '';
      const demux = new Demux((payload) => {
        seen += String(payload);
        return Promise.resolve();
      });
      for (let at = 0; at < stream.length; at += size) demux.write(stream.subarray(at, at + size));
      demux.end();
      await once(demux, 'finish');
      expect(seen).toBe(expected);
    }
  });

  test('a hundred thousand tiny frames in one chunk neither recurse nor copy quadratically', async () => {
    const many = Buffer.concat(Array.from({ length: 100_000 }, () => frame(1, 'x')));
    let bytes = 0;
    const demux = new Demux((payload) => {
      bytes += payload.length;
      return Promise.resolve();
    });
    demux.end(many);
    await once(demux, 'finish');
    expect(bytes).toBe(100_000);
  });

  test('waits for a slow sink instead of piling up', async () => {
    let release: () => void = () => undefined;
    const demux = new Demux(() => new Promise((resolve) => (release = resolve)));
    const big = frame(1, 'y'.repeat(300 * 1024));
    expect(demux.write(big)).toBe(false);
    release();
    await once(demux, 'drain');
    demux.end();
    await once(demux, 'finish');
  });

  test('a stream that breaks off inside a header or payload is no error', async () => {
    let seen = '';
    const demux = new Demux((payload) => {
      seen += String(payload);
      return Promise.resolve();
    });
    demux.end(stream.subarray(0, 13));
    await once(demux, 'finish');
    expect(seen).toBe('out');
  });
});
