import { describe, expect, it } from '@jest/globals';
import { agentHeaders, upstreamHeaders } from '../../../gateway/headers.ts';
import { routeOf } from '../../../gateway/routes.ts';

describe('what an agent may ask for', () => {
  it.each([
    ['POST', '/v1/messages', 'anthropic', '/v1/messages'],
    ['POST', '/v1/messages?beta=true', 'anthropic', '/v1/messages?beta=true'],
    ['POST', '/v1/responses', 'openai', '/responses'],
    ['POST', '/v1/chat/completions', 'openai', '/chat/completions'],
  ])('%s %s goes to the %s upstream', (method, target, upstream, path) => {
    expect(routeOf(method, target)).toMatchObject({ kind: 'model', upstream, path });
  });

  it.each([
    ['POST', 'http://evil.example/v1/messages', 403],
    ['POST', '//evil.example/v1/messages', 403],
    ['POST', '/v1/../v1/messages', 403],
    ['POST', '/v1/%2e%2e/files', 403],
    ['POST', '/v1/messages;x', 403],
    ['POST', '/v1/messages?beta=true&x=1', 403],
    ['POST', '/v1/messages?beta=true?x', 403],
    ['POST', '/v1/messages#x', 403],
    ['POST', '/v1/files', 404],
    ['POST', '/v1/messages/batches', 404],
    ['GET', '/v1/models', 404],
    ['GET', '/v1/messages', 405],
    ['DELETE', '/v1/responses', 405],
    ['PUT', '/mcp', 405],
    ['OPTIONS', '*', 403],
    ['POST', '', 403],
  ])('%s %s is refused with %s', (method, target, status) => {
    expect(routeOf(method, target)).toMatchObject({ kind: 'refused', status });
  });

  it('whether the gateway lives is answered here', () => {
    expect(routeOf('HEAD', '/')).toEqual({ kind: 'alive' });
  });
});

describe('headers', () => {
  it('of an agent pass when they are listed; its credentials, cookies and routes never do', () => {
    const sent = upstreamHeaders(
      {
        'x-api-key': 'agent',
        authorization: 'Bearer agent',
        cookie: 'a=b',
        host: 'evil.example',
        'x-forwarded-host': 'evil.example',
        'transfer-encoding': 'chunked',
        'anthropic-version': '2023-06-01',
        'anthropic-beta': 'one,two',
      },
      'anthropic',
      'the real key',
    );
    expect(sent).toEqual({
      'content-type': 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'swarmline',
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'one,two',
      'x-api-key': 'the real key',
    });
    expect(upstreamHeaders({ 'x-api-key': 'agent' }, 'openai', 'k')).toMatchObject({ authorization: 'Bearer k' });
    expect(JSON.stringify(upstreamHeaders({ authorization: "the agent's own" }, 'openai', null))).not.toContain('own');
  });

  it('of an upstream pass when they are listed', () => {
    const answer = { 'content-type': 'text/event-stream', 'set-cookie': ['a=b'], 'request-id': 'r', 'x-org': 'o' };
    expect(agentHeaders(answer)).toEqual({ 'content-type': 'text/event-stream', 'request-id': 'r' });
  });
});
