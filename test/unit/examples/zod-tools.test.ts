import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const TOOLS = fileURLToPath(new URL('../../../examples/zod/template/tools/', import.meta.url));
const FILE = 'src/v4/locales/xx.ts';
const KIT = 'src/v4/core/locale.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'zod-tools-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const put = (path: string, text: string): void => {
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  writeFileSync(join(dir, path), text);
};
const get = (path: string): string => readFileSync(join(dir, path), 'utf8');

interface Failure {
  readonly cause: string;
  readonly why: string;
  readonly log: string;
}

/** Runs a tool as the `command` engine does: Task Spec and last failure on standard input, working directory the checkout. */
function run(tool: string, args: readonly string[] = [], lastFailure: Failure | null = null): string {
  const env = { ...process.env };
  delete env['SWARMLINE_FAILURE_LOG'];
  const done = spawnSync(process.execPath, [join(TOOLS, tool), ...args], {
    cwd: dir,
    env,
    encoding: 'utf8',
    input: JSON.stringify({ task: { id: 'locale-xx' }, lastFailure }),
  });
  expect(done.stderr).toBe('');
  expect(done.status).toBe(0);
  return done.stdout;
}
const red = (log: string): Failure => ({ cause: 'gate-red', why: 'The gate was red.', log });

function locale(words: string, extra = '', type = 'TypeDictionary[issue.expected] ?? issue.expected'): string {
  return `import type { $ZodStringFormats } from "../core/checks.js";
import type * as errors from "../core/errors.js";
import * as util from "../core/util.js";

const error: () => errors.$ZodErrorMap = () => {
  const Sizable: Record<string, ${words}> = {
    set: things,
  };

  function getSizing(origin: string): ${words} | null {
    return Sizable[origin] ?? null;
  }

  const FormatDictionary: {
    [k in $ZodStringFormats | (string & {})]?: string;
  } = {};

  const TypeDictionary: {
    [k in errors.$ZodInvalidTypeExpected | (string & {})]?: string;
  } = {};
${extra}
  return (issue) => {
    const sizing = getSizing(issue.origin);
    return util.join(${type}, sizing, FormatDictionary[issue.format]);
  };
};

export default function (): { localeError: errors.$ZodErrorMap } {
  return { localeError: error() };
}
`;
}

describe('the codemod of a locale file', () => {
  it('moves tables and look-ups to the kit, and leaves every other byte', () => {
    put(FILE, locale('{ unit: string; verb: string }'));
    run('use-locale-kit.mjs', [FILE]);
    expect(get(FILE)).toBe(`import type * as errors from "../core/errors.js";
import * as kit from "../core/locale.js";
import * as util from "../core/util.js";

const error: () => errors.$ZodErrorMap = () => {
  const Sizable: kit.SizeTable = {
    set: things,
  };

  const FormatDictionary: kit.FormatNames = {};

  const TypeDictionary: kit.TypeNames = {};

  return (issue) => {
    const sizing = kit.getSizing(Sizable, issue.origin);
    return util.join(kit.getTypeName(TypeDictionary, issue.expected), sizing, FormatDictionary[issue.format]);
  };
};

export default function (): kit.Locale {
  return { localeError: error() };
}
`);
  });

  it('takes the words of every table for the usual ones, until the compiler rejects it', () => {
    put(FILE, locale('{ unit: string; subject: string }'));
    run('use-locale-kit.mjs', [FILE]);
    expect(get(FILE)).toContain('const Sizable: kit.SizeTable = {');

    put(FILE, locale('{ unit: string; subject: string }'));
    const log = `${FILE}(7,32): error TS2353: Object literal may only specify known properties, and 'subject' does not exist in type 'SizeWords'.`;
    run('use-locale-kit.mjs', [FILE], red(log));
    expect(get(FILE)).toContain('const Sizable: kit.SizeTable<{ unit: string; subject: string }> = {');
  });

  it('keeps the shape of the words when the linter finds its type unused', () => {
    put(FILE, locale('OwnWords'));
    run(
      'use-locale-kit.mjs',
      [FILE],
      red(`${FILE}:25:11: Interface 'OwnWords' is declared but never used. [Error/eslint(no-unused-vars)]`),
    );
    expect(get(FILE)).toContain('kit.SizeTable<OwnWords>');
  });

  it('is not moved by what was said about another file', () => {
    put(FILE, locale('OwnWords'));
    run('use-locale-kit.mjs', [FILE], red(`src/v4/locales/yy.ts(7,32): error TS2353: Object literal …`));
    expect(get(FILE)).toContain('const Sizable: kit.SizeTable = {');
  });

  it('replaces a look-up of another behaviour, until the tests of the messages fail', () => {
    const own = `
  function getTypeName(type: string, input?: unknown): string {
    if (Number.isNaN(input)) return "NaN";
    return TypeDictionary[type] ?? type;
  }
`;
    const text = locale('{ unit: string; verb: string }', own, 'getTypeName(issue.expected, issue.input)');
    put(FILE, text);
    run('use-locale-kit.mjs', [FILE]);
    expect(get(FILE)).toContain('util.join(kit.getTypeName(TypeDictionary, issue.expected), sizing');
    expect(get(FILE)).not.toContain('function getTypeName');

    put(FILE, text);
    const log =
      '\u001b[41m FAIL \u001b[49m |locales| src/v4/core/tests/locales/messages.test.ts > xx says what it said when its messages were recorded';
    run('use-locale-kit.mjs', [FILE], red(log));
    expect(get(FILE)).toContain('util.join(getTypeName(issue.expected, issue.input), sizing');
    expect(get(FILE)).toContain('function getTypeName');
    expect(get(FILE)).toContain('kit.getSizing(Sizable, issue.origin)');

    put(FILE, text);
    const orphan = `${FILE}:12:10: Function 'pluralOf' is declared but never used. [Error/eslint(no-unused-vars)]`;
    run('use-locale-kit.mjs', [FILE], red(orphan));
    expect(get(FILE)).toContain('function getTypeName');
  });
});

describe('the list of locale names', () => {
  const INDEX = 'src/v4/locales/index.ts';
  const index = 'export { default as de } from "./de.js";\nexport { default as ptBR } from "./pt-BR.js";\n';

  it('is exported from the index as well, which is not this task’s to change', () => {
    put(INDEX, index);
    run('name-locales.mjs');
    expect(get(INDEX)).toContain('localeNames');
    expect(get('src/v4/core/locale-names.ts')).toContain('"de",\n  "ptBR",');
  });

  it('leaves the index alone once that was refused', () => {
    put(INDEX, index);
    run('name-locales.mjs', [], { cause: 'scope', why: `The task may not change ${INDEX}.`, log: '' });
    expect(get(INDEX)).toBe(index);
    expect(get('src/v4/core/locale-names.ts')).toContain('"de"');
  });
});

describe('two tasks that break each other', () => {
  const AUDIT = 'src/v4/core/locale-audit.ts';
  const user = 'import * as kit from "../core/locale.js";\nconst words = kit.getSizing(Sizable, issue.origin);\n';
  const gone = red(`${AUDIT}(5,51): error TS2339: Property 'getSizing' does not exist on type 'typeof import("…")'.`);

  beforeEach(() => {
    run('add-locale-kit.mjs');
    put('src/v4/locales/index.ts', 'export { default as xx } from "./xx.js";\n');
    put(FILE, user);
  });

  it('the renaming changes the kit and all users that are its own', () => {
    run('rename-lookup.mjs');
    expect(get(KIT)).toContain('export function wordsFor<Words>(');
    expect(get(KIT)).not.toContain('getSizing');
    expect(get(FILE)).toBe(user.replace('getSizing', 'wordsFor'));
    expect(get('src/v4/core/tests/locale.test.ts')).not.toContain('getSizing');
  });

  it('the renaming keeps the old name as an alias when told that somebody else uses it', () => {
    run('rename-lookup.mjs', [], { ...gone, cause: 'ejected' });
    expect(get(KIT)).toContain('export const getSizing: typeof wordsFor = wordsFor;');
    expect(get(FILE)).toContain('kit.wordsFor');
  });

  it('the new user calls the look-up by its usual name, and by its present one when told that this is gone', () => {
    run('audit-locales.mjs');
    expect(get(AUDIT)).toContain('kit.getSizing(table, origin)');
    run('rename-lookup.mjs');
    run('audit-locales.mjs', [], { ...gone, cause: 'ejected' });
    expect(get(AUDIT)).toContain('kit.wordsFor(table, origin)');
  });
});

it('the guard holds the locale files that use the kit, and fails where none does', () => {
  put(FILE, 'import * as kit from "../core/locale.js";\n');
  put('src/v4/locales/yy.ts', 'export {};\n');
  run('guard-locales.mjs');
  const guard = get('src/v4/core/tests/locales/kit-use.test.ts');
  expect(guard).toContain('"xx.ts"');
  expect(guard).not.toContain('"yy.ts"');
});

it('the page about the kit lists its exports with what their comments say', () => {
  run('add-locale-kit.mjs');
  put(FILE, 'import * as kit from "../core/locale.js";\n');
  run('describe-kit.mjs');
  expect(get('src/v4/locales/README.md')).toContain('| `Locale` | What every locale module returns. |');
  expect(get('src/v4/locales/README.md')).toContain('Of 1 files 1 use the kit: xx.');
});
