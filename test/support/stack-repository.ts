/** Origins for end-to-end tests, what plain git says of them, and a spec to start from. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gitText } from '../../mainline/git.ts';
import { execute } from './stack.ts';

const GIT_ENV = {
  PATH: process.env['PATH'],
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  ...Object.fromEntries(
    ['AUTHOR', 'COMMITTER'].flatMap((who) => [
      [`GIT_${who}_NAME`, 'A Person'],
      [`GIT_${who}_EMAIL`, 'person@example.org'],
    ]),
  ),
};

/** A repository with one commit on `main`. */
export async function makeOrigin(
  dir: string,
  files: Readonly<Record<string, string>>,
): Promise<{ dir: string; url: string }> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), content);
  }
  const steps = [
    ['init', '--quiet', '--initial-branch=main'],
    ['add', '--all'],
    ['commit', '--quiet', '-m', 'Begin'],
  ];
  for (const step of steps) {
    const { code, err } = await execute(['git', ...step], { cwd: dir, env: GIT_ENV });
    if (code !== 0) throw new Error(`git ${step.join(' ')}: ${err}`);
  }
  return { dir, url: pathToFileURL(dir).href };
}

/** The values of a trailer over the commits of a range, oldest first. */
export async function trailers(gitDir: string, range: string, key = 'Swarmline-Request'): Promise<string[]> {
  const format = `--format=%(trailers:key=${key},valueonly,separator=%x2C)`;
  const out = await gitText(gitDir, ['log', '--reverse', '--topo-order', format, range]);
  return out.split('\n').filter(Boolean);
}

export const isAncestor = (gitDir: string, commit: string, of: string): Promise<boolean> =>
  gitText(gitDir, ['merge-base', '--is-ancestor', commit, of]).then(
    () => true,
    () => false,
  );

/** Every ref with the commit that it points at. */
export async function refs(gitDir: string, under = 'refs'): Promise<Record<string, string>> {
  const out = await gitText(gitDir, ['for-each-ref', '--format=%(refname) %(objectname)', under]);
  return Object.fromEntries(
    out
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split(' ') as [string, string]),
  );
}

/** A spec whose gate is skipped and whose tasks are scripted, unless `over` says otherwise: nothing but what a test is about. */
export function specOf(name: string, url: string, over: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return {
    name,
    goal: 'Every file that a task names is there.',
    repository: { url },
    gate: { lint: 'skip', typecheck: 'skip', test: 'skip', build: 'skip' },
    sandbox: { image: 'swarmline/node:22', limits: { memory: '256m', disk: '16m', agent: '5m', step: '1m' } },
    roles: { worker: { engine: 'scripted' } },
    ...over,
    policy: { gateProof: 'off', ...(over['policy'] as object | undefined) },
  };
}

/** A task that may write `files` and whose attempt n leaves them as script entry n says. */
export function scripted(
  id: string,
  attempts: readonly Readonly<Record<string, string>>[],
  over: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const files = [...new Set(attempts.flatMap((edits) => Object.keys(edits)))];
  return {
    id,
    goal: `Write ${files.join(' and ')}.`,
    files: { allow: files },
    acceptance: files.map((file) => `${file} is there.`),
    script: attempts.map((edits) => ({
      edits: Object.entries(edits).map(([path, content]) => ({ path, content })),
    })),
    ...over,
  };
}

/** Shell that waits for `tellToGoOn` before it goes on: the test decides when. WINCH, because it harms nobody who has no trap for it yet. */
export const untilTold = (then: string): string[] => [
  'sh',
  '-c',
  `trap go=1 WINCH; while [ -z "$go" ]; do sleep 0.2; done; ${then}`,
];

/** A task for the command engine. */
export function commanded(
  id: string,
  allow: readonly string[],
  run: readonly string[],
  over: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  return {
    id,
    goal: `Write ${allow.join(' and ')}.`,
    files: { allow },
    acceptance: allow.map((file) => `${file} is there.`),
    run,
    ...over,
  };
}
