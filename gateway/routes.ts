/**
 * The allow-list: which method and path an agent may use, and where it leads. Pure.
 *
 * 1. Exact methods, exact paths. No absolute form, no double slash, no dot segment, no encoded slash: there is nothing to normalise.
 * 2. Where a request goes is decided by its path alone, never by what it says about host or scheme.
 */
import type { Protocol, UpstreamName } from './types.ts';

export type Route =
  | {
      readonly kind: 'model';
      readonly protocol: Protocol;
      readonly upstream: UpstreamName;
      /** Below the upstream's base URL. */
      readonly path: string;
    }
  /** Answered here. */
  | { readonly kind: 'alive' }
  | { readonly kind: 'mcp' }
  | { readonly kind: 'refused'; readonly status: 403 | 404 | 405; readonly why: string };

const MODEL_PATHS: Readonly<Record<string, { protocol: Protocol; upstream: UpstreamName; path: string }>> = {
  '/v1/messages': { protocol: 'anthropic', upstream: 'anthropic', path: '/v1/messages' },
  '/v1/responses': { protocol: 'responses', upstream: 'openai', path: '/responses' },
  '/v1/chat/completions': { protocol: 'chat', upstream: 'openai', path: '/chat/completions' },
};
/** Queries that CLIs send and upstreams understand. */
const QUERIES: ReadonlySet<string> = new Set(['', 'beta=true']);

export function routeOf(method: string, target: string): Route {
  if (!target.startsWith('/')) return refused(403, 'Only a path is understood here, not a whole URL.');
  const [path = '', query = ''] = target.split('?', 2);
  if (target.split('?').length > 2 || !/^\/(?:[A-Za-z0-9_-]+\/?)*$/.test(path)) {
    return refused(403, 'This path is not let through.');
  }
  if (path === '/' && (method === 'HEAD' || method === 'GET')) return { kind: 'alive' };
  if (path === '/mcp') {
    return ['POST', 'GET', 'DELETE'].includes(method) ? { kind: 'mcp' } : refused(405, `${method} is not for /mcp.`);
  }
  const model = MODEL_PATHS[path];
  if (model === undefined) return refused(404, 'This path is not let through.');
  if (method !== 'POST') return refused(405, `${method} is not for ${path}.`);
  if (!QUERIES.has(query)) return refused(403, 'This query is not let through.');
  return { kind: 'model', ...model, path: query === '' ? model.path : `${model.path}?${query}` };
}

const refused = (status: 403 | 404 | 405, why: string): Route => ({ kind: 'refused', status, why });
