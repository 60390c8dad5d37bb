/**
 * docker-modem prints every request's options for its debug log before it asks whether anybody reads that log, hidden fields, nested
 * sockets and their buffers included. With attached streams one such print took seconds of CPU. What is passed to it prints as one word.
 */
import { inspect } from 'node:util';

/** Makes a value print as `name` wherever it is inspected. */
export function opaque<T extends object>(value: T, name: string): T {
  Object.defineProperty(value, inspect.custom, { value: () => `[${name}]`, enumerable: false, configurable: true });
  return value;
}
