/** Loads what the build emitted and uses it: every locale must say something about a wrong type. Argument: the output directory. */
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const out = resolve(process.argv[2] ?? '/tmp/zod-build');
writeFileSync(`${out}/package.json`, '{"type": "module"}\n');
const z = await import(pathToFileURL(`${out}/index.js`).href);

let locales = 0;
for (const [name, locale] of Object.entries(z.locales)) {
  z.config(locale());
  const result = z.string().safeParse(7);
  // Asked directly: for a locale that says nothing, zod itself would say something.
  const message = locale().localeError({ code: 'invalid_type', expected: 'string', input: 7, path: [] });
  if (result.success || typeof message !== 'string' || message === '' || message.includes('undefined')) {
    console.error(`The built locale "${name}" says ${JSON.stringify(message)} about a number where text is wanted.`);
    process.exit(1);
  }
  locales += 1;
}
if (locales < 60) {
  console.error(`The build has only ${locales} locales.`);
  process.exit(1);
}
console.log(`The build loads; ${locales} locales answer.`);
