#!/usr/bin/env node
/**
 * Makes the demonstration's repository: the TypeScript source inside the published npm package zod, with our tools and gate configuration.
 *
 *   node examples/zod/prepare.mjs --out DIR [--spec small|full --write-spec OUT.json]
 *
 * Prints the repository's path on standard output. Exit codes: 0 done, 2 bad arguments, 3 something missing on the machine.
 *
 * 1. Nothing of zod is ever written into this project's own checkout.
 * 2. The package is taken only if it has the integrity pinned here.
 * 3. The same inputs give the same commit ids; a second call changes nothing.
 */
import { dirname, resolve } from 'node:path';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { MissingOnMachine, packageFile } from './lib/download.mjs';
import { makeRepository, NotOurs } from './lib/repository.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const USAGE = 'Usage: node examples/zod/prepare.mjs --out DIR [--spec small|full --write-spec OUT.json]';

function badArguments(why) {
  console.error(`${why}\n${USAGE}`);
  process.exit(2);
}

function readArguments() {
  try {
    const { values } = parseArgs({
      options: { out: { type: 'string' }, spec: { type: 'string' }, 'write-spec': { type: 'string' } },
    });
    return values;
  } catch (error) {
    return badArguments(error.message);
  }
}

const { out, spec, 'write-spec': specFile } = readArguments();
if (out === undefined) badArguments('--out is missing: where should the repository be?');
if (spec !== undefined && spec !== 'small' && spec !== 'full') badArguments(`There is no spec "${spec}".`);
if ((spec === undefined) !== (specFile === undefined)) badArguments('--spec and --write-spec belong together.');

const repository = resolve(out);
if (`${repository}/`.startsWith(`${resolve(HERE, '../..')}/`))
  badArguments(`--out is inside this project (${repository}): foreign source never goes there.`);

try {
  await makeRepository({ out: repository, tarball: packageFile(), template: `${HERE}/template` });
} catch (error) {
  if (error instanceof NotOurs) badArguments(error.message);
  if (!(error instanceof MissingOnMachine)) throw error;
  console.error(error.message);
  process.exit(3);
}
if (specFile !== undefined) {
  const raw = parse(readFileSync(`${HERE}/${spec}.yaml`, 'utf8'));
  raw.repository.url = pathToFileURL(repository).href;
  mkdirSync(dirname(resolve(specFile)), { recursive: true });
  writeFileSync(specFile, `${JSON.stringify(raw, null, 2)}\n`);
}
console.log(repository);
