/**
 * Records what every locale says today about a list of issues, and adds the test that holds it to that. Most locales have no test of their
 * own: without this, a refactor of them would be judged by nothing.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { write } from './lib/task.mjs';

const TESTS = 'src/v4/core/tests/locales';

write(
  `${TESTS}/messages/issues.ts`,
  `/** Issues of every kind that a locale speaks about: sizes of every origin, with and without the bound, in several numbers. */
const origins = ["string", "array", "set", "map", "file", "number", "bigint", "date", "unknown_origin"];
const formats = ["email", "url", "uuid", "datetime", "ipv4", "base64", "json_string", "jwt", "credit_card", "unknown_format"];
const types: [expected: string, input: unknown][] = [
  ["string", 7],
  ["number", "x"],
  ["number", Number.NaN],
  ["number", Number.POSITIVE_INFINITY],
  ["nan", 1],
  ["array", null],
  ["object", undefined],
  ["Date", []],
  ["map", new Set()],
  ["boolean", {}],
];

function sizes(origin: string): object[] {
  return [0, 1, 2, 5, 11, 21].flatMap((bound) =>
    [true, false].flatMap((inclusive) => [
      { code: "too_small", origin, minimum: bound, inclusive, input: null },
      { code: "too_big", origin, maximum: bound, inclusive, input: null },
    ])
  );
}

export const issues: object[] = [
  ...types.map(([expected, input]) => ({ code: "invalid_type", expected, input })),
  { code: "invalid_value", values: ["a"], input: "b" },
  { code: "invalid_value", values: ["a", 1, true], input: "b" },
  ...origins.flatMap(sizes),
  ...formats.map((format) => ({ code: "invalid_format", format, input: "x" })),
  { code: "invalid_format", format: "starts_with", prefix: "pre", input: "x" },
  { code: "invalid_format", format: "ends_with", suffix: "suf", input: "x" },
  { code: "invalid_format", format: "includes", includes: "mid", input: "x" },
  { code: "invalid_format", format: "regex", pattern: "/x/", input: "y" },
  { code: "not_multiple_of", divisor: 5, input: 7 },
  { code: "unrecognized_keys", keys: ["a"], input: {} },
  { code: "unrecognized_keys", keys: ["a", "b"], input: {} },
  ...origins.map((origin) => ({ code: "invalid_key", origin, input: null })),
  ...origins.map((origin) => ({ code: "invalid_element", origin, input: null })),
  { code: "invalid_union", input: null },
  { code: "custom", input: null },
];

type Say = (issue: object) => unknown;

/** Message by number of the issue. */
export function messages(localeError: unknown): string[] {
  return issues.map((issue) => String((localeError as Say)({ path: [], ...issue })));
}
`,
);

write(
  `${TESTS}/messages.test.ts`,
  `import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as locales from "../../../locales/index.js";
import { issues, messages } from "./messages/issues.js";

test.each(Object.entries(locales))("%s says what it said when its messages were recorded", (name, locale) => {
  const file = new URL(\`./messages/\${name}.json\`, import.meta.url);
  expect(existsSync(file), \`no record of \${name}: run tools/record-messages.mjs\`).toBe(true);
  const recorded: string[] = JSON.parse(readFileSync(file, "utf8"));
  const changed = messages(locale().localeError).flatMap((said, at) =>
    said === recorded[at] ? [] : [{ issue: JSON.stringify(issues[at]), recorded: recorded[at], said }]
  );
  expect(changed.slice(0, 5)).toEqual([]);
  expect(recorded.length).toBe(issues.length);
});
`,
);

const out = join(mkdtempSync(join(tmpdir(), 'messages-')), 'all.mjs');
await build({
  stdin: {
    contents: 'export * as locales from "../../../locales/index.js"; export { messages } from "./messages/issues.js";',
    resolveDir: TESTS,
    loader: 'ts',
  },
  bundle: true,
  format: 'esm',
  platform: 'node',
  outfile: out,
  logLevel: 'error',
});
const { locales, messages } = await import(pathToFileURL(out).href);
for (const [name, locale] of Object.entries(locales)) {
  write(`${TESTS}/messages/${name}.json`, `${JSON.stringify(messages(locale().localeError), null, 1)}\n`);
}
