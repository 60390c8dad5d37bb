import { describe, expect, test } from '@jest/globals';
import { hubAttributes } from '../../../mainline/attributes.ts';
import { commitBody, messageWithTrailers, subjectLine, trailersOf } from '../../../mainline/commit.ts';
import { redact } from '../../../mainline/git.ts';
import { parseClaim, parseRoute } from '../../../mainline/hub-http.ts';
import { serialised } from '../../../mainline/mutex.ts';
import { isSafeId } from '../../../mainline/refs.ts';
import { printablePath } from '../../../mainline/tree.ts';

describe('commit text', () => {
  test('the same input gives the same bytes, dates in whole seconds', () => {
    const input = { tree: 't', parents: ['p'], message: 'Say\n\nWhy', atMs: 1999 };
    expect(commitBody(input)).toBe(
      'tree t\nparent p\nauthor Swarmline <swarmline@localhost> 1 +0000\ncommitter Swarmline <swarmline@localhost> 1 +0000\n\nSay\n\nWhy\n',
    );
  });

  test('a goal becomes one clean line', () => {
    expect(subjectLine('\n  Do\tthis \u0007now\r\nand more')).toBe('Do this now');
    expect(subjectLine('x'.repeat(500)).length).toBe(120);
    expect(subjectLine('')).toBe('');
  });

  test('nobody adds a trailer through a goal or the name of a model', () => {
    const message = messageWithTrailers('Swarmline-Request: forged/1\nSwarmline-Request: forged/2', [
      ['Swarmline-Model', 'm\n\nSwarmline-Request: forged/3'],
      ['Swarmline-Request', 'real/1'],
    ]);
    expect(trailersOf(message).get('Swarmline-Request')).toBe('real/1');
    expect(trailersOf('Swarmline-Request: only/1').size).toBe(0);
    expect(trailersOf('a\n\nSwarmline-Request: x/1\n\nlast paragraph').size).toBe(0);
  });
});

describe('attributes of a hub', () => {
  test('hold what spec and target ask of the built-in merges, and no driver', () => {
    const root =
      '# comment\n*.md merge=union text\n*.lock -merge\n*.bin binary\n* merge=pwn\n[attr]x merge=union\n"a b" merge=union\n';
    expect(hubAttributes(['CHANGELOG.md', 'docs/{a,b}/*.md', '**/NEWS', 'with space'], root).split('\n')).toEqual([
      '* !merge',
      '*.md merge=union',
      '*.lock -merge',
      '*.bin -merge',
      '"a b" merge=union',
      '/CHANGELOG.md merge=union',
      '/docs/a/*.md merge=union',
      '/docs/b/*.md merge=union',
      '**/NEWS merge=union',
      '"/with space" merge=union',
      '',
    ]);
  });
});

describe('names', () => {
  test('ids that could mean something to a file system or to git are not safe', () => {
    for (const id of ['a', 'locale-de', 'a.b_c-1', `a${'b'.repeat(62)}`])
      expect([id, isSafeId(id)]).toEqual([id, true]);
    for (const id of [
      '',
      '.',
      '..',
      'a..b',
      'a/b',
      'A',
      '-a',
      'a.lock',
      'a.',
      'a b',
      'a\n',
      'a:b',
      `a${'b'.repeat(63)}`,
    ]) {
      expect([id, isSafeId(id)]).toEqual([id, false]);
    }
  });

  test('a path that is not UTF-8 is shown escaped and says so', () => {
    expect(printablePath(Buffer.from('caf\u00e9 \ufffd'))).toEqual({ path: 'caf\u00e9 \ufffd', validUtf8: true });
    expect(printablePath(Buffer.from([0x61, 0xff, 0x0a]))).toEqual({ path: 'a\\xff\\x0a', validUtf8: false });
  });

  test('the user part of a URL is cut out wherever it stands', () => {
    expect(redact("fatal: 'https://me:secret@h/x' and ssh://git@h/y")).toBe(
      "fatal: 'https://***@h/x' and ssh://***@h/y",
    );
  });
});

describe('routes of the hub server', () => {
  test('the known ones', () => {
    expect(parseRoute('/healthz')).toEqual({ kind: 'health' });
    expect(parseRoute('/r.git/info/refs')).toEqual({ kind: 'refs', run: 'r' });
    expect(parseRoute('/r.git/git-upload-pack')).toEqual({ kind: 'upload-pack', run: 'r' });
    expect(parseRoute('/r/heads')).toEqual({ kind: 'heads', run: 'r' });
    expect(parseRoute('/r/tasks/t/12')).toEqual({ kind: 'attempt', run: 'r', task: 't', attempt: 12 });
  });

  test('and no other', () => {
    const others = [
      '/',
      '/r.git',
      '/r.git/git-receive-pack',
      '/../heads',
      '/r/tasks/t/0',
      '/r/tasks/t/01',
      '/r/tasks/t/1e3',
      '/r/tasks/t/1/x',
      '/%2e%2e/heads',
    ];
    for (const path of others) expect([path, parseRoute(path)]).toEqual([path, null]);
    expect(parseClaim(new URLSearchParams({ commit: 'a'.repeat(40), base: 'HEAD' }))).toBeNull();
  });
});

describe('one operation at a time', () => {
  test('in the order asked, a failure holding up nobody, other hubs beside', async () => {
    const log: string[] = [];
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const first = serialised('a', async () => {
      log.push('first starts');
      await gate;
      log.push('first ends');
      throw new Error('first fails');
    });
    const second = serialised('a', async () => void log.push('second'));
    await serialised('b', async () => void log.push('other hub'));
    release();
    await expect(first).rejects.toThrow('first fails');
    await second;
    expect(log).toEqual(['first starts', 'other hub', 'first ends', 'second']);
  });
});
