import { describe, expect, it, test } from '@jest/globals';
import { confined } from '../../../gateway/confine.ts';
import { understand } from '../../../gateway/request.ts';
import type { Caller, Protocol } from '../../../gateway/types.ts';

const fn = { type: 'function', name: 'exec', parameters: {} };

describe('tools', () => {
  test.each<[Protocol, object[], object[]]>([
    [
      'anthropic',
      [
        { name: 'Bash' },
        { type: 'custom', name: 'b' },
        { type: 'bash_20250124', name: 'bash' },
        { type: 'text_editor_20250728' },
      ],
      [
        { type: 'web_search_20250305', name: 'web_search' },
        { type: 'web_fetch_20250910', name: 'web_fetch' },
        { type: 'code_execution_20250825', name: 'code' },
        { type: 'mcp_toolset', mcp_server_name: 'x' },
        { type: 'from_tomorrow_20300101' },
      ],
    ],
    [
      'responses',
      [
        fn,
        { type: 'custom', name: 'apply' },
        { type: 'local_shell' },
        { type: 'apply_patch' },
        { type: 'shell', environment: { type: 'local' } },
      ],
      [
        { type: 'web_search' },
        { type: 'web_search_preview' },
        { type: 'file_search', vector_store_ids: ['v'] },
        { type: 'code_interpreter', container: { type: 'auto' } },
        { type: 'image_generation' },
        { type: 'mcp', server_url: 'https://evil.example' },
        { type: 'shell', environment: { type: 'container_auto' } },
        { type: 'shell' },
        {},
      ],
    ],
    ['chat', [{ type: 'function', function: { name: 'f' } }], [{ type: 'web_search' }, { type: 'mcp' }, {}]],
  ])('of %s that the agent’s program runs pass, those that the provider runs do not', (protocol, own, theirs) => {
    const asked = { model: 'm', tools: [...theirs, ...own, null, 'web_search'], tool_choice: 'auto' };
    expect(confined(asked, protocol)).toEqual({ model: 'm', tools: own, tool_choice: 'auto' });
    expect(confined({ ...asked, tools: theirs }, protocol)).toEqual({ model: 'm' });
  });

  it('in a name space are looked at, too', () => {
    const space = {
      type: 'namespace',
      name: 'mcp__ours',
      tools: [fn, { type: 'mcp', server_url: 'https://evil.example' }],
    };
    expect(confined({ tools: [space] }, 'responses')).toEqual({ tools: [{ ...space, tools: [fn] }] });
  });
});

describe('refused', () => {
  test.each<[string, object, Protocol]>([
    ['servers of tools', { mcp_servers: [{ type: 'url', url: 'https://evil.example' }] }, 'anthropic'],
    ['a call that outlives its agent', { background: true }, 'responses'],
    ['a search', { web_search_options: {} }, 'chat'],
    ['other models', { fallbacks: ['dearer'] }, 'chat'],
    ['a list of models', { models: ['m', 'dearer'] }, 'chat'],
    ['another upstream', { api_base: 'https://evil.example' }, 'chat'],
    [
      'an image by its address',
      {
        messages: [
          {
            role: 'user',
            content: [{ type: 'image', source: { type: 'url', url: 'https://evil.example/?q=secret' } }],
          },
        ],
      },
      'anthropic',
    ],
    [
      'a document in the result of a tool',
      {
        messages: [
          { content: [{ type: 'tool_result', content: [{ type: 'document', source: { type: 'url', url: 'x' } }] }] },
        ],
      },
      'anthropic',
    ],
    [
      'an image by its address',
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'https://evil.example' }] }] },
      'responses',
    ],
    [
      'a file by its address',
      { input: [{ role: 'user', content: [{ type: 'input_file', file_url: 'https://evil.example' }] }] },
      'responses',
    ],
    [
      'an image in the result of a call',
      {
        input: [
          { type: 'function_call_output', output: [{ type: 'input_image', image_url: 'http://169.254.169.254' }] },
        ],
      },
      'responses',
    ],
    [
      'an image by its address',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://evil.example' } }] }] },
      'chat',
    ],
  ])('%s', (_what, asked, protocol) => {
    expect(() => confined({ model: 'm', ...asked }, protocol)).toThrow(expect.objectContaining({ status: 403 }));
  });
});

it('contents pass, as do fields that name what they refuse but say nothing', () => {
  const messages = [
    { role: 'user', content: 'See https://example.org' },
    {
      role: 'user',
      content: [
        { type: 'image', source: { type: 'base64', data: 'x' } },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,x' } },
      ],
    },
  ];
  const input = [{ role: 'user', content: [{ type: 'input_image', image_url: 'data:image/png;base64,x' }] }];
  const asked = {
    model: 'm',
    messages,
    input,
    mcp_servers: [],
    background: false,
    previous_response_id: 'resp_1',
    store: false,
  };
  expect(confined(asked, 'responses')).toEqual(asked);
  expect(confined({ input: 'Just words.' }, 'responses')).toEqual({ input: 'Just words.' });
});

it('the price of a token is the one of the table: tiers and speeds are left to the provider', () => {
  expect(confined({ model: 'm', service_tier: 'priority', speed: 'fast', inference_geo: 'us' }, 'anthropic')).toEqual({
    model: 'm',
  });
});

it('several answers to one request are reserved for', () => {
  const caller: Caller = { run: 'r', task: 't', attempt: 1, role: 'worker', model: null };
  const of = (more: object) =>
    understand(Buffer.from(JSON.stringify({ model: 'm', max_tokens: 100, ...more })), 'chat', caller);
  expect(of({}).estimate.outputTokens).toBe(100);
  expect(of({ n: 8 }).estimate.outputTokens).toBe(800);
  expect(() => of({ n: 1e9 })).toThrow(expect.objectContaining({ status: 400 }));
});
