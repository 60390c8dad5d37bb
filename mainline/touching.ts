/** Whose work on the line changed some files. */
import { trailersOf } from './commit.ts';
import { gitText } from './git-process.ts';
import type { GitOptions } from './git-process.ts';

export interface Touching {
  readonly request: string;
  readonly task: string;
}

/** Requests on the line after `from` up to `to` that changed one of the paths, oldest first. */
export async function requestsTouching(
  gitDir: string,
  from: string,
  to: string,
  paths: readonly string[],
  options: Pick<GitOptions, 'signal'> = {},
): Promise<Touching[]> {
  if (paths.length === 0) return [];
  const range = ['--first-parent', '--reverse', '--no-renames', '-z', '--format=%B', to, `^${from}`, '--', ...paths];
  const out = await gitText(gitDir, ['log', ...range], { ...options, env: { GIT_LITERAL_PATHSPECS: '1' } });
  return out.split('\0').flatMap((message) => {
    const trailers = trailersOf(message);
    const [request, task] = [trailers.get('Swarmline-Request'), trailers.get('Swarmline-Task')];
    return request === undefined || task === undefined ? [] : [{ request, task }];
  });
}
