/** On random trees with files, deletions, moves, and files where the other side has directories. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mergedUpTo } from '../../../activities/merged-up-to.ts';
import { diffTrees, EMPTY_TREE, git, readFileAt } from '../../../mainline/git.ts';
import { putFiles } from '../../../sandbox/overlay.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'swarmline-merged-'));
  await git(dir, ['init', '--bare', '--quiet', '.']);
});
afterAll(() => rm(dir, { recursive: true, force: true }));

type Files = Record<string, string>;
const PATHS = ['a', 'b', 'c', 'd/x', 'd/y', 'e'];
const ROOM = ['f', 'd/z', 'e/in', 'g'];

function random(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}
const lines = (path: string): string => Array.from({ length: 30 }, (_, n) => `${path} ${n}\n`).join('');

/** Edits lines, deletes, moves and adds. */
function changed(files: Files, dice: (below: number) => number, by: string): Files {
  const out = { ...files };
  for (let n = 1 + dice(4); n > 0; n -= 1) {
    const paths = Object.keys(out);
    const path = paths[dice(paths.length)]!;
    const target = ROOM[dice(ROOM.length)]!;
    const kind = dice(5);
    if (kind < 2) out[path] = out[path]!.replace(new RegExp(`^.* ${dice(30)}$`, 'm'), `${by} was here`);
    else if (kind === 2) delete out[path];
    else if (kind === 3) out[target] = `${by} ${dice(3)}\n`;
    else {
      out[target] = out[path]!;
      delete out[path];
    }
  }
  // A path cannot be a file and a directory at once.
  for (const path of Object.keys(out))
    if (Object.keys(out).some((other) => other.startsWith(`${path}/`))) delete out[path];
  return out;
}

test.each(Array.from({ length: 40 }, (_, n) => n))(
  'seed %i: nothing but paths of the work changes, and conflicting files are as they landed',
  async (seed) => {
    const dice = random(seed);
    const base = Object.fromEntries(PATHS.map((path) => [path, lines(path)]));
    const [landed, work] = [changed(base, dice, 'landed'), changed(base, dice, 'work')];
    const [b, ours, theirs] = [await tree(base), await tree(landed), await tree(work)];
    const merged = await mergedUpTo(dir, { base: b, ours, theirs }, { signal: AbortSignal.timeout(30_000) });
    if (merged.foreign.length > 0) {
      // Only where one side has a directory in the place of the other's file.
      const all = [...Object.keys(landed), ...Object.keys(work), ...Object.keys(base)];
      if (all.some((path) => all.some((other) => other.startsWith(`${path}/`)))) return;
      throw new Error(`Changes of others took part: ${merged.foreign.join(', ')}`);
    }
    const own = (await diffTrees(dir, b, theirs)).map(({ path }) => path);
    const brought = (await diffTrees(dir, ours, merged.tree)).map(({ path }) => path);
    for (const path of [...brought, ...merged.paths]) expect(own).toContain(path);
    const at = async (treeish: string, path: string): Promise<string | null> =>
      (await readFileAt(dir, treeish, path))?.toString() ?? null;
    for (const path of own) {
      const [was, mine, their, now] = await Promise.all([b, ours, theirs, merged.tree].map((one) => at(one, path)));
      // The work moved it there, and the landed change went with it.
      const carried = was === null && now?.includes('landed was here') === true;
      const isRight = merged.paths.includes(path)
        ? now === mine
        : carried
          ? their !== null
          : mine === was
            ? now === their
            : their === mine
              ? now === mine
              : now?.includes('<<<<<<<') !== true;
      expect([path, isRight]).toEqual([path, true]);
    }
  },
);

const tree = (files: Files): Promise<string> => putFiles(dir, EMPTY_TREE, files);
