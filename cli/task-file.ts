/** A task, or a part of one, from a YAML or JSON file; the files that it names as preset tests are read in. */
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { LineCounter, parseDocument } from 'yaml';
import { errorCode } from './error-code.ts';
import { UserError } from './exit.ts';
import { inlineTests } from './preset-tests.ts';

/** JSON is YAML, so one reader serves both. @throws UserError */
export async function readTaskFile(path: string): Promise<Record<string, unknown>> {
  const text = await readText(path);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true });
  const [first] = document.errors;
  if (first !== undefined) {
    const { line } = lines.linePos(first.pos[0]);
    throw new UserError({ what: `${path}:${line} is neither YAML nor JSON.`, why: first.message.split('\n')[0] });
  }
  const value: unknown = document.toJS({ maxAliasCount: 100 });
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UserError({
      what: `${path} does not hold a task.`,
      why: 'A task is a mapping: goal, files, acceptance, …',
    });
  }
  const raw: Record<string, unknown> = { ...value };
  await inlineTests(raw, dirname(path));
  return raw;
}

/** @throws UserError when the file cannot be read */
export async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const code = errorCode(error) ?? String(error);
    const why = code === 'ENOENT' ? 'There is no such file.' : code === 'EISDIR' ? 'It is a folder.' : code;
    throw new UserError({ what: `${path} cannot be read.`, why }, { cause: error });
  }
}
