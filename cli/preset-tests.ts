/**
 * Preset acceptance tests travel inside the spec: a worker has no access to the submitter's files.
 * `tests: {"path in the repository": "file beside the spec"}` becomes `{"path in the repository": {content: "…"}}`. What is no
 * file below the spec's own folder stays as it is: a path in the base commit, which the validator looks up.
 */
import { readFile } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { errorCode } from './error-code.ts';
import { UserError } from './exit.ts';

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads in the tests of a whole raw spec, in place: those of `tasks[]` and of `fanOut[].task`. @throws UserError */
export async function inlineSpecTests(raw: unknown, folder: string): Promise<void> {
  if (!isObject(raw)) return;
  const failures: string[] = [];
  for (const [index, task] of list(raw['tasks']).entries()) {
    await collect(task, folder, `tasks[${index}]`, failures);
  }
  for (const [index, fan] of list(raw['fanOut']).entries()) {
    await collect(isObject(fan) ? fan['task'] : null, folder, `fanOut[${index}].task`, failures);
  }
  refuse(failures);
}

/** The same for one raw task. @throws UserError */
export async function inlineTests(task: unknown, folder: string): Promise<void> {
  const failures: string[] = [];
  await collect(task, folder, '', failures);
  refuse(failures);
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

async function collect(task: unknown, folder: string, at: string, failures: string[]): Promise<void> {
  const tests = isObject(task) ? task['tests'] : null;
  if (!isObject(tests)) return; // the validator says what is wrong with anything else
  for (const [target, source] of Object.entries(tests)) {
    if (typeof source !== 'string' || isAbsolute(source) || source.split('/').includes('..')) continue;
    try {
      tests[target] = { content: await readFile(resolve(folder, source), 'utf8') };
    } catch (error) {
      const code = errorCode(error) ?? String(error);
      if (code === 'ENOENT' || code === 'ENOTDIR') continue;
      failures.push(`${at === '' ? '' : `${at}.`}tests[${JSON.stringify(target)}]: ${source} cannot be read (${code})`);
    }
  }
}

function refuse(failures: readonly string[]): void {
  if (failures.length === 0) return;
  throw new UserError({
    what: 'Preset acceptance tests cannot be read.',
    why: `${failures.join('\n')}\nTheir paths are relative to the file that names them.`,
  });
}
