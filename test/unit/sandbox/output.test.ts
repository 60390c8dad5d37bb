import { afterAll, describe, expect, test } from '@jest/globals';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OutputFile } from '../../../sandbox/output.ts';

describe('a capped output file', () => {
  const dir = mkdtempSync(join(tmpdir(), 'swarmline-output-'));
  afterAll(() => rmSync(dir, { recursive: true }));
  let count = 0;
  async function written(
    cap: number,
    chunks: readonly string[],
    lastLine: string | null = null,
  ): Promise<{ text: string; file: OutputFile }> {
    count += 1;
    const path = join(dir, 'deep', `${count}`);
    const file = await OutputFile.create(path, cap);
    for (const chunk of chunks) await file.write(Buffer.from(chunk));
    await file.close(lastLine);
    expect(existsSync(`${path}.tail`)).toBe(false);
    return { text: readFileSync(path, 'utf8'), file };
  }
  const digits = (n: number): string => Array.from({ length: n }, (_, at) => String(at % 10)).join('');

  test('keeps everything up to exactly the cap', async () => {
    for (const length of [0, 1, 50, 51, 99, 100]) {
      const { text, file } = await written(100, [digits(length)]);
      expect(text).toBe(digits(length));
      expect(file.truncated).toBe(false);
    }
  });

  test('beyond the cap keeps the first and last half and says how much was cut, however it came', async () => {
    const whole = digits(1000);
    for (const size of [1, 7, 49, 50, 51, 999, 1000]) {
      const chunks = Array.from({ length: Math.ceil(1000 / size) }, (_, at) => whole.slice(at * size, (at + 1) * size));
      const { text, file } = await written(100, chunks);
      expect(text).toBe(`${whole.slice(0, 50)}\n[swarmline: 900 bytes of output cut here]\n${whole.slice(-50)}`);
      expect(file.truncated).toBe(true);
      expect(file.bytes).toBe(1000);
    }
  });

  test('an odd cap and one of a single byte work', async () => {
    expect((await written(3, ['abcdef'])).text).toBe('ab\n[swarmline: 3 bytes of output cut here]\nf');
    expect((await written(1, ['abc'])).text).toBe('a\n[swarmline: 1 bytes of output cut here]\nc');
  });

  test('a last line of ours comes at the end', async () => {
    expect((await written(100, ['x'], 'timed out')).text).toBe('x\n[swarmline: timed out]\n');
  });
});
