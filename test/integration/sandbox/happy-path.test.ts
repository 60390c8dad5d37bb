import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { collectTree } from '../../../sandbox/index.ts';
import { git } from '../../../mainline/git.ts';
import { type Bench, LIMITS, openBench } from './fixture.ts';

describe('a workspace goes in, a command runs, a tree comes out', () => {
  let bench: Bench;
  beforeAll(() => {
    bench = openBench();
  });
  afterAll(() => bench.close());

  test('the tree has what the command wrote, and nothing else changed', async () => {
    const repository = bench.repository({ 'a.txt': 'one\n', 'src/b.txt': 'two\n', '.gitignore': 'dist/\n' });
    const workspace = await bench.workspace(repository);
    const outcome = await bench.run(
      'cat a.txt; id -u; echo three > src/c.txt; rm src/b.txt; mkdir dist; echo x > dist/x',
      workspace,
    );
    expect(outcome).toMatchObject({ end: 'exited', exitCode: 0, truncated: false, childOom: false });
    expect(outcome.output).toBe('one\n10001\n');
    const objectDir = join(bench.stateDir, 'objects');
    const collected = await collectTree({
      dir: workspace.dir,
      ...repository,
      objectDir,
      baseTree: repository.commit,
      limits: LIMITS,
    });
    expect(collected).toEqual({ tree: expect.stringMatching(/^[0-9a-f]{40}$/) });
    const { tree } = collected as { tree: string };
    const env = { GIT_ALTERNATE_OBJECT_DIRECTORIES: objectDir };
    const names = (await git(repository.gitDir, ['ls-tree', '-r', '--name-only', tree], { env }))
      .toString()
      .trim()
      .split('\n');
    expect(names).toEqual(['.gitignore', 'a.txt', 'src/c.txt']);
    expect(await bench.containers()).toEqual([]);
  });

  test('the tree of an untouched checkout is the tree that was checked out', async () => {
    const repository = bench.repository({ 'a.txt': 'one\r\ntwo\n', 'd/e/f.bin': Buffer.from([0, 255, 10, 13]) });
    const workspace = await bench.workspace(repository);
    const objectDir = join(bench.stateDir, 'objects-2');
    expect(
      await collectTree({ dir: workspace.dir, ...repository, objectDir, baseTree: repository.tree, limits: LIMITS }),
    ).toEqual({
      tree: repository.tree,
    });
  });

  test('standard input comes from a file, and argv passes through unread by any shell', async () => {
    const workspace = await bench.workspace(bench.repository({ 'in.json': '{"n": 1}\n' }));
    const argv = ['sh', '-c', 'cat; printf "%s|" "$@"', 'x', '$HOME', '; id', "it's", ''];
    const request = bench.request(argv, {
      workspace: { dir: workspace.dir, readOnly: true },
      stdinFile: '/workspace/in.json',
    });
    expect(await bench.sandbox.runStep(request)).toMatchObject({ end: 'exited', exitCode: 0 });
    expect(readFileSync(request.outputFile, 'utf8')).toBe(`{"n": 1}\n$HOME|; id|it's||`);
  });
});
