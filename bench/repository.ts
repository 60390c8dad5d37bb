/** A bare repository with one commit of plain text files, for benchmarks. */
import { mkdir } from 'node:fs/promises';
import { git, gitText } from '../mainline/git.ts';

export interface Repository {
  readonly gitDir: string;
  readonly commit: string;
  readonly tree: string;
}

/** @param path of the nth file; 100 files a folder where it is not given. Some 2 KiB each. */
export async function bareRepository(
  gitDir: string,
  files: number,
  path: (nth: number) => string = (nth) => `src/d${Math.floor(nth / 100)}/f${nth}.txt`,
): Promise<Repository> {
  await mkdir(gitDir, { recursive: true });
  await git(gitDir, ['init', '--quiet', '--bare', '--initial-branch=main', gitDir]);
  const lines = ['commit refs/heads/main', 'committer bench <bench@example.org> 1700000000 +0000', 'data 4', 'base'];
  for (let nth = 0; nth < files; nth += 1) {
    const content = `line of file ${nth}\n`.repeat(100);
    lines.push(`M 100644 inline ${path(nth)}`, `data ${Buffer.byteLength(content)}`, content);
  }
  await git(gitDir, ['fast-import', '--quiet'], { input: `${lines.join('\n')}\n` });
  return {
    gitDir,
    commit: await gitText(gitDir, ['rev-parse', 'refs/heads/main']),
    tree: await gitText(gitDir, ['rev-parse', 'refs/heads/main^{tree}']),
  };
}

/** Commits one change of one file each, all on the repository's commit, to `refs/heads/bench/<task>`. One process for all. */
export async function taskCommits(
  { gitDir, commit }: Repository,
  tasks: readonly { readonly name: string; readonly path: string }[],
): Promise<void> {
  const lines = tasks.flatMap(({ name, path }) => {
    const content = `done by ${name}`;
    return [
      `commit refs/heads/bench/${name}`,
      'committer bench <bench@example.org> 1700000001 +0000',
      `data ${Buffer.byteLength(name)}`,
      name,
      `from ${commit}`,
      `M 100644 inline ${path}`,
      `data ${Buffer.byteLength(content)}`,
      content,
    ];
  });
  await git(gitDir, ['fast-import', '--quiet'], { input: `${lines.join('\n')}\n` });
}
