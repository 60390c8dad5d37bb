/**
 * What a request may ask of a provider: an answer. Pure.
 *
 * 1. Tools run in the sandbox. Those that a provider runs itself (web search, remote MCP servers, its own shells) would be a second way out
 *    of it, and cost what no count of tokens shows. CLIs offer them unasked, so they are taken out of the request; the model is not told of them.
 * 2. A provider fetches nothing for an agent: contents pass, addresses do not.
 * 3. The model is the role's: no other one steps in for it, and the call goes nowhere else (proxies have fields for both).
 * 4. A call ends with its agent, and a token has the price of the table: no background, no other tier.
 */
import { RequestRefused } from './refused.ts';
import type { Protocol } from './types.ts';

type Json = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** Types of tools that the agent's own program runs. `undefined`: a function of the Messages API. */
const OWN_TOOLS: Readonly<Record<Protocol, (tool: Json) => boolean>> = {
  anthropic: ({ type }) =>
    type === undefined ||
    type === 'custom' ||
    (typeof type === 'string' && /^(?:bash|text_editor|computer|memory)_\d+$|^tool_search_tool_/.test(type)),
  responses: ({ type, environment }) =>
    ['function', 'custom', 'namespace', 'local_shell', 'apply_patch', 'tool_search', 'computer'].includes(
      String(type),
    ) ||
    (type === 'shell' && isObject(environment) && environment['type'] === 'local'),
  chat: ({ type }) => type === 'function' || type === 'custom',
};
const REFUSED: Readonly<Record<string, string>> = {
  mcp_servers: 'reaches servers from outside the sandbox',
  plugins: 'runs tools outside the sandbox',
  web_search_options: 'searches the web',
  background: 'outlives the agent that asked',
  fallbacks: 'names other models',
  models: 'names other models',
  api_base: 'names another upstream',
  base_url: 'names another upstream',
  api_key: 'names a key',
  extra_headers: 'names headers',
  user_config: 'names another upstream',
};
/** Sent by CLIs at times; left out, so that the provider's default holds. */
const PRICED: readonly string[] = ['service_tier', 'speed', 'inference_geo'];
/** Say nothing without tools, and are then an error. */
const WITH_TOOLS: readonly string[] = ['tools', 'tool_choice', 'parallel_tool_calls'];

/** @throws RequestRefused */
export function confined<T extends Json>(request: T, protocol: Protocol): T {
  for (const [name, why] of Object.entries(REFUSED)) {
    const value = request[name];
    const says = Array.isArray(value) ? value.length > 0 : Boolean(value);
    if (says) throw new RequestRefused(403, `"${name}" is not let through: it ${why}.`);
  }
  refuseAddresses(request['messages'], 0);
  refuseAddresses(request['input'], 0);
  const tools = ownTools(request['tools'], protocol);
  const left = [...PRICED, ...(tools.length === 0 ? WITH_TOOLS : [])];
  const kept = Object.entries(request).filter(([name]) => !left.includes(name));
  return { ...Object.fromEntries(kept), ...(tools.length === 0 ? {} : { tools }) } as T;
}

function ownTools(tools: unknown, protocol: Protocol): Json[] {
  return listOf(tools)
    .filter(isObject)
    .filter(OWN_TOOLS[protocol])
    .map((tool) => (tool['type'] === 'namespace' ? { ...tool, tools: ownTools(tool['tools'], protocol) } : tool));
}

/** Messages hold parts, and results of tools hold parts again; deeper there is nothing that a provider would read. */
const DEEP = 4;
function refuseAddresses(list: unknown, depth: number): void {
  if (depth > DEEP) return;
  for (const part of listOf(list).filter(isObject)) {
    const { source, image_url: image, file_url: file } = part;
    const address = isObject(image) ? image['url'] : image;
    const fetched =
      (isObject(source) && source['type'] === 'url') ||
      (typeof address === 'string' && !address.startsWith('data:')) ||
      typeof file === 'string';
    if (fetched)
      throw new RequestRefused(403, 'Nothing is fetched for an agent: send the content itself, not its address.');
    refuseAddresses(part['content'], depth + 1);
    refuseAddresses(part['output'], depth + 1);
  }
}
