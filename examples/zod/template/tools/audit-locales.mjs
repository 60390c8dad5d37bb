/**
 * Adds a helper for reviewers of locales: which origins a table has no words for. It calls the kit's lookup by the name it has had since
 * the kit was made; when the compiler or a test says that there is no such function, it looks the present one up by its parameters.
 */
import { readFileSync } from 'node:fs';
import { diagnostics, failureText, giveUp, readTask, write } from './lib/task.mjs';
import { nodes, parseTs } from './lib/source.mjs';

const FILE = 'src/v4/core/locale-audit.ts';
const KIT = 'src/v4/core/locale.ts';
const USUAL = 'getSizing';

const { lastFailure } = await readTask();
const said = failureText(lastFailure);
const gone =
  diagnostics(said).some((one) => one.file === FILE && one.message.includes(`'${USUAL}'`)) ||
  said.includes(`${USUAL} is not a function`);
const lookup = gone ? presentName() : USUAL;
if (gone) console.log(`The kit has no ${USUAL} any more: using ${lookup}.`);

write(
  FILE,
  `import * as kit from "./locale.js";

/** Origins that a locale's table has no words for: what a reviewer of a new locale asks first. */
export function originsWithoutWords<Words>(table: kit.SizeTable<Words>, origins: readonly string[]): string[] {
  return origins.filter((origin) => kit.${lookup}(table, origin) === null);
}
`,
);
write(
  'src/v4/core/tests/locale-audit.test.ts',
  `import { expect, test } from "vitest";
import { originsWithoutWords } from "../locale-audit.js";

test("names the origins that have no words, in the order asked", () => {
  const table = { string: { unit: "characters", verb: "to have" } };
  expect(originsWithoutWords(table, ["set", "string", "array"])).toEqual(["set", "array"]);
  expect(originsWithoutWords(table, ["string"])).toEqual([]);
});
`,
);

function presentName() {
  const text = readFileSync(KIT, 'utf8');
  for (const node of nodes(parseTs(text))) {
    if (node.type !== 'FunctionDeclaration') continue;
    const [table, origin] = node.params.map((one) => text.slice(one.start, one.end));
    if (table?.includes('SizeTable<') && origin?.startsWith('origin')) return node.id.name;
  }
  return giveUp(`${KIT} has no function that takes a table and an origin.`);
}
