/** Adds the shared kit of the locale files, and its test. It is used by the locale files alone, so nothing exports it to users. */
import { write } from './lib/task.mjs';

write(
  'src/v4/core/locale.ts',
  `import type { $ZodStringFormats } from "./checks.js";
import type * as errors from "./errors.js";

/** What every locale module returns. */
export interface Locale {
  localeError: errors.$ZodErrorMap;
}

/** How a language counts what a thing has: "to have 3 items". Languages with more grammar give a shape of their own. */
export interface SizeWords {
  unit: string;
  verb: string;
}

/** Words by origin ("string", "array", …); an origin without words is spoken of by its value alone. */
export type SizeTable<Words = SizeWords> = Record<string, Words>;

/** What a language calls a string format. A format without a name is shown as it is. */
export type FormatNames = {
  [k in $ZodStringFormats | (string & {})]?: string;
};

/** What a language calls a type. A type without a name is shown as it is. */
export type TypeNames = {
  [k in errors.$ZodInvalidTypeExpected | (string & {})]?: string;
};

/** The words for the size of an origin, or null where the table has none. */
export function getSizing<Words>(table: SizeTable<Words>, origin: string): Words | null {
  return table[origin] ?? null;
}

/** The name of a type, or the type itself where the table has none. */
export function getTypeName(names: TypeNames, type: string): string {
  return names[type] ?? type;
}
`,
);

write(
  'src/v4/core/tests/locale.test.ts',
  `import { expect, test } from "vitest";
import * as kit from "../locale.js";

test("an origin has the words of the table, and one without words has none", () => {
  const table: kit.SizeTable = { array: { unit: "items", verb: "to have" } };
  expect(kit.getSizing(table, "array")).toEqual({ unit: "items", verb: "to have" });
  expect(kit.getSizing(table, "date")).toBe(null);
});

test("a language with more grammar gives its words a shape of its own", () => {
  const table: kit.SizeTable<{ one: string; many: string }> = { array: { one: "item", many: "items" } };
  expect(kit.getSizing(table, "array")?.many).toBe("items");
});

test("a type without a name is called what it is", () => {
  expect(kit.getTypeName({ nan: "NaN" }, "nan")).toBe("NaN");
  expect(kit.getTypeName({ nan: "NaN" }, "map")).toBe("map");
});
`,
);
