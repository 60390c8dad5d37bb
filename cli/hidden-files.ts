/**
 * The suite that no agent sees (`policy.evaluate.files`) travels inside the spec, and nowhere else: `{"path": "file or folder"}` becomes
 * `{"path": {content: "…"}}`, a folder an entry for each file in it.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { errorCode } from './error-code.ts';
import { UserError } from './exit.ts';

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** In place. @throws UserError */
export async function inlineHiddenFiles(raw: unknown, folder: string): Promise<void> {
  const policy = isObject(raw) ? raw['policy'] : null;
  const evaluate = isObject(policy) ? policy['evaluate'] : null;
  const files = isObject(evaluate) ? evaluate['files'] : null;
  if (!isObject(files)) return; // the validator says what is wrong with anything else
  const failures: string[] = [];
  for (const [target, source] of Object.entries(files)) {
    if (typeof source !== 'string') continue;
    try {
      const read = await readAll(resolve(folder, source), target);
      delete files[target];
      for (const [path, content] of read) files[path] ??= { content };
    } catch (error) {
      const why = error instanceof NoText ? error.message : `cannot be read (${errorCode(error) ?? String(error)})`;
      failures.push(`policy.evaluate.files[${JSON.stringify(target)}]: ${source} ${why}`);
    }
  }
  if (failures.length > 0)
    throw new UserError({
      what: 'Files of policy.evaluate cannot be read.',
      why: `${failures.join('\n')}\nTheir paths are relative to the spec.`,
    });
}

class NoText extends Error {}

async function readAll(source: string, target: string): Promise<[path: string, content: string][]> {
  if (!(await stat(source)).isDirectory()) {
    const bytes = await readFile(source);
    const content = bytes.toString('utf8');
    if (content.includes('\0') || !Buffer.from(content, 'utf8').equals(bytes))
      throw new NoText(`(${target}) is no text`);
    return [[target, content]];
  }
  const names = (await readdir(source)).toSorted();
  return (
    await Promise.all(names.map((name) => readAll(join(source, name), `${target.replace(/\/$/, '')}/${name}`)))
  ).flat();
}
