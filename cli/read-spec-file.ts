/** A spec from a file (`-`: standard input), with preset tests and hidden files read in, and problems with their lines. */
import { dirname } from 'node:path';
import { text as streamText } from 'node:stream/consumers';
import type { Problem } from '../spec/model.ts';
import { formatOf, readSpec } from '../spec/read.ts';
import type { SpecFormat } from '../spec/read.ts';
import { UserError } from './exit.ts';
import { inlineHiddenFiles } from './hidden-files.ts';
import { inlineSpecTests } from './preset-tests.ts';
import { readText } from './task-file.ts';

export interface SpecFile {
  readonly path: string;
  /** What is submitted: the contents of preset tests and hidden files are in it. */
  readonly raw: unknown;
  readonly problems: readonly Problem[];
  lineOf(path: string): number | null;
}

/** @throws UserError when the file cannot be read, or its name says no format */
export async function readSpecFile(path: string): Promise<SpecFile> {
  const format = path === '-' ? null : formatOf(path);
  if (format === null && path !== '-') {
    throw new UserError({
      what: `${path} is no spec that can be read.`,
      why: 'The name must end in .json, .yaml, .yml or .md.',
    });
  }
  const text = path === '-' ? await streamText(process.stdin) : await readText(path);
  const { raw, problems, lineOf } = readSpec(text, format ?? guess(text));
  const folder = path === '-' ? '.' : dirname(path);
  await inlineSpecTests(raw, folder);
  await inlineHiddenFiles(raw, folder);
  return { path, raw, problems, lineOf };
}

/** Of standard input, which has no name. */
const guess = (text: string): SpecFormat =>
  /^\s*\{/.test(text) ? 'json' : /^\ufeff?---\s*\n[\s\S]*?\n---\s*(\n|$)/.test(text) ? 'markdown' : 'yaml';

/** `SPEC:12 tasks[3].files.allow[0]: …`, a line each. Pure. */
export function problemLines(file: Pick<SpecFile, 'path' | 'lineOf'>, problems: readonly Problem[]): string[] {
  return problems.map(({ path, message, line }) => {
    const at = line ?? (path === '' ? null : file.lineOf(path));
    const where = at === null ? file.path : `${file.path}:${at}`;
    return `${where} ${path === '' ? '' : `${path}: `}${message}`;
  });
}
