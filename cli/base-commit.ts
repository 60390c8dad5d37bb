/**
 * The files of a spec's base commit where they are on this machine: in a clone given by hand, or at a file:// address.
 * Repositories elsewhere are the worker's to fetch.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Problem } from '../spec/model.ts';
import type { SpecContext } from '../spec/validate.ts';
import { UserError } from './exit.ts';

export type BaseCommit = SpecContext | { readonly problem: Problem };

/** @throws UserError when `clone` is no repository */
export async function baseCommit(raw: unknown, clone: string | null): Promise<BaseCommit> {
  const { url, branch, empty } = repositoryOf(raw);
  if (empty) return { files: [] };
  const { repositoryProblem } = await import('../spec/payload.ts');
  if (clone !== null) {
    const gitDir = gitDirOf(resolve(clone));
    if (gitDir === null)
      throw new UserError({
        what: `${clone} is no git repository.`,
        why: 'It has neither a .git directory nor is it a bare repository.',
      });
    return read(gitDir, ['HEAD'], raw);
  }
  if (url === null || !url.startsWith('file:///')) return { files: null };
  const gitDir = gitDirOf(fileURLToPath(url));
  if (gitDir === null) return { problem: repositoryProblem('not-a-repository', '') };
  return read(gitDir, [`refs/heads/${branch}`], raw);
}

async function read(gitDir: string, [commit]: readonly [string], raw: unknown): Promise<BaseCommit> {
  const [{ gitRun, listFiles, readFileAt }, { presetTestPaths }, { repositoryProblem }] = await Promise.all([
    import('../mainline/git.ts'),
    import('../spec/preset-tests.ts'),
    import('../spec/payload.ts'),
  ]);
  const found = await gitRun(
    gitDir,
    ['rev-parse', '--verify', '--quiet', '--end-of-options', `${commit}^{commit}`],
    {},
    [0, 1, 128],
  );
  if (found.exitCode !== 0) return { problem: repositoryProblem(commit === 'HEAD' ? 'no-commits' : 'no-branch', '') };
  const files = await listFiles(gitDir, commit);
  const contents = new Map<string, string>();
  for (const path of presetTestPaths(raw, files)) {
    const content = await readFileAt(gitDir, commit, path);
    if (content !== null) contents.set(path, content.toString('utf8'));
  }
  return { files, fileContent: (path) => contents.get(path) ?? null };
}

function gitDirOf(directory: string): string | null {
  for (const candidate of [join(directory, '.git'), directory]) {
    if (existsSync(join(candidate, 'objects')) && existsSync(join(candidate, 'HEAD'))) return candidate;
  }
  return null;
}

function repositoryOf(raw: unknown): { url: string | null; branch: string; empty: boolean } {
  const at = (value: unknown, key: string): unknown =>
    typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
  const repository = at(raw, 'repository');
  const [url, branch] = [at(repository, 'url'), at(repository, 'branch')];
  return {
    url: typeof url === 'string' ? url : null,
    branch: typeof branch === 'string' ? branch : 'main',
    empty: at(repository, 'empty') === true,
  };
}
