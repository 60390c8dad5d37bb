/** Adds the ratchet: a locale file that uses the kit does not grow the boilerplate back. Holds those that use it today. */
import { readdirSync, readFileSync } from 'node:fs';
import { giveUp, write } from './lib/task.mjs';

const LOCALES = 'src/v4/locales';
const migrated = readdirSync(LOCALES)
  .filter((name) => name.endsWith('.ts') && readFileSync(`${LOCALES}/${name}`, 'utf8').includes('"../core/locale.js"'))
  .sort();
if (migrated.length === 0) giveUp('No locale file uses the kit yet: there is nothing to hold.');

write(
  'src/v4/core/tests/locales/kit-use.test.ts',
  `import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
// For the module graph: a change of any locale runs this test.
import "../../../locales/index.js";

const migrated = [
${migrated.map((name) => `  ${JSON.stringify(name)},`).join('\n')}
];

test.each(migrated)("%s takes tables and lookups from the kit", (name) => {
  const source = readFileSync(new URL(\`../../../locales/\${name}\`, import.meta.url), "utf8");
  expect(source).toContain('"../core/locale.js"');
  expect(source, "a table typed by hand").not.toMatch(/\\[k in (?:\\$ZodStringFormats|errors\\.\\$ZodInvalidTypeExpected)[^\\]]*\\]\\?: string/);
  expect(source, "a lookup of its own").not.toMatch(/return Sizable\\[origin\\] \\?\\? null;\\n {2}\\}\\n\\n {2}const FormatDictionary/);
});
`,
);
