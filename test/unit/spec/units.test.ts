import { expect, it } from '@jest/globals';
import { payloadProblem, repositoryProblem, utf8Bytes } from '../../../spec/payload.ts';
import { formatDuration, formatSize, parseDuration, parseSize } from '../../../spec/units.ts';

it.each([
  ['15m', 900_000],
  ['90s', 90_000],
  ['1h 30m', 5_400_000],
  ['1h30m', 5_400_000],
  ['250ms', 250],
  ['0s', 0],
  ['1.5s', 1500],
  ['2d', 172_800_000],
  ['15', null],
  ['15 m', null],
  ['-1s', null],
  ['m', null],
  ['', null],
])('the duration %j is %j ms', (text, ms) => expect(parseDuration(text)).toBe(ms));

it.each([
  ['1g', 1024 ** 3],
  ['512m', 512 * 1024 ** 2],
  ['64KiB', 65536],
  ['10MB', 10 * 1024 ** 2],
  ['1.5g', 1.5 * 1024 ** 3],
  ['7b', 7],
  ['1024', null],
  ['1 g', null],
  ['1x', null],
])('the size %j is %j bytes', (text, bytes) => expect(parseSize(text)).toBe(bytes));

it('what is formatted reads back', () => {
  for (const ms of [0, 5, 999, 1000, 1500, 59_900, 60_000, 90_000, 5_400_000, 172_800_000])
    expect(parseDuration(formatDuration(ms))).toBe(ms);
  for (const bytes of [0, 7, 1024, 1536, 2 * 1024 ** 2, 1024 ** 3]) expect(parseSize(formatSize(bytes))).toBe(bytes);
});

it('bytes are counted as UTF-8', () => {
  for (const text of ['', 'abc', 'ü→', '😀x', '\ud800']) expect(utf8Bytes(text)).toBe(Buffer.byteLength(text));
});

it('a payload is refused beyond two mebibytes, less what travels with it', () => {
  expect(payloadProblem(2 * 1024 * 1024 - 4096)).toBe(null);
  expect(payloadProblem(2 * 1024 * 1024)?.message).toContain('2 MiB');
});

it('what is wrong with a repository has a path and a remedy', () => {
  expect(repositoryProblem('no-branch', 'fatal: nothing')).toEqual({
    path: 'repository.branch',
    message: 'the repository has no such branch (fatal: nothing); check repository.branch',
  });
});
