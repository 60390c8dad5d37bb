/**
 * A hub's refs read from its files. Starting a process from a worker of 150 MB takes 9 ms, and a merge looks at refs several times.
 *
 * 1. It answers what git answers: the file of a ref first, then packed-refs. git writes packed-refs before it deletes the files that
 *    it packed, so a ref on its way from one to the other is in one of them.
 * 2. For hubs only (hub-create.ts): refs in files, none of them symbolic but HEAD. Whatever else is found there throws HubError.
 */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { HubError } from './errors.ts';

/** Refs by their full names and what they point at; what is not there is absent. */
export async function readRefs(gitDir: string, ...names: readonly string[]): Promise<Map<string, string>> {
  const found = await readLoose(gitDir, names);
  const rest = new Set(names.filter((name) => !found.has(name)));
  return rest.size === 0 ? found : new Map([...found, ...(await readPacked(gitDir, (name) => rest.has(name)))]);
}

export async function readRef(gitDir: string, name: string): Promise<string | null> {
  return (await readRefs(gitDir, name)).get(name) ?? null;
}

/** Every ref below a prefix that ends with a slash. */
export async function listRefs(gitDir: string, prefix: string): Promise<Map<string, string>> {
  const files = await orNothing(readdir(join(gitDir, prefix), { recursive: true }));
  const names = (files ?? []).filter((name) => !name.endsWith('.lock')).map((name) => prefix + name);
  const found = await readLoose(gitDir, names);
  for (const [name, oid] of await readPacked(gitDir, (packed) => packed.startsWith(prefix))) {
    if (!found.has(name)) found.set(name, oid);
  }
  return found;
}

async function readLoose(gitDir: string, names: readonly string[]): Promise<Map<string, string>> {
  const texts = await Promise.all(names.map((name) => orNothing(readFile(join(gitDir, name), 'latin1'))));
  const found = new Map<string, string>();
  for (const [at, text] of texts.entries()) {
    if (text === null) continue;
    const oid = /^([0-9a-f]{40})\n?$/.exec(text)?.[1];
    if (oid === undefined) throw new HubError(`The hub's ref ${names[at]} is no object id`);
    found.set(names[at]!, oid);
  }
  return found;
}

/** Lines are `<oid> <name>`; those with `#` and `^` say things about others. */
async function readPacked(gitDir: string, wanted: (name: string) => boolean): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const line of ((await orNothing(readFile(join(gitDir, 'packed-refs'), 'utf8'))) ?? '').split('\n')) {
    const [, oid, name] = /^([0-9a-f]{40}) (.+)$/.exec(line) ?? [];
    if (oid !== undefined && name !== undefined && wanted(name)) found.set(name, oid);
  }
  return found;
}

/** A file that is not there, or that is a directory, is no ref. */
async function orNothing<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}
