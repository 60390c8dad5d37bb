/** The traps of merging that the research reproduced, as far as one merge at a time can fall into them. */
import { afterEach, describe, expect, test } from '@jest/globals';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { git, gitText, openQuarantine, writeCommit } from '../../../mainline/git.ts';
import { IntakeRefused } from '../../../mainline/errors.ts';
import { world } from './fixture.ts';
import type { Files, World } from './fixture.ts';

let w: World;
afterEach(() => w.close());

/** Writes a tree object byte for byte, so that it may hold what git's index would refuse. */
async function rawTree(
  dir: string,
  entries: [mode: string, name: string, oid: string][],
  env: Record<string, string>,
): Promise<string> {
  const body = entries.map(([mode, name, oid]) =>
    Buffer.concat([Buffer.from(`${mode} `), Buffer.from(name), Buffer.from([0]), Buffer.from(oid, 'hex')]),
  );
  return gitText(dir, ['hash-object', '-t', 'tree', '-w', '--stdin', '--literally'], {
    env,
    input: Buffer.concat(body),
  });
}

/** Hands in a commit with a raw root tree. */
async function handIn(task: string, build: (env: Record<string, string>) => Promise<string>): Promise<unknown> {
  const quarantine = await openQuarantine(w.hub.dir, w.root);
  const env = { ...quarantine.env };
  try {
    const tree = await build(env);
    const commit = await writeCommit(w.hub.dir, { tree, parents: [w.base], message: task, atMs: 0 }, { env });
    const objects = (
      await gitText(w.hub.dir, ['rev-list', '--objects', '--missing=allow-any', commit, `^${w.base}`], { env })
    ).replace(/ .*$/gm, '');
    const pack = await git(w.hub.dir, ['pack-objects', '--stdout', '-q'], { env, input: `${objects}\n` });
    return await w.hub.takePack({ task, attempt: 1, commit, base: w.base }, Readable.from([pack])).then(
      () => 'taken',
      (error: unknown) => error,
    );
  } finally {
    await quarantine.close();
  }
}

const refusal = (rule: string): unknown => expect.objectContaining({ name: 'IntakeRefused', rule });

describe('merge drivers and attributes', () => {
  test('a merge driver that the repository names is not run', async () => {
    w = await world({ '.gitattributes': '* merge=pwn\n', 'a.txt': '1\n2\n3\n' });
    const mark = join(w.root, 'pwned');
    await git(w.hub.dir, ['config', 'merge.pwn.driver', `touch ${mark}`]);
    const outcomes = await w.hub.merge([
      await w.attempt('one', { 'a.txt': 'one\n2\n3\n' }),
      await w.attempt('two', { 'a.txt': 'two\n2\n3\n' }),
    ]);
    expect(outcomes.map((o) => o.kind)).toEqual(['merged', 'conflict']);
    await expect(stat(mark)).rejects.toThrow('ENOENT');
  });

  test('union joins both sides in the files that the spec or the target marks, and only there', async () => {
    const files = {
      '.gitattributes': 'NEWS merge=union\n*.bin binary\n',
      NEWS: 'n\n',
      'CHANGELOG.md': 'c\n',
      'sub/CHANGELOG.md': 's\n',
    };
    w = await world(files, ['CHANGELOG.md']);
    const edit = (who: string): Files =>
      Object.fromEntries(['NEWS', 'CHANGELOG.md'].map((f) => [f, `${who}\n${files[f as 'NEWS']}`]));
    const outcomes = await w.hub.merge([await w.attempt('one', edit('one')), await w.attempt('two', edit('two'))]);
    expect(outcomes.map((o) => o.kind)).toEqual(['merged', 'merged']);
    const { next } = await w.hub.line();
    expect(await w.file(next, 'CHANGELOG.md')).toBe('one\ntwo\nc\n');
    expect(await w.file(next, 'NEWS')).toBe('one\ntwo\nn\n');
    const below = [
      await w.attempt('three', { 'sub/CHANGELOG.md': '3\n' }),
      await w.attempt('four', { 'sub/CHANGELOG.md': '4\n' }),
    ];
    expect((await w.hub.merge(below)).map((o) => o.kind)).toEqual(['merged', 'conflict']);
  });

  test('line endings: a conversion against an edit is a conflict, never a silent mix; a CRLF file keeps its endings', async () => {
    w = await world({ 'lf.txt': '1\n2\n3\n4\n5\n6\n7\n8\n', 'crlf.txt': '1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n' });
    const outcomes = await w.hub.merge([
      await w.attempt('convert', { 'lf.txt': '1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n' }),
      await w.attempt('edit', { 'lf.txt': '1\n2\nthree\n4\n5\n6\n7\n8\n' }),
      await w.attempt('top', { 'crlf.txt': 'one\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n' }),
      await w.attempt('end', { 'crlf.txt': '1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\neight\r\n' }),
    ]);
    expect(outcomes.map((o) => o.kind)).toEqual(['merged', 'conflict', 'merged', 'merged']);
    expect(await w.file((await w.hub.line()).next, 'crlf.txt')).toBe('one\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\neight\r\n');
  });
});

describe('paths and modes', () => {
  const cases: [name: string, files: Files, rule: string][] = [
    ['a submodule', { sub: { mode: '160000', oid: 'a'.repeat(40) } }, 'submodule'],
    [
      '.gitmodules',
      { '.gitmodules': '[submodule "x"]\n\tpath = x\n\turl = https://example.invalid/x\n' },
      'gitmodules',
    ],
    ['a link to an absolute path', { link: { mode: '120000', content: '/etc' } }, 'link-outside'],
    ['a link that climbs out', { 'd/link': { mode: '120000', content: '../../x' } }, 'link-outside'],
    [
      'a directory replaced by a link to /etc',
      { 'src/x.ts': null, src: { mode: '120000', content: '/etc' } },
      'link-outside',
    ],
    ['a backslash', { 'a\\b': 'x\n' }, 'backslash'],
    ['a name that Windows reserves', { 'con.ts': 'x\n' }, 'reserved-name'],
    ['two names of one case', { 'New.ts': 'x\n', 'new.ts': 'y\n' }, 'case-clash'],
  ];
  test.each(cases)('%s is refused at intake, and at the merge if it got in otherwise', async (_name, files, rule) => {
    w = await world({ 'src/x.ts': 'x\n' });
    await expect(w.attempt('bad', files)).rejects.toMatchObject({ name: 'IntakeRefused', rule });
    expect(await w.hub.findAttempt('bad', 1)).toBeNull();
    // The same, smuggled past the intake.
    const { treeWith } = await import('./fixture.ts');
    const tree = await treeWith(w.hub.dir, w.base, files);
    const commit = await writeCommit(w.hub.dir, { tree, parents: [w.base], message: 'bad', atMs: 0 });
    const request = { id: 'bad/1', task: 'bad', attempt: 1, commit, base: w.base, engine: 'x', model: null, atMs: 0 };
    expect(await w.hub.merge([request])).toMatchObject([{ kind: 'refused', rule }]);
  });

  test('names that only clash with what another task merged are refused at the merge', async () => {
    w = await world({ 'src/x.ts': 'x\n' });
    const outcomes = await w.hub.merge([
      await w.attempt('one', { 'src/Foo.ts': 'x\n' }),
      await w.attempt('two', { 'src/foo.ts': 'x\n' }),
      await w.attempt('three', { 'SRC/y.ts': 'y\n' }),
      await w.attempt('four', { 'caf\u00e9': 'y\n' }),
      await w.attempt('five', { 'cafe\u0301': 'y\n' }),
    ]);
    expect(outcomes).toMatchObject([
      { kind: 'merged' },
      { kind: 'refused', rule: 'case-clash', paths: ['src/foo.ts'] },
      { kind: 'refused', rule: 'case-clash', paths: ['SRC/y.ts'] },
      { kind: 'merged' },
      { kind: 'refused', rule: 'unicode-clash' },
    ]);
  });

  test('links inside the tree and modes are merged as they are', async () => {
    w = await world({ 'src/x.ts': '1\n2\n3\n' });
    await w.hub.merge([
      await w.attempt('link', { 'src/link': { mode: '120000', content: '../src/x.ts' } }),
      await w.attempt('mode', { 'src/x.ts': { mode: '100755', content: '1\n2\n3\n' } }),
      await w.attempt('edit', { 'src/x.ts': '1\n2\nthree\n' }),
    ]);
    const tree = await gitText(w.hub.dir, ['ls-tree', '-r', 'refs/swarmline/next']);
    expect(tree.split('\n').map((l) => l.split(' ')[0])).toEqual(['120000', '100755']);
    expect(await w.file('refs/swarmline/next', 'src/x.ts')).toBe('1\n2\nthree\n');
  });

  test.each(['.git', '.GIT', 'git~1', '..', '.g\u200cit'])('an entry named %j is refused at intake', async (name) => {
    w = await world({ 'a.txt': 'a\n' });
    const result = await handIn('bad', async (env) => {
      const blob = await gitText(w.hub.dir, ['hash-object', '-w', '--stdin'], { env, input: 'x' });
      return rawTree(w.hub.dir, [['100644', name, blob]], env);
    });
    expect(result).toBeInstanceOf(IntakeRefused);
    expect(await w.hub.findAttempt('bad', 1)).toBeNull();
  });

  test('a name with a slash, a name twice, a bad mode: refused at intake; with a slash also at the merge, where it makes git abort', async () => {
    w = await world({ 'a.txt': 'a\n', 'z.txt': 'z\n' });
    const blob = (env: Record<string, string>): Promise<string> =>
      gitText(w.hub.dir, ['hash-object', '-w', '--stdin'], { env, input: 'x' });
    expect(await handIn('slash', async (env) => rawTree(w.hub.dir, [['100644', 'a/b', await blob(env)]], env))).toEqual(
      refusal('bad-pack'),
    );
    expect(
      await handIn('twice', async (env) =>
        rawTree(
          w.hub.dir,
          [
            ['100644', 'a', await blob(env)],
            ['100644', 'a', await blob(env)],
          ],
          env,
        ),
      ),
    ).toEqual(refusal('bad-pack'));
    expect(
      await handIn('mode', async (env) => rawTree(w.hub.dir, [['100666', 'a', await blob(env)]], env)),
    ).toBeInstanceOf(IntakeRefused);
    const tree = await rawTree(w.hub.dir, [['100644', 'a/b', await blob({})]], {});
    const commit = await writeCommit(w.hub.dir, { tree, parents: [w.base], message: 'bad', atMs: 0 });
    const poison = { id: 'bad/1', task: 'bad', attempt: 1, commit, base: w.base, engine: 'x', model: null, atMs: 0 };
    // Where nothing has to be merged git never looks at the name.
    expect(await w.hub.merge([poison])).toMatchObject([{ kind: 'refused', rule: 'unmergeable' }]);
    await w.hub.merge([await w.attempt('one', { 'z.txt': 'Z\n' })]);
    const outcomes = await w.hub.merge([poison, await w.attempt('two', { 'a.txt': 'A\n' })]);
    expect(outcomes.map((o) => o.kind)).toEqual(['refused', 'merged']);
  });

  test('an unsafe object that is in the hub already is refused just the same', async () => {
    w = await world({ 'a.txt': 'a\n' });
    const blob = await gitText(w.hub.dir, ['hash-object', '-w', '--stdin'], { input: 'x' });
    await rawTree(w.hub.dir, [['100644', '.GIT', blob]], {});
    expect(await handIn('bad', async (env) => rawTree(w.hub.dir, [['100644', '.GIT', blob]], env))).toBeInstanceOf(
      IntakeRefused,
    );
  });
});

describe('trees made to hurt', () => {
  test('a tree that holds itself ten times, twelve times over, is refused and soon', async () => {
    w = await world({ 'a.txt': 'a\n' });
    const started = performance.now();
    const result = await handIn('bomb', async (env) => {
      let oid = await gitText(w.hub.dir, ['hash-object', '-w', '--stdin'], { env, input: 'x' });
      for (let level = 0; level < 12; level++) {
        const mode = level === 0 ? '100644' : '40000';
        const entries = Array.from({ length: 10 }, (_, n): [string, string, string] => [mode, `n${n}`, oid]);
        oid = await rawTree(w.hub.dir, entries, env);
      }
      return oid;
    });
    expect(result).toEqual(refusal('too-many-files'));
    expect(performance.now() - started).toBeLessThan(60_000);
  });

  test.each([
    ['a name with a slash', 'a/b', 'unsafe-name'],
    ['.git', '.GIT', 'git-component'],
  ])(
    '%s in a tree that the hub has from its origin is refused when an attempt refers to it',
    async (_what, name, rule) => {
      w = await world({ 'a.txt': 'a\n' });
      const blob = await gitText(w.hub.dir, ['hash-object', '-w', '--stdin'], { input: 'x' });
      const poison = await rawTree(w.hub.dir, [['100644', name, blob]], {});
      const quarantine = await openQuarantine(w.hub.dir, w.root);
      try {
        const env = { ...quarantine.env };
        const tree = await rawTree(w.hub.dir, [['40000', 'd', poison]], env);
        const commit = await writeCommit(w.hub.dir, { tree, parents: [w.base], message: 'x', atMs: 0 }, { env });
        // Without the poison: it is here already.
        const pack = await git(w.hub.dir, ['pack-objects', '--stdout', '-q'], { env, input: `${commit}\n${tree}\n` });
        await expect(
          w.hub.takePack({ task: 'bad', attempt: 1, commit, base: w.base }, Readable.from([pack])),
        ).rejects.toMatchObject({ name: 'IntakeRefused', rule });
      } finally {
        await quarantine.close();
      }
    },
  );
});

describe('what git would do by itself', () => {
  test('a replace ref changes nothing of what we see', async () => {
    w = await world({ 'a.txt': 'a\n' });
    const empty = await writeCommit(w.hub.dir, {
      tree: await gitText(w.hub.dir, ['mktree'], { input: '' }),
      parents: [],
      message: 'x',
      atMs: 0,
    });
    await git(w.hub.dir, ['update-ref', `refs/replace/${w.base}`, empty]);
    await w.hub.merge([await w.attempt('one', { 'b.txt': 'b\n' })]);
    expect(await w.file('refs/swarmline/next', 'a.txt')).toBe('a\n');
  });

  test('hooks of the hub do not run', async () => {
    w = await world({ 'a.txt': 'a\n' });
    const { mkdir, chmod } = await import('node:fs/promises');
    await mkdir(join(w.hub.dir, 'hooks'), { recursive: true });
    const hook = join(w.hub.dir, 'hooks', 'reference-transaction');
    await writeFile(hook, `#!/bin/sh\ntouch ${join(w.root, 'pwned')}\n`);
    await chmod(hook, 0o755);
    await w.hub.merge([await w.attempt('one', { 'a.txt': 'A\n' })]);
    await expect(stat(join(w.root, 'pwned'))).rejects.toThrow('ENOENT');
  });

  test('a change that git would carry to a renamed file is a conflict: the task was not given that file', async () => {
    const text = Array.from({ length: 30 }, (_, i) => `line ${i}\n`).join('');
    w = await world({ 'old.txt': text });
    const outcomes = await w.hub.merge([
      await w.attempt('move', { 'old.txt': null, 'new.txt': text }),
      await w.attempt('edit', { 'old.txt': text.replace('line 3\n', 'line three\n') }),
    ]);
    expect(outcomes).toEqual([
      { id: 'move/1', kind: 'merged', commit: expect.any(String) },
      { id: 'edit/1', kind: 'conflict', paths: ['new.txt'] },
    ]);
    expect(await w.file('refs/swarmline/next', 'new.txt')).toBe(text);
  });

  test('a file added to a directory that another task renamed stays where it was put', async () => {
    w = await world({ 'old/a.txt': 'a\n'.repeat(20), 'old/b.txt': 'b\n'.repeat(20) });
    await w.hub.merge([
      await w.attempt('move', {
        'old/a.txt': null,
        'old/b.txt': null,
        'new/a.txt': 'a\n'.repeat(20),
        'new/b.txt': 'b\n'.repeat(20),
      }),
      await w.attempt('add', { 'old/c.txt': 'c\n' }),
    ]);
    expect(await gitText(w.hub.dir, ['ls-tree', '-r', '--name-only', 'refs/swarmline/next'])).toBe(
      'new/a.txt\nnew/b.txt\nold/c.txt',
    );
  });

  test('a thousand moved and shuffled files do not hold the line up', async () => {
    const body = (n: number, salt: string): string =>
      Array.from({ length: 20 }, (_, i) => `${n} ${i} ${salt}\n`).join('');
    const many = (dir: string, salt: string): Files =>
      Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`${dir}/f${n}.txt`, body(n, salt)]));
    w = await world({ ...many('from', 'x'), 'z.txt': 'z\n' });
    const moved: Files = Object.fromEntries(Object.keys(many('from', '')).map((path) => [path, null]));
    for (let n = 0; n < 1000; n++) moved[`to/g${(n * 7) % 1000}.txt`] = `${body(n, 'x')}tail\n`;
    await w.hub.merge([await w.attempt('edit', { 'z.txt': 'Z\n' })]);
    const attack = await w.attempt('attack', moved);
    expect((await w.hub.merge([attack]))[0]).toMatchObject({ kind: 'merged' });
  });

  test('git gc --prune=now between two operations takes nothing that is needed', async () => {
    w = await world({ 'a.txt': 'a\n' });
    const one = await w.attempt('one', { 'a.txt': 'A\n' });
    await git(w.hub.dir, ['gc', '--prune=now', '--quiet']);
    await w.hub.merge([one]);
    await w.hub.rebuild({ onto: 'main', drop: ['one/1'] });
    await git(w.hub.dir, ['gc', '--prune=now', '--quiet']);
    expect((await w.hub.merge([one]))[0]).toMatchObject({ kind: 'merged' });
  });

  test('what a merge made is on disk before the ref names it: objects in one pack, refs and packs fsynced', async () => {
    w = await world({ 'a.txt': 'a\n' });
    expect(await readFile(join(w.hub.dir, 'config'), 'utf8')).toMatch(/fsync = all/);
    await w.hub.merge([await w.attempt('one', { 'a.txt': 'A\n' })]);
    expect(await gitText(w.hub.dir, ['count-objects'])).toMatch(/^0 objects/);
  });
});
