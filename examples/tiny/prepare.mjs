#!/usr/bin/env node
/**
 * node examples/tiny/prepare.mjs DIR [--spec OUT.json]
 *
 * Makes the tiny repository of this example in DIR (which must not exist or be empty), prints its path, and with --spec writes
 * the spec as JSON with that repository's address, ready for `temporal workflow start`. The same commit every time.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { repositoryGit } from '../lib/repository-git.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const { values, positionals } = parseArgs({ allowPositionals: true, options: { spec: { type: 'string' } } });
const [target] = positionals;
if (target === undefined || positionals.length > 1) fail('usage: node examples/tiny/prepare.mjs DIR [--spec OUT.json]');
const repository = resolve(target);
if (existsSync(repository) && readdirSync(repository).length > 0)
  fail(`${repository} is not empty; name a new directory`);

mkdirSync(repository, { recursive: true });
cpSync(join(here, 'template'), repository, { recursive: true });
const git = repositoryGit(repository, {
  name: 'Tiny Shop',
  email: 'tiny-shop@example.org',
  date: '2026-01-01T00:00:00Z',
});
await git.init();
await git.commitAll('A tiny shop');
if (values.spec !== undefined) {
  const spec = parse(readFileSync(join(here, 'spec.yaml'), 'utf8'));
  spec.repository.url = pathToFileURL(repository).href;
  writeFileSync(values.spec, `${JSON.stringify(spec, null, 2)}\n`);
}
console.log(repository);

function fail(message) {
  console.error(message);
  process.exit(2);
}
