/** Writes the page for people who add or change a locale, from the kit's own doc comments and the locale files. */
import { readdirSync, readFileSync } from 'node:fs';
import { parseTs } from './lib/source.mjs';
import { write } from './lib/task.mjs';

const LOCALES = 'src/v4/locales';
const exported = parseTs(readFileSync('src/v4/core/locale.ts', 'utf8')).body.flatMap((node) => {
  if (node.type !== 'ExportNamedDeclaration' || node.declaration === null) return [];
  const { declaration } = node;
  const name = declaration.id?.name ?? declaration.declarations[0].id.name;
  const comment =
    node.leadingComments
      ?.at(-1)
      ?.value.replace(/^\*|\s*\n\s*\*/g, ' ')
      .trim() ?? '';
  return [`| \`${name}\` | ${comment} |`];
});
const files = readdirSync(LOCALES)
  .filter((name) => name.endsWith('.ts') && name !== 'index.ts')
  .sort();
const usesKit = files.filter((name) => readFileSync(`${LOCALES}/${name}`, 'utf8').includes('"../core/locale.js"'));

write(
  `${LOCALES}/README.md`,
  `# Locales

One file for each language. What they share is in \`../core/locale.ts\`; a file holds only words and grammar of its own.

| from the kit | what it is |
|---|---|
${exported.join('\n')}

Of ${files.length} files ${usesKit.length} use the kit: ${usesKit.map((name) => name.replace('.ts', '')).join(', ')}.

After a deliberate change of messages, record them again: \`node tools/record-messages.mjs\`. To add a locale, copy \`en.ts\`, translate, export
it from \`index.ts\`, and record its messages.
`,
);
