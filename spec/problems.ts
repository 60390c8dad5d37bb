/** From what went wrong to what a person reads: one line, with the path of the field. */
import { closest, distance } from 'fastest-levenshtein';
import type * as z from 'zod';
import type { Problem } from './model.ts';

export type PathPart = string | number;

/** `tasks[3].files.allow[0]`; keys that are no identifiers in quotes: `tests["a/b.ts"]`. */
export function pathText(parts: readonly PropertyKey[]): string {
  let out = '';
  for (const part of parts) {
    if (typeof part === 'number') out += `[${part}]`;
    else if (/^[A-Za-z_$][\w$-]*$/.test(String(part))) out += out === '' ? String(part) : `.${String(part)}`;
    else out += `[${JSON.stringify(String(part))}]`;
  }
  return out;
}

/** The parts of a path made by pathText. */
export function pathParts(path: string): PathPart[] {
  const parts: PathPart[] = [];
  for (const m of path.matchAll(/\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([^.[\]]+)/g)) {
    if (m[1] !== undefined) parts.push(Number(m[1]));
    else if (m[2] !== undefined) parts.push(JSON.parse(m[2]) as string);
    else parts.push(m[3] as string);
  }
  return parts;
}

/** The known name that was probably meant, or null. */
export function nearest(name: string, known: readonly string[]): string | null {
  if (known.length === 0) return null;
  const plain = (text: string): string => text.toLowerCase().replace(/[-_\s]/g, '');
  const letters = (text: string): string => plain(text).split('').toSorted().join('');
  const exact = known.find((one) => plain(one) === plain(name)) ?? known.find((one) => letters(one) === letters(name)); // swapped letters
  if (exact !== undefined) return exact;
  const best = closest(name, known);
  return distance(plain(name), plain(best)) <= Math.max(1, Math.floor(Math.max(name.length, best.length) / 3))
    ? best
    : null;
}

/** ` (did you mean "x"?)`, or ''. */
export function didYouMean(name: string, known: readonly string[]): string {
  const best = nearest(name, known);
  return best === null ? '' : ` (did you mean "${best}"?)`;
}

type Issue = z.core.$ZodIssue;

/** Known field names by path pattern (`tasks[].files`), for suggestions. */
export type KnownFields = (parts: readonly PropertyKey[]) => readonly string[];

/** Every zod issue as problems. Values are never repeated: they may be secrets. */
export function problemsOf(
  issues: readonly Issue[],
  known: KnownFields,
  raw: unknown,
  at: readonly PropertyKey[] = [],
): Problem[] {
  return issues.flatMap((issue) => {
    const parts = [...at, ...issue.path];
    const path = pathText(parts);
    switch (issue.code) {
      case 'unrecognized_keys': {
        const names = known(parts);
        return issue.keys.map((key) => ({
          path: pathText([...parts, key]),
          message: `unknown field${didYouMean(key, names) || (names.length > 0 ? `; known here: ${names.join(', ')}` : '')}`,
        }));
      }
      case 'invalid_union':
        return valueAt(raw, parts) === undefined
          ? [{ path, message: 'is required' }]
          : problemsOf(bestBranch(issue.errors), known, raw, parts);
      case 'invalid_type':
        return [
          {
            path,
            message: valueAt(raw, parts) === undefined ? 'is required' : typeMessage(issue.expected),
          },
        ];
      case 'invalid_value': {
        const options = `${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map((v) => JSON.stringify(v)).join(', ')}`;
        const missing = valueAt(raw, parts) === undefined;
        return [{ path, message: missing ? `is required: ${options}` : `must be ${options}` }];
      }
      case 'too_small':
        return [
          {
            path,
            message:
              issue.origin === 'array'
                ? 'is empty; at least one entry is needed'
                : `is out of range: at least ${String(issue.minimum)}`,
          },
        ];
      case 'too_big':
        return [
          {
            path,
            message:
              issue.origin === 'array'
                ? `has too many entries; at most ${String(issue.maximum)}`
                : `is out of range: at most ${String(issue.maximum)}`,
          },
        ];
      case 'invalid_format':
        return [{ path, message: formatMessage(issue.message) }];
      default:
        return [{ path, message: issue.message }];
    }
  });
}

/** What stands at a path of the input; undefined: nothing. */
function valueAt(raw: unknown, parts: readonly PropertyKey[]): unknown {
  let value = raw;
  for (const part of parts) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[part];
  }
  return value;
}

/** The branch of a union that has the right JSON type, judged by whether its first complaint is about the value itself. */
function bestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] {
  const inside = branches.filter(
    (issues) => !issues.some((issue) => issue.code === 'invalid_type' && issue.path.length === 0),
  );
  if (inside.length > 0) return inside.toSorted((a, b) => a.length - b.length)[0] as readonly Issue[];
  const expected = [
    ...new Set(
      branches.flatMap((issues) => issues.flatMap((issue) => (issue.code === 'invalid_type' ? [issue.expected] : []))),
    ),
  ];
  const message = `must be ${expected.map(typeName).join(' or ')}`;
  return [{ code: 'custom', path: [], message, input: undefined }];
}

function typeName(expected: string): string {
  const names: Record<string, string> = {
    string: 'a string',
    object: 'an object',
    array: 'a list',
    record: 'a map',
    number: 'a number',
    int: 'a whole number',
    boolean: 'true or false',
  };
  return names[expected] ?? expected;
}

function typeMessage(expected: string): string {
  return `must be ${typeName(expected)}${expected === 'string' ? ' (in YAML, quote numbers and words such as true)' : ''}`;
}

/** The message of a pattern in field.ts is the name of what it wants. */
function formatMessage(message: string): string {
  if (message === 'a duration') return 'must be a duration with a unit: "90s", "15m", "1h 30m"';
  if (message === 'a size') return 'must be a size with a unit (powers of 1024): "512m", "1g"';
  return message;
}
