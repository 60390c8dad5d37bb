import { describe, expect, test } from '@jest/globals';
import { digest, failureSignature, normaliseOutput } from '../../../spec/gate/signature.ts';

describe('failure signatures', () => {
  test('clock, durations, line numbers, colours and temporary names do not change one', () => {
    const first =
      '\u001b[31mFAIL\u001b[0m src/a.ts:12:3 (1.23 s) at 2026-01-02T03:04:05Z /tmp/x-81ab/file 0xdeadbeef\n\n';
    const second = 'FAIL src/a.ts:14:9 (920.1 s) at 2027-11-12T13:14:15Z /tmp/y-11/other 0xabc\n';
    expect(failureSignature('test', [], first)).toBe(failureSignature('test', [], second));
  });

  test('another file, another message, another step or another test give another one', () => {
    const one = failureSignature('test', [], 'FAIL src/a.ts');
    expect(failureSignature('test', [], 'FAIL src/b.ts')).not.toBe(one);
    expect(failureSignature('build', [], 'FAIL src/a.ts')).not.toBe(one);
    expect(failureSignature('test', ['t1'], 'x')).not.toBe(failureSignature('test', ['t2'], 'x'));
  });

  test('named tests decide alone, in any order', () => {
    expect(failureSignature('test', ['b', 'a'], 'x')).toBe(failureSignature('test', ['a', 'b'], 'y'));
  });

  test('a progress line that overwrites itself counts as what stayed on the screen', () => {
    expect(normaliseOutput('working\rdone\n')).toBe('done');
  });

  test('a digest is 16 hex digits', () => {
    expect(digest('')).toMatch(/^[0-9a-f]{16}$/);
    expect(digest('a')).not.toBe(digest('b'));
  });
});
