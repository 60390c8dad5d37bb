/**
 * 1. The tests import the package by its own name. `@zod/source` must come first among the conditions, or they would test built files and
 *    never see a change of the source.
 * 2. node_modules may be read-only and above the checkout: the cache is in /tmp, and vitest must be called with `--configLoader native`
 *    (its default loader writes into node_modules).
 * 3. A process of its own for each test file costs more than the tests themselves. Test files that set or read state of the whole process
 *    need one; the project "shared" holds those that do not, to be run with --no-isolate.
 * 4. Every test file is in exactly one project.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const conditions = ['@zod/source', 'module', 'node', 'development|production', 'import', 'default'];

/** What a test file mentions when it depends on, or changes, state of the process: configuration, globals, prototypes, mocks, bundles. */
const STATEFUL = /\bconfig\(|\bvi\.|globalThis|\.prototype\b|process\.|jitless|node:|localeError|by default|esbuild/;

const root = fileURLToPath(new URL('.', import.meta.url));
const tests = readdirSync(`${root}src`, { recursive: true })
  .map((path) => `src/${path}`)
  .filter((path) => path.endsWith('.test.ts'))
  .sort();

/** The first that fits a file has it. */
const PROJECTS = [
  ['locales', (path) => path.startsWith('src/v4/core/tests/locale')],
  ['core', (path) => path.startsWith('src/v4/core/')],
  ['isolated', (path) => STATEFUL.test(readFileSync(root + path, 'utf8'))],
  ['shared', () => true],
];
const projectOf = (path) => PROJECTS.find(([, fits]) => fits(path))?.[0];

export default defineConfig({
  cacheDir: '/tmp/vitest-cache',
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    watch: false,
    testTimeout: 60_000,
    projects: PROJECTS.map(([name]) => ({
      extends: true,
      test: { name, include: tests.filter((path) => projectOf(path) === name) },
    })),
  },
});
