import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { inlineHiddenFiles } from '../../../cli/hidden-files.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'swarmline-hidden-'));
  await mkdir(join(root, 'suite', 'deep'), { recursive: true });
  await writeFile(join(root, 'suite', 'a.test.js'), 'a\n');
  await writeFile(join(root, 'suite', 'deep', 'b.test.js'), 'b\n');
  await writeFile(join(root, 'picture'), Buffer.from([0, 255]));
});
afterAll(() => rm(root, { recursive: true }));

describe('files that no agent sees', () => {
  it('are read in by file or by folder, and what is content already stays', async () => {
    const raw = {
      policy: { evaluate: { files: { hidden: 'suite', 'x.js': 'suite/a.test.js', y: { content: 'y' } } } },
    };
    await inlineHiddenFiles(raw, root);
    expect(raw.policy.evaluate.files).toEqual({
      'hidden/a.test.js': { content: 'a\n' },
      'hidden/deep/b.test.js': { content: 'b\n' },
      'x.js': { content: 'a\n' },
      y: { content: 'y' },
    });
  });

  it('that are not there, or no text, are all named at once', async () => {
    const raw = { policy: { evaluate: { files: { a: 'nowhere', b: 'picture' } } } };
    await expect(inlineHiddenFiles(raw, root)).rejects.toThrow(
      /files\["a"\]: nowhere cannot be read \(ENOENT\)\n.*files\["b"\]: picture \(b\) is no text/,
    );
    for (const other of [null, 1, {}, { policy: { evaluate: { files: [] } } }]) await inlineHiddenFiles(other, root);
  });
});
