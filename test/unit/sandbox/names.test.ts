import { describe, expect, test } from '@jest/globals';
import { isDotGit, isGitControlFile } from '../../../sandbox/names.ts';

describe('names that some platform takes for git’s own', () => {
  test('.git in every disguise', () => {
    const disguises = [
      '.git',
      '.GIT',
      '.Git',
      'git~1',
      'GIT~1',
      '.git ',
      '.git.',
      '.git. .',
      '.git::$INDEX_ALLOCATION',
      '.g\u200cit',
      '\ufeff.git',
      '.git\\hooks',
      'x\\.git',
    ];
    for (const name of disguises) expect([name, isDotGit(Buffer.from(name))]).toEqual([name, true]);
  });

  test('ordinary names are left alone', () => {
    for (const name of ['.gitignore', '.gitattributes', 'git', '.github', 'a.git', '.git2', 'git~10', '..git', '.gi']) {
      expect([name, isDotGit(Buffer.from(name))]).toEqual([name, false]);
    }
    expect(isDotGit(Buffer.from([0xff, 0xfe]))).toBe(false);
  });

  test('files that steer git', () => {
    for (const name of ['.gitmodules', '.GitAttributes', '.gitignore', '.mailmap', '.gitmodules ', 'GITMOD~1'])
      expect(isGitControlFile(Buffer.from(name))).toBe(true);
    for (const name of ['gitmodules', '.gitmodules.txt', '.gitkeep'])
      expect(isGitControlFile(Buffer.from(name))).toBe(false);
  });
});
