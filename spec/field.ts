/**
 * Building blocks of the table of fields (fields.ts): each block is at once a zod schema, its rows in the reference page, and a
 * forgiving twin of the schema.
 *
 * Invariants
 * 1. What a row says (type, default, limits) is what its schema enforces: both are made from the same arguments.
 * 2. `lenient` never fails: what `strict` refuses is replaced by the default or an empty value, so that the checks that need a
 *    whole spec still run and all problems come back at once.
 */
import * as z from 'zod';
import { DURATION_PATTERN, formatDuration, formatSize, parseDuration, parseSize, SIZE_PATTERN } from './units.ts';

export interface FieldRow {
  /** `tasks[].files.allow`; `*` stands for a key that the user chooses. */
  readonly path: string;
  readonly type: string;
  /** Shown as written in a spec; null: required. */
  readonly default: string | null;
  readonly unit: string;
  readonly meaning: string;
  readonly limits: string;
}

export interface Block<T> {
  readonly strict: z.ZodType<T>;
  readonly lenient: z.ZodType<T>;
  readonly rows: (path: string) => FieldRow[];
  readonly type: string;
}
export type Value<B> = B extends Block<infer T> ? T : never;

interface About<T> {
  readonly meaning: string;
  readonly type?: string;
  readonly unit?: string;
  readonly limits?: string;
  /** Absent: the field is required. */
  readonly default?: T;
  /** How the default is shown, where its value does not say it. */
  readonly shown?: string;
  /** Stands in for a required value that is missing or wrong. */
  readonly blank: T;
}

/** The field's schema with its meaning, its default and its forgiving twin. */
function leaf<T>(schema: z.ZodType<T>, about: About<T>): Block<T> {
  const described = schema.describe([about.meaning, about.limits].filter(Boolean).join(' '));
  const given = 'default' in about;
  const fallback = given ? about.default : about.blank;
  return {
    strict: given ? described.default(fallback as never) : described,
    lenient: schema.catch(fallback as never),
    type: about.type ?? 'string',
    rows: (path) => [
      {
        path,
        type: about.type ?? 'string',
        default: given ? (about.shown ?? JSON.stringify(about.default)) : null,
        unit: about.unit ?? '',
        meaning: about.meaning,
        limits: about.limits ?? '',
      },
    ],
  };
}

type Options<T> = { readonly default?: T; readonly shown?: string; readonly limits?: string; readonly unit?: string };

export const text = (meaning: string, options: Options<string> & { pattern?: RegExp } = {}): Block<string> => {
  const { pattern, ...rest } = options;
  return leaf(pattern === undefined ? z.string() : z.string().regex(pattern), { meaning, blank: '', ...rest });
};

/** A string that may be left out (or null). */
export const optionalText = (meaning: string, options: Options<string | null> = {}): Block<string | null> =>
  leaf(z.string().nullable(), { meaning, blank: null, default: null, shown: 'none', ...options });

export const flag = (meaning: string, byDefault: boolean): Block<boolean> =>
  leaf(z.boolean(), { meaning, type: 'boolean', blank: byDefault, default: byDefault });

/** A number in a range; `null` as default: none. */
export function number(
  meaning: string,
  range: { min: number; max: number; unit: string; whole?: boolean; default: number },
): Block<number>;
export function number(
  meaning: string,
  range: { min: number; max: number; unit: string; whole?: boolean; default: null },
): Block<number | null>;
export function number(
  meaning: string,
  range: { min: number; max: number; unit: string; whole?: boolean; default: number | null },
): Block<number> | Block<number | null> {
  const base = range.whole === false ? z.number() : z.int();
  const schema = base.min(range.min).max(range.max);
  const about = {
    meaning,
    type: range.whole === false ? 'number' : 'integer',
    unit: range.unit,
    limits: `${range.min} to ${range.max}`,
  };
  if (range.default !== null) return leaf<number>(schema, { ...about, blank: range.default, default: range.default });
  return leaf<number | null>(schema.nullable(), { ...about, blank: null, default: null, shown: 'none' });
}

/** A duration in a range, kept as text; compile with parseDuration. */
export const duration = (meaning: string, range: { min: string; max: string; default: string }): Block<string> =>
  measured(meaning, 'duration', DURATION_PATTERN, parseDuration, formatDuration, range);

/** A size in a range, kept as text; compile with parseSize. */
export const size = (meaning: string, range: { min: string; max: string; default: string }): Block<string> =>
  measured(meaning, 'size', SIZE_PATTERN, parseSize, formatSize, range);

function measured(
  meaning: string,
  type: 'duration' | 'size',
  pattern: RegExp,
  parse: (text: string) => number | null,
  format: (value: number) => string,
  range: { min: string; max: string; default: string },
): Block<string> {
  const [min, max] = [parse(range.min) as number, parse(range.max) as number];
  const schema = z
    .string()
    .regex(pattern, `a ${type}`)
    .refine((written) => (parse(written) ?? min) >= min && (parse(written) ?? min) <= max, {
      error: `is out of range: ${format(min)} to ${format(max)}`,
    });
  return leaf(schema, {
    meaning,
    type,
    unit: type === 'size' ? 'b, k, m, g, t (powers of 1024)' : 'ms, s, m, h, d',
    limits: `${range.min} to ${range.max}`,
    default: range.default,
    blank: range.default,
  });
}

export const choice = <const T extends string>(meaning: string, among: readonly T[], byDefault?: T): Block<T> =>
  leaf(z.enum(among), {
    meaning,
    type: among.map((one) => `"${one}"`).join(' \\| '),
    blank: byDefault ?? (among[0] as T),
    ...(byDefault === undefined ? {} : { default: byDefault }),
  });

export const choices = <const T extends string>(
  meaning: string,
  among: readonly T[],
  byDefault: readonly T[],
): Block<T[]> =>
  leaf(z.array(z.enum(among)), {
    meaning,
    type: `list of ${among.map((one) => `"${one}"`).join(', ')}`,
    blank: [...byDefault],
    default: [...byDefault],
  });

/** A list of strings. Without a default it is required and may not be empty. */
export const texts = (meaning: string, options: Options<string[]> = {}): Block<string[]> =>
  leaf('default' in options ? z.array(z.string()) : z.array(z.string()).min(1), {
    meaning,
    type: 'list of strings',
    blank: [],
    ...options,
  });

/** As texts, but null when it is left out. `mayBeEmpty`: an empty list means something else than none given. */
export const optionalTexts = (
  meaning: string,
  options: { shown?: string; mayBeEmpty?: boolean } = {},
): Block<string[] | null> => {
  const items = options.mayBeEmpty === true ? z.array(z.string()) : z.array(z.string()).min(1);
  return leaf<string[] | null>(items.nullable(), {
    meaning,
    type: 'list of strings',
    blank: null,
    default: null,
    shown: options.shown ?? 'none',
  });
};

/** Strings by a key that the user chooses. */
export const textMap = (
  meaning: string,
  options: Options<Record<string, string>> = {},
): Block<Record<string, string>> =>
  leaf(z.record(z.string(), z.string()), { meaning, type: 'map of strings', blank: {}, default: {}, ...options });
