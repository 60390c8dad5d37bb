/** Blocks made of blocks: objects, lists, maps and alternatives. See field.ts for what a block is. */
import * as z from 'zod';
import type { Block, FieldRow, Value } from './field.ts';

/** An object with exactly these fields. `optional`: may be left out, then null; otherwise an absent one means all defaults. */
export function group<F extends Record<string, Block<unknown>>>(fields: F): Block<{ [K in keyof F]: Value<F[K]> }> {
  type T = { [K in keyof F]: Value<F[K]> };
  const shape = (which: 'strict' | 'lenient'): Record<string, z.ZodType> =>
    Object.fromEntries(Object.entries(fields).map(([name, block]) => [name, block[which]]));
  const lenient = z.object(shape('lenient'));
  return {
    strict: z.strictObject(shape('strict')) as unknown as z.ZodType<T>,
    lenient: z.preprocess((raw) => (isObject(raw) ? raw : {}), lenient) as unknown as z.ZodType<T>,
    type: 'object',
    rows: (path) =>
      Object.entries(fields).flatMap(([name, block]) => block.rows(path === '' ? name : `${path}.${name}`)),
  };
}

/** An absent group means all its defaults. Only for groups whose fields all have one. */
export const withDefaults = <T>(block: Block<T>): Block<T> => ({
  ...block,
  strict: (block.strict as z.ZodType<T, Record<string, unknown>>).prefault({}),
});

/** A block that may be left out (or null), with a row of its own saying what it is for. */
export const optional = <T>(meaning: string, block: Block<T>, shown = 'none'): Block<T | null> => ({
  strict: block.strict
    .nullable()
    .describe(meaning)
    .default(null as never),
  lenient: z.union([z.null(), z.undefined().transform(() => null), block.lenient]),
  type: block.type,
  rows: (path) => [own(path, block.type, shown, meaning), ...block.rows(path).filter((row) => row.path !== path)],
});

/** A list of blocks; absent: empty. */
export const list = <T>(meaning: string, block: Block<T>, limits: { max: number }): Block<T[]> => ({
  strict: z.array(block.strict).max(limits.max).describe(meaning).default([]),
  lenient: z.preprocess((raw) => (Array.isArray(raw) ? raw : []), z.array(block.lenient)),
  type: `list of ${block.type}s`,
  rows: (path) => [
    own(path, `list of ${block.type}s`, '[]', meaning, `at most ${limits.max}`),
    ...block.rows(`${path}[]`).filter((row) => row.path !== `${path}[]`),
  ],
});

/** Blocks by a key that the user chooses; absent: empty. */
export const map = <T>(meaning: string, block: Block<T>): Block<Record<string, T>> => ({
  strict: z
    .record(z.string(), block.strict)
    .describe(meaning)
    .default({} as never),
  lenient: z.preprocess((raw) => (isObject(raw) ? raw : {}), z.record(z.string(), block.lenient)),
  type: `map of ${block.type}s`,
  rows: (path) => [
    own(path, `map of ${block.type}s`, '{}', meaning),
    ...block.rows(`${path}.*`).filter((row) => row.path !== `${path}.*`),
  ],
});

/** One of several shapes that differ in their JSON type (string, list, object). */
export function either<A, B>(meaning: string, a: Block<A>, b: Block<B>, shown: string | null = null): Block<A | B> {
  return {
    strict: z.union([a.strict, b.strict]).describe(meaning),
    lenient: z.union([a.strict, b.strict, a.lenient]),
    type: `${a.type} or ${b.type}`,
    rows: (path) => [
      own(path, `${a.type} or ${b.type}`, shown, meaning),
      ...[...a.rows(path), ...b.rows(path)].filter(
        (row, i, all) => row.path !== path && all.findIndex((r) => r.path === row.path) === i,
      ),
    ],
  };
}

function own(path: string, type: string, shown: string | null, meaning: string, limits = ''): FieldRow {
  return { path, type, default: shown, unit: '', meaning, limits };
}

function isObject(raw: unknown): raw is Record<string, unknown> {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw);
}
