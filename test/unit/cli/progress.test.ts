import { describe, expect, test } from '@jest/globals';
import { createProgress, formatSeconds } from '../../../cli/progress.ts';

function sink(isTTY: boolean): { isTTY: boolean; columns: number; text: string; write(text: string): void } {
  return {
    isTTY,
    columns: 40,
    text: '',
    write(text) {
      this.text += text;
    },
  };
}

describe('progress', () => {
  test('in a pipe a step is a plain line, and says how long it took when that is worth it', async () => {
    const out = sink(false);
    let clock = 0;
    const progress = createProgress(out, () => clock);
    await progress.step('quick', async () => {});
    await progress.step('slow', async (note) => {
      note('a note');
      clock += 65_000;
    });
    expect(out.text).toBe('quick …\nslow …\nslow: done in 1 min 5 s\n');
  });

  test('a step that fails says so and passes the error on', async () => {
    const out = sink(false);
    await expect(createProgress(out, () => 0).step('x', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(out.text).toBe('x …\nx: failed after 0 s\n');
  });

  test('on a terminal a step ends in one whole line, never wider than the terminal', async () => {
    const out = sink(true);
    await createProgress(out, () => 0).step('a title', async (note) => note('n'.repeat(200)));
    expect(out.text.endsWith('✓ a title\n')).toBe(true);
    for (const drawn of out.text.split('\r\u001b[2K')) expect(drawn.trimEnd().length).toBeLessThan(40);
  });

  test('seconds turn into minutes', () =>
    expect([formatSeconds(59_400), formatSeconds(60_000)]).toEqual(['59 s', '1 min 0 s']));
});
