/** What hub server and hub client agree on: paths, queries and answers. */
import { isOid, isSafeId } from './refs.ts';

export type HubRoute =
  | { readonly kind: 'health' }
  /** git's own two requests of a fetch. */
  | { readonly kind: 'refs' | 'upload-pack'; readonly run: string }
  /** Where main, verified and next stand. */
  | { readonly kind: 'heads'; readonly run: string }
  | { readonly kind: 'attempt'; readonly run: string; readonly task: string; readonly attempt: number }
  | null;

export interface HeadsAnswer {
  readonly base: string;
  readonly main: string;
  readonly verified: string;
  readonly next: string;
}

/** An answer that is no success: `rule` and `path` where intake refused. */
export interface ProblemAnswer {
  readonly error: string;
  readonly rule?: string;
  readonly path?: string;
}

export const attemptPath = (run: string, task: string, attempt: number): string => `/${run}/tasks/${task}/${attempt}`;
export const repositoryPath = (run: string): string => `/${run}.git`;
export const headsPath = (run: string): string => `/${run}/heads`;

/** Which of the requests a path names; null for none. Ids are safe: no path of a host reaches the file system unchecked. */
export function parseRoute(pathname: string): HubRoute {
  if (pathname === '/healthz') return { kind: 'health' };
  const parts = pathname.split('/').slice(1);
  const [first = '', second = ''] = parts;
  if (first.endsWith('.git')) {
    const run = first.slice(0, -4);
    if (!isSafeId(run)) return null;
    if (parts.length === 3 && second === 'info' && parts[2] === 'refs') return { kind: 'refs', run };
    if (parts.length === 2 && second === 'git-upload-pack') return { kind: 'upload-pack', run };
    return null;
  }
  if (!isSafeId(first)) return null;
  if (parts.length === 2 && second === 'heads') return { kind: 'heads', run: first };
  if (parts.length === 4 && second === 'tasks') {
    const [, , task = '', number = ''] = parts;
    if (isSafeId(task) && /^[1-9]\d{0,5}$/.test(number))
      return { kind: 'attempt', run: first, task, attempt: Number(number) };
  }
  return null;
}

/** commit and base of a PUT; null when either is not an object id. */
export function parseClaim(query: URLSearchParams): { commit: string; base: string } | null {
  const commit = query.get('commit') ?? '';
  const base = query.get('base') ?? '';
  return isOid(commit) && isOid(base) ? { commit, base } : null;
}
