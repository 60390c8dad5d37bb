/**
 * Adds the list of locale names as data and as a type. It would be handy to have it beside the locales, so it is exported from their index
 * as well, unless that was refused: files that the last refusal names are left alone.
 */
import { readFileSync } from 'node:fs';
import { failureText, readTask, write } from './lib/task.mjs';

const INDEX = 'src/v4/locales/index.ts';
const { lastFailure } = await readTask();
const refused = lastFailure?.cause === 'scope' ? failureText(lastFailure) : '';

const index = readFileSync(INDEX, 'utf8');
const names = [...index.matchAll(/export \{ default as (\w+) \}/g)].map(([, name]) => name);

write(
  'src/v4/core/locale-names.ts',
  `/** Names of all locales, as they are exported from "zod/locales". */
export const localeNames = [
${names.map((name) => `  "${name}",`).join('\n')}
] as const;

export type LocaleName = (typeof localeNames)[number];

export function isLocaleName(name: string): name is LocaleName {
  return (localeNames as readonly string[]).includes(name);
}
`,
);
write(
  'src/v4/core/tests/locale-names.test.ts',
  `import { expect, test } from "vitest";
import * as locales from "../../locales/index.js";
import { isLocaleName, localeNames } from "../locale-names.js";

test("the list names every locale, and nothing else", () => {
  expect(Object.keys(locales).sort()).toEqual([...localeNames].sort());
});

test("a name is told from what is none", () => {
  expect(isLocaleName("en")).toBe(true);
  expect(isLocaleName("xx")).toBe(false);
});
`,
);
if (refused.includes(INDEX)) console.log(`${INDEX} is outside the task's scope: left alone.`);
else write(INDEX, `${index}export { localeNames, isLocaleName, type LocaleName } from "../core/locale-names.js";\n`);
