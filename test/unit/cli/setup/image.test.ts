/** Making an image, with an engine that only knows labels. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type Docker from 'dockerode';
import { MissingError } from '../../../../cli/exit.ts';
import { createProgress } from '../../../../cli/progress.ts';
import { SANDBOX_LABEL } from '../../../../cli/setup/image-inputs.ts';
import { ensureMade } from '../../../../cli/setup/image.ts';

let cacheDir: string;
let digests: Map<string, string>;
beforeEach(async () => {
  cacheDir = await mkdtemp(join(tmpdir(), 'swarmline-image-'));
  digests = new Map();
});
afterEach(() => rm(cacheDir, { recursive: true }));

const docker = {
  getImage: (name: string) => ({
    inspect: () =>
      digests.has(name)
        ? Promise.resolve({ Config: { Labels: { [SANDBOX_LABEL]: digests.get(name) } } })
        : Promise.reject(Object.assign(new Error('no such image'), { statusCode: 404 })),
  }),
} as unknown as Docker;
const ensure = (digest: string, make: () => Promise<void>) =>
  ensureMade(
    docker,
    { name: 'swarmline/x:1', digest },
    { cacheDir, yes: true, progress: createProgress({ write: () => true }) },
    make,
  );

test('an image that several ask for at once is made once, and again only when what it is made from has changed', async () => {
  let made = 0;
  const make = (digest: string) => async () => {
    made += 1;
    await new Promise((done) => setTimeout(done, 20));
    digests.set('swarmline/x:1', digest);
  };
  const several = await Promise.all([1, 2, 3].map(() => ensure('a', make('a'))));
  expect(several.toSorted()).toEqual(['made', 'present', 'present']);
  expect(await ensure('a', make('a'))).toBe('present');
  expect(await ensure('b', make('b'))).toBe('made');
  expect(made).toBe(2);
  expect(await readdir(cacheDir)).toEqual([]);
});

test('what keeps an image from being made is told with its name, and does not keep the next one from trying', async () => {
  const failing = ensure('a', () => Promise.reject(new Error('pip ended with code 1')));
  await expect(failing).rejects.toThrow(MissingError);
  await expect(failing).rejects.toThrow(/swarmline\/x:1 could not be built[^]*pip ended with code 1/);
  expect(await ensure('a', () => Promise.resolve(void digests.set('swarmline/x:1', 'a')))).toBe('made');
});
