import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { FIELDS } from '../../../spec/fields.ts';
import { readSpec } from '../../../spec/read.ts';
import { referencePage, specJsonSchema } from '../../../spec/reference.ts';
import { validateSpec } from '../../../spec/validate.ts';

const at = (name: string): string => readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8');

it('docs/spec.md is what the table of fields makes', () => {
  expect(at('docs/spec.md')).toBe(referencePage());
});

it('docs/spec.schema.json is what the table of fields makes', () => {
  expect(JSON.parse(at('docs/spec.schema.json'))).toEqual(specJsonSchema());
});

it('every field has a meaning, and a path of its own', () => {
  expect(FIELDS.filter((field) => field.meaning.trim() === '')).toEqual([]);
  expect(new Set(FIELDS.map((field) => field.path)).size).toBe(FIELDS.length);
});

it('the JSON Schema carries meanings, defaults and limits', () => {
  const schema = JSON.stringify(specJsonSchema());
  for (const field of FIELDS.filter((one) => !one.path.includes('*'))) {
    expect(schema).toContain(JSON.stringify(field.meaning).slice(1, -1));
  }
  expect(schema).toContain('"default":4,');
});

it('the annotated example is valid and shows every field', () => {
  const text = at('examples/annotated.yaml');
  const { raw, problems } = readSpec(text, 'yaml');
  expect(problems).toEqual([]);
  const checked = validateSpec(raw, { files: null });
  expect(checked.problems).toEqual([]);
  const shown = new Set<string>();
  const visit = (value: unknown, path: string): void => {
    shown.add(path);
    if (Array.isArray(value)) value.forEach((entry) => visit(entry, `${path}[]`));
    else if (typeof value === 'object' && value !== null) {
      for (const [key, entry] of Object.entries(value)) visit(entry, path === '' ? key : `${path}.${key}`);
    }
  };
  // What excludes what stands beside it is shown in a comment: "# empty: true".
  visit(parse(text.replace(/^(\s*)# (empty|fastForward): /gm, '$1$2: ')), '');
  const pattern = (path: string): RegExp => new RegExp(`^${path.replace(/[[\]]/g, '\\$&').replace(/\.\*/g, '\\..+')}$`);
  // A reviewer stands alone or in a list.
  const missing = FIELDS.filter(
    (field) =>
      field.path !== 'roles.reviewer.engine' &&
      field.path !== 'roles.reviewer.model' &&
      field.path !== 'roles.reviewer.sees',
  ).filter((field) => ![...shown].some((path) => pattern(field.path).test(path)));
  expect(missing.map((field) => field.path)).toEqual([]);
});
