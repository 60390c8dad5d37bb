/** git for making an example's repository: the same commits everywhere, whatever the user's own configuration, templates and hooks say. */
import { simpleGit } from 'simple-git';

const CONFIG = ['core.autocrlf=false', 'core.fileMode=true', 'commit.gpgSign=false', 'core.hooksPath=/dev/null'];

/**
 * @param {string} directory where the repository is, or is to be
 * @param {{name: string, email: string, date: string}} who author and committer of every commit
 */
export function repositoryGit(directory, { name, email, date }) {
  const env = {
    PATH: process.env.PATH,
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
    GIT_COMMITTER_DATE: date,
  };
  const git = simpleGit(directory, {
    config: CONFIG,
    allowEnvironment: Object.keys(env).filter((key) => key.startsWith('GIT_')),
    unsafe: { allowUnsafeHooksPath: true, allowUnsafeConfigPaths: true, allowUnsafeTemplateDir: true },
  }).env(env);
  return {
    init: () => git.raw('init', '--quiet', '--initial-branch=main', '--template='),
    /** Everything in the directory, ignored files too. */
    async commitAll(message) {
      await git.raw('add', '--all', '--force', '.');
      await git.raw('commit', '--quiet', '--no-verify', `--message=${message}`);
    },
    setting: (key, value) => git.raw('config', '--local', key, value),
    /** null where it is not set, or where there is no repository. */
    readSetting: async (key) => {
      try {
        return (await git.raw('config', '--local', key)).trim() || null; // exit code 1 and no word: not set
      } catch {
        return null;
      }
    },
  };
}
