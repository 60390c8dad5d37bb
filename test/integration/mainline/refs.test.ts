/** Refs are read without git, and say what git says. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { git, gitText, writeCommit } from '../../../mainline/git.ts';
import { listRefs, readRef, readRefs } from '../../../mainline/refs.ts';
import { world } from './fixture.ts';
import type { World } from './fixture.ts';

let w: World;
beforeEach(async () => {
  w = await world({ 'a.txt': 'a\n' });
});
afterEach(() => w.close());

const asGit = async (prefix: string): Promise<string[]> =>
  (await gitText(w.hub.dir, ['for-each-ref', '--format=%(refname) %(objectname)', prefix])).split('\n').filter(Boolean);
const ours = async (prefix: string): Promise<string[]> =>
  [...(await listRefs(w.hub.dir, prefix))].map((pair) => pair.join(' ')).toSorted();
const set = (ref: string, ...rest: string[]): Promise<Buffer> => git(w.hub.dir, ['update-ref', ref, ...rest]);

test('loose, packed, packed and moved, deleted: every ref is what git says it is', async () => {
  const other = await writeCommit(w.hub.dir, {
    tree: await gitText(w.hub.dir, ['rev-parse', `${w.base}^{tree}`]),
    parents: [w.base],
    message: 'x',
    atMs: 0,
  });
  for (const name of ['packed', 'moved', 'gone', 'deep/er']) await set(`refs/swarmline/t/${name}`, w.base);
  await git(w.hub.dir, ['tag', '-a', '-m', 'peeled in packed-refs', 'v1', other], {
    env: { GIT_COMMITTER_NAME: 'x', GIT_COMMITTER_EMAIL: 'x@example.invalid' },
  });
  await git(w.hub.dir, ['pack-refs', '--all']);
  await set('refs/swarmline/t/moved', other);
  await set('refs/swarmline/t/loose', other);
  await set('-d', 'refs/swarmline/t/gone');
  await writeFile(join(w.hub.dir, 'refs/swarmline/t/held.lock'), '');
  await mkdir(join(w.hub.dir, 'refs/swarmline/t/empty'));

  expect(await ours('refs/')).toEqual(await asGit('refs/'));
  expect(await ours('refs/swarmline/t/')).toHaveLength(4);
  expect(await ours('refs/nothing/')).toEqual([]);
  for (const line of await asGit('refs/')) {
    const [name = '', oid] = line.split(' ');
    expect(await readRef(w.hub.dir, name)).toBe(oid);
  }
  const asked = ['gone', 'empty', 'loose/below', 'never', 'moved'].map((name) => `refs/swarmline/t/${name}`);
  expect(await readRefs(w.hub.dir, ...asked)).toEqual(new Map([['refs/swarmline/t/moved', other]]));
});

test('a ref is never missed while git packs it', async () => {
  for (let round = 0; round < 5; round++) {
    await set('refs/swarmline/t/one', w.base);
    const state = { packing: true };
    const packed = git(w.hub.dir, ['pack-refs', '--all']).finally(() => (state.packing = false));
    while (state.packing) expect(await readRef(w.hub.dir, 'refs/swarmline/t/one')).toBe(w.base);
    await packed;
    await set('-d', 'refs/swarmline/t/one');
  }
});

test('a ref that is no object id is an error, not an answer', async () => {
  for (const text of ['ref: refs/heads/main\n', '']) {
    await writeFile(join(w.hub.dir, 'refs/swarmline/next'), text);
    await expect(w.hub.line()).rejects.toMatchObject({ name: 'HubError' });
  }
});
