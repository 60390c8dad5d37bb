/** The reference page and the JSON Schema, made from the table of fields and nothing else. Pure. */
import * as z from 'zod';
import type { FieldRow } from './field.ts';
import { FIELDS, specFields } from './fields.ts';

/** JSON Schema (2020-12) of a spec as it is submitted, for editors. */
export function specJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(specFields.strict, { io: 'input', unrepresentable: 'any' });
  return {
    $schema,
    title: 'Swarmline spec',
    description: 'What a run builds, from what, and how results are judged.',
    ...schema,
  };
}

const TITLES: Readonly<Record<string, string>> = {
  '': 'The run',
  repository: 'The repository',
  gate: 'The gate',
  sandbox: 'The sandbox',
  roles: 'Roles',
  engines: 'Engines of your own',
  planning: 'Planning',
  policy: 'Policy',
  budget: 'Budget',
  notify: 'Notification',
  deliver: 'Delivery',
  tasks: 'Tasks',
  fanOut: 'Fan-outs',
};

const HEAD = `# The spec

<!-- Made from the table of fields in spec/fields.ts by \`./swarmline schema --format markdown > docs/spec.md\`. Do not edit. -->

A spec is JSON, YAML, or Markdown with front matter. Every field is required or has a default; a field that is not on this page is an
error. \`./swarmline validate SPEC\` names everything that is wrong with one, \`./swarmline schema\` prints its JSON Schema for editors,
and \`examples/annotated.yaml\` shows every field in use.

- Durations are text with a unit: \`90s\`, \`15m\`, \`1h 30m\` (ms, s, m, h, d). Sizes too: \`512m\`, \`1g\` (b, k, m, g, t; powers of 1024).
- Globs are relative to the root of the repository. \`*\` and \`?\` stay within a directory, \`**\` as a whole component spans any number of
  them, \`{a,b}\` alternates, \`[a-z]\` is a class (and \`[id]\` also matches itself). Dot files match like others.
- \`[]\` in a path below stands for an entry of a list, \`*\` for a key of your choice.
`;

/** The page docs/spec.md. */
export function referencePage(rows: readonly FieldRow[] = FIELDS): string {
  const sections = new Map<string, FieldRow[]>(Object.keys(TITLES).map((key) => [key, []]));
  for (const row of rows) {
    const top = row.path.split(/[.[]/)[0] ?? '';
    const key = row.path === 'name' || row.path === 'goal' ? '' : top;
    sections.set(key, [...(sections.get(key) ?? []), row]);
  }
  const parts = [...sections].map(([key, own]) => `## ${TITLES[key] ?? key}\n\n${table(own)}`);
  return `${HEAD}\n${parts.join('\n')}`;
}

function table(rows: readonly FieldRow[]): string {
  const cell = (text: string): string => text.replace(/(?<!\\)\|/g, '\\|');
  const lines = rows.map((row) => {
    const limits = [row.limits, row.unit].filter(Boolean).join('; ');
    const fallback =
      row.default === null ? '**required**' : /^[a-z`]/.test(row.default) ? row.default : `\`${row.default}\``;
    return `| \`${row.path}\` | ${cell(row.type)} | ${cell(fallback)} | ${cell(limits)} | ${cell(row.meaning)} |`;
  });
  // Padded columns would make every line as long as the longest meaning.
  return [
    '<!-- prettier-ignore-start -->',
    '| field | type | default | limits and unit | meaning |',
    '|---|---|---|---|---|',
    ...lines,
    '<!-- prettier-ignore-end -->',
    '',
  ].join('\n');
}
