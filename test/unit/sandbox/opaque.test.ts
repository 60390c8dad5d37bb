import { Agent } from 'node:http';
import { inspect } from 'node:util';
import { expect, test } from '@jest/globals';
import { opaque } from '../../../sandbox/opaque.ts';

test('what docker-modem prints for its debug log does not grow with what an agent or a signal holds', () => {
  const agent = opaque(new Agent(), 'agent');
  const signal = opaque(new AbortController().signal, 'signal');
  Object.assign(agent, { sockets: { a: [Buffer.alloc(1_000_000)] } });
  const printed = inspect({ agent, signal }, { showHidden: true, depth: null });
  expect(printed).toBe('{ agent: [agent], signal: [signal] }');
});
