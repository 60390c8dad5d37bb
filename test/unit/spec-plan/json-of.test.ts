import { describe, expect, it } from '@jest/globals';
import { fencedBlocks, jsonOf } from '../../../spec/plan/index.ts';

const value = (text: string): unknown => {
  const found = jsonOf(text);
  return found.ok ? found.value : found.why;
};

describe('the JSON of an answer', () => {
  it('is that of the last fenced block that holds an object', () => {
    expect(value('```json\n{"a": 1}\n```\nNo:\n```json\n{"a": 2}\n```\n```ts\nlet x = {};\n```')).toEqual({ a: 2 });
    expect(value('~~~~\n{"a": "```"}\n~~~~')).toEqual({ a: '```' });
    expect(value('```json\n{"a": 1}')).toEqual({ a: 1 });
    expect(value('```json\r\n{"a": 1}\r\n```')).toEqual({ a: 1 });
  });

  it('is without fences the last object in the text, braces in prose and strings apart', () => {
    expect(value('We {think} so. {"a": {"b": "}"}} and {"c": "\\"{"} end {')).toEqual({ c: '"{' });
    expect(value('{"a": 1}')).toEqual({ a: 1 });
    expect(value('[1, {"a": 1}]')).toEqual({ a: 1 });
  });

  it('when it is not there, or broken, is missed in words that help', () => {
    expect(value('Sorry.')).toMatch(/no JSON object/);
    expect(value('```json\n{"a": 1,}\n```')).toMatch(/last fenced block cannot be parsed: /);
    expect(value('{"a": [1, 2')).toMatch(/no complete JSON object/);
  });

  it('is found, or not, in time that does not grow with the square of a hostile text', () => {
    for (const hostile of [
      '{'.repeat(500_000),
      '{'.repeat(50_000) + '}'.repeat(50_000),
      '{"'.repeat(250_000),
      '```\n'.repeat(200_000),
      '"'.repeat(500_000),
    ]) {
      expect(typeof value(hostile)).toBe('string');
    }
    expect(value(`${'{'.repeat(1_000)} {"a": 1}`)).toEqual({ a: 1 });
  });

  it('makes no prototype of what it is given', () => {
    expect(Object.getPrototypeOf(value('{"__proto__": {"x": 1}}'))).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });
});

it('fenced blocks are those of Markdown: closed by as many of the same mark, or by the end', () => {
  expect(fencedBlocks('````md\n```\nx\n```\n````\n~~~ py \ny\n```\n')).toEqual([
    { language: 'md', text: '```\nx\n```' },
    { language: 'py', text: 'y\n```\n' },
  ]);
});
