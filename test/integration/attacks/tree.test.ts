/** What a hostile command may leave in its workspace; every tree here is made inside a real container. */
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Collected, type Workspace, collectTree } from '../../../sandbox/index.ts';
import { listTree, readBlobs } from '../../../mainline/git.ts';
import { type Bench, LIMITS, openBench } from '../sandbox/fixture.ts';

jest.setTimeout(60_000);

describe('a tree that a command left behind', () => {
  let bench: Bench;
  let repository: { gitDir: string; commit: string; tree: string };
  /** A file on the host that hostile trees try to have run or read. */
  let bait: string;
  beforeAll(() => {
    bench = openBench();
    repository = bench.repository({ 'a.txt': 'one\n', 'src/b.txt': 'two\n', '.gitignore': 'build/\n*.log\n' });
    bait = join(bench.stateDir, 'ran');
    writeFileSync(join(bench.stateDir, 'host-secret'), 'TOPSECRET\n');
  });
  afterAll(() => bench.close());

  async function attack(
    line: string,
    options: { diskBytes?: number } = {},
  ): Promise<{ collected: Collected; ms: number; objectDir: string; workspace: Workspace }> {
    const workspace = await bench.workspace(repository, options);
    const outcome = await bench.run(
      line,
      workspace,
      options.diskBytes === undefined ? {} : { limits: { ...LIMITS, diskBytes: options.diskBytes } },
    );
    if (outcome.exitCode !== 0) throw new Error(`the attack itself failed: ${outcome.output}`);
    const objectDir = mkdtempSync(join(bench.stateDir, 'objects-'));
    const before = performance.now();
    const limits = options.diskBytes === undefined ? LIMITS : { ...LIMITS, diskBytes: options.diskBytes };
    const collected = await collectTree({
      dir: workspace.dir,
      ...repository,
      objectDir,
      baseTree: repository.commit,
      limits,
    });
    const ms = performance.now() - before;
    await workspace.close();
    expect(existsSync(bait)).toBe(false);
    return { collected, ms, objectDir, workspace };
  }
  const env = (objectDir: string) => ({ env: { GIT_ALTERNATE_OBJECT_DIRECTORIES: objectDir } });

  test('a top-level .git with fsmonitor, hooks and filters is ignored and nothing of it runs', async () => {
    const { collected } =
      await attack(`git init -q . && git config core.fsmonitor 'touch ${bait}; false' && git config filter.x.clean 'touch ${bait}; cat' &&
      git config core.hooksPath .git/hooks && mkdir -p .git/hooks && printf '#!/bin/sh\\ntouch ${bait}\\n' > .git/hooks/post-index-change && chmod +x .git/hooks/*`);
    expect(collected).toEqual({ tree: repository.tree });
  });

  for (const name of ['.git', '.GIT', '.g\u200cit', 'git~1', '.git ', '.git.', '.git::$INDEX_ALLOCATION']) {
    test(`a nested repository under the name ${JSON.stringify(name)} is refused by name`, async () => {
      const { collected } = await attack(
        `cd src && git init -q . && git config filter.x.clean 'touch ${bait}; cat' && echo '* filter=x' > .gitattributes && { [ '${name}' = .git ] || mv .git '${name}'; }`,
      );
      expect(collected).toMatchObject({ refused: 'nested-git', path: expect.stringContaining('src/') });
    });
  }

  test('.GIT at the top is no scratch repository and is refused', async () => {
    expect((await attack('mkdir .GIT')).collected).toMatchObject({ refused: 'nested-git', path: '.GIT' });
  });

  test('a .git file that points elsewhere in the host is refused below and ignored at the top', async () => {
    expect((await attack(`echo 'gitdir: ${repository.gitDir}' > src/.git`)).collected).toMatchObject({
      refused: 'nested-git',
    });
    expect((await attack(`echo 'gitdir: ${repository.gitDir}' > .git`)).collected).toEqual({ tree: repository.tree });
  });

  test('a named pipe and a socket are refused without being opened', async () => {
    const pipe = await attack('mkfifo src/pipe');
    expect(pipe.collected).toMatchObject({ refused: 'special-file', path: 'src/pipe' });
    expect(pipe.ms).toBeLessThan(3000);
    const socket = await attack(
      `node -e 'const n = require("net"); n.createServer().listen("src/sock", () => process.exit(0))'; test -S src/sock`,
    );
    expect(socket.collected).toMatchObject({ refused: 'special-file', path: 'src/sock' });
  });

  test('a depth of 100 is refused, and a tree 3,000 deep is removed all the same', async () => {
    const { collected } = await attack(
      `node -e 'for (let i = 0; i < 100; i++) { fs.mkdirSync("d"); process.chdir("d") }'`,
    );
    expect(collected).toMatchObject({ refused: 'too-deep' });
    const deep = await attack(`node -e 'for (let i = 0; i < 3000; i++) { fs.mkdirSync("d"); process.chdir("d") }'`);
    expect(deep.collected).toMatchObject({ refused: 'too-deep' });
    expect(existsSync(deep.workspace.dir)).toBe(false);
  });

  test('a sparse file of any size is refused by its size, at once', async () => {
    // fsize is limited in the container, so the largest that can be made at all is the disk limit: 1 TB here.
    const { collected, ms } = await attack('truncate -s 1T huge || truncate -s 1G huge', { diskBytes: 2 * 2 ** 30 });
    expect(collected).toMatchObject({ refused: 'file-too-large', path: 'huge' });
    expect(ms).toBeLessThan(3000);
  });

  test('120,000 files are refused', async () => {
    // Hard links: as many names for a third of the time.
    const line = `node -e 'for (const s of "ab") { fs.writeFileSync(s, ""); for (let d = 0; d < 6; d++) { fs.mkdirSync(s + d + "_"); for (let i = 0; i < 10000; i++) fs.linkSync(s, s + d + "_/" + i) } }'`;
    const { collected } = await attack(line, { diskBytes: 256 * 2 ** 20 });
    expect(collected).toMatchObject({ refused: 'too-many-files' });
  });

  test('files that are ignored may be many and strange, and are left out', async () => {
    const { collected } = await attack(
      'mkdir -p build/x && cd build && mkfifo p && mkdir -p x/.git && i=0; while [ $i -lt 500 ]; do : > x/$i; i=$((i+1)); done; : > x/y.log',
    );
    expect(collected).toEqual({ tree: repository.tree });
  });

  test('a .gitignore of its own does not hide what a command wrote', async () => {
    const { collected, objectDir } = await attack('echo "*" > src/.gitignore && echo hidden > src/h.txt');
    const names = (await listTree(repository.gitDir, (collected as { tree: string }).tree, env(objectDir))).map(
      ({ path }) => String(path),
    );
    expect(names).toContain('src/h.txt');
  });

  test('a link to a host file is stored as a link and never followed', async () => {
    const { collected, objectDir } = await attack(
      `ln -s ${bench.stateDir}/host-secret link && rm -r src && ln -s ${bench.stateDir} src`,
    );
    const { tree } = collected as { tree: string };
    const entries = await listTree(repository.gitDir, tree, env(objectDir));
    const link = entries.find(({ path }) => String(path) === 'link');
    expect(link?.mode).toBe('120000');
    expect(String((await readBlobs(repository.gitDir, [link?.oid ?? ''], env(objectDir))).get(link?.oid ?? ''))).toBe(
      `${bench.stateDir}/host-secret`,
    );
    expect(entries.map(({ path }) => String(path))).toEqual(['.gitignore', 'a.txt', 'link', 'src']);
  });

  test('a file that steers git cannot be a link', async () => {
    for (const name of ['.gitmodules', '.gitattributes', '.GITIGNORE']) {
      expect((await attack(`mkdir d && ln -s /etc/passwd d/${name}`)).collected).toMatchObject({
        refused: 'git-file-link',
        path: `d/${name}`,
      });
    }
  });

  test('names are kept byte for byte: newline, quote, backslash, invalid UTF-8, leading dash, colon', async () => {
    const names = [
      'new\nline',
      'quo"te',
      'back\\slash',
      '-rf',
      '--help',
      ':(top)x',
      ' space ',
      'a\tb',
      "sq'uote",
      '*?[x]',
    ];
    const list = Buffer.from(JSON.stringify(names)).toString('base64'); // through two shells unharmed
    const { collected, objectDir } = await attack(
      `node -e 'for (const n of JSON.parse(Buffer.from("${list}", "base64"))) fs.writeFileSync("./" + n, n); fs.writeFileSync(Buffer.from([0x62, 0xff, 0xfe, 0x2e]), "bytes")'`,
    );
    const entries = await listTree(repository.gitDir, (collected as { tree: string }).tree, env(objectDir));
    const found = entries.map(({ path }) => path.toString('latin1'));
    for (const name of names) expect(found).toContain(name);
    expect(found).toContain('b\xff\xfe.');
    const dash = entries.find(({ path }) => String(path) === '--help');
    expect(String((await readBlobs(repository.gitDir, [dash?.oid ?? ''], env(objectDir))).get(dash?.oid ?? ''))).toBe(
      '--help',
    );
  });

  test('attributes with filter, eol, ident and encoding change no byte, in or out', async () => {
    const hostile = {
      '.gitattributes': '* text eol=crlf ident filter=x working-tree-encoding=UTF-16\n*.bin text=auto eol=crlf\n',
      'a.txt': 'one\n$Id$\n',
      'c.bin': 'x\r\ny\n',
    };
    const made = bench.repository(hostile);
    // Even a repository of ours whose configuration defines the filter changes nothing.
    execFileSync('git', ['config', 'filter.x.smudge', `touch ${bait}; cat`], { cwd: made.gitDir });
    execFileSync('git', ['config', 'filter.x.clean', `touch ${bait}; cat`], { cwd: made.gitDir });
    execFileSync('git', ['config', 'core.autocrlf', 'true'], { cwd: made.gitDir });
    writeFileSync(join(made.gitDir, 'info/attributes'), '*.txt text eol=crlf\n');
    const workspace = await bench.workspace(made);
    for (const [name, content] of Object.entries(hostile))
      expect(readFileSync(join(workspace.dir, name), 'latin1')).toBe(content);
    const objectDir = join(bench.stateDir, 'objects-attributes');
    expect(
      await collectTree({ dir: workspace.dir, ...made, objectDir, baseTree: made.commit, limits: LIMITS }),
    ).toEqual({ tree: made.tree });
    expect(existsSync(bait)).toBe(false);
  });

  test('setuid and odd modes become plain ones', async () => {
    const { collected, objectDir } = await attack('echo x > s && chmod 6777 s && chmod 0600 a.txt && mkdir e');
    const entries = await listTree(repository.gitDir, (collected as { tree: string }).tree, env(objectDir));
    expect(entries.map(({ mode, path }) => `${mode} ${String(path)}`)).toEqual([
      '100644 .gitignore',
      '100644 a.txt',
      '100755 s',
      '100644 src/b.txt',
    ]);
  });

  test('a bind source below a workspace that the command turned into a link is not something the sandbox offers', async () => {
    const request = bench.request(['true'], {
      mounts: [{ source: '/tmp', target: '/workspace/../workspace/cache', readOnly: true }],
    });
    await expect(bench.sandbox.runStep(request)).rejects.toMatchObject({ name: 'RequestRefused' });
  });
});
