/**
 * Task templates over files: one task for each file (or chunk of files) of the base commit that the globs match.
 *
 * Placeholders: `{file}`, `{dir}`, `{stem}` (name without its last extension) with one file a task; `{files}` with any number (an
 * entry of a list that is exactly `{files}` becomes an entry per file, inside text they are joined with ", "); `{n}` counts from 1.
 * Inside ids what is substituted is lower-cased and other characters become "-"; inside globs it is escaped, so that a file called
 * `[id].ts` means itself.
 */
import type { RawFanOut, RawTaskBody } from './fields-task.ts';
import { anyGlob, escapeGlob } from './globs.ts';
import { safeId } from './names.ts';

export interface Expanded {
  readonly id: string;
  /** The files that the task stands for. */
  readonly files: readonly string[];
  readonly task: RawTaskBody;
}

const PLACEHOLDER = /\{(file|files|dir|stem|n)\}/g;

/** The name by which dependsOn means all tasks of a fan-out. */
export function fanOutName(fanOut: Pick<RawFanOut, 'name' | 'id'>): string {
  return fanOut.name !== '' ? fanOut.name : safeId(fanOut.id.split('{')[0] ?? '');
}

/** The files that a fan-out is over, in order. */
export function fanOutFiles(over: RawFanOut['over'], files: readonly string[]): string[] {
  const wanted = anyGlob(over.files);
  const unwanted = anyGlob(over.except);
  return files.filter((file) => wanted(file) && !unwanted(file)).toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

/** The tasks of a fan-out, at most `limit` of them. */
export function expandFanOut(fanOut: RawFanOut, files: readonly string[], limit: number): Expanded[] {
  const matched = fanOutFiles(fanOut.over, files);
  const out: Expanded[] = [];
  for (let start = 0; start < matched.length && out.length < limit; start += fanOut.over.chunk) {
    const chunk = matched.slice(start, start + fanOut.over.chunk);
    out.push(expandOne(fanOut, chunk, out.length + 1));
  }
  return out;
}

/** One task of a fan-out, over these files. */
export function expandOne(fanOut: RawFanOut, files: readonly string[], n: number): Expanded {
  const as = (write: (value: string) => string) => (text: string) => substitute(text, files, n, write);
  const plain = as((value) => value);
  const id = as((value) => safeId(value));
  const glob = as(escapeGlob);
  const every = (entries: readonly string[], each: (text: string) => string, one: (file: string) => string): string[] =>
    entries.flatMap((entry) => (entry === '{files}' ? files.map(one) : [each(entry)]));
  const globs = (entries: readonly string[]): string[] => every(entries, glob, escapeGlob);
  const { task } = fanOut;
  return {
    id: id(fanOut.id),
    files,
    task: {
      ...task,
      goal: plain(task.goal),
      interface: plain(task.interface),
      files: {
        allow: globs(task.files.allow),
        forbid: globs(task.files.forbid),
        reference: globs(task.files.reference),
      },
      acceptance: task.acceptance.map(plain),
      tests: Object.fromEntries(
        Object.entries(task.tests).map(([path, test]) => [
          plain(path),
          typeof test === 'string' ? plain(test) : { content: plain(test.content) },
        ]),
      ),
      dependsOn: task.dependsOn.map(id),
      run: task.run === null ? null : every(task.run, plain, (file) => file),
      script: task.script.map((attempt) => ({
        ...attempt,
        edits: attempt.edits.map((edit) => ({
          path: plain(edit.path),
          content: edit.content === null ? null : plain(edit.content),
        })),
      })),
    },
  };
}

function substitute(text: string, files: readonly string[], n: number, write: (value: string) => string): string {
  const first = files[0] ?? '';
  const name = first.slice(first.lastIndexOf('/') + 1);
  const values: Record<string, () => string> = {
    file: () => write(first),
    files: () => files.map(write).join(', '),
    dir: () => write(first.includes('/') ? first.slice(0, first.lastIndexOf('/')) : '.'),
    stem: () => write(name.replace(/(?<=.)\.[^.]*$/, '')),
    n: () => String(n),
  };
  return text.replace(PLACEHOLDER, (_, key: string) => (values[key] as () => string)());
}

/** The placeholders that a template uses, anywhere. */
export function placeholdersIn(value: unknown): Set<string> {
  const found = new Set<string>();
  const visit = (part: unknown): void => {
    if (typeof part === 'string') for (const match of part.matchAll(PLACEHOLDER)) found.add(match[1] as string);
    else if (Array.isArray(part)) part.forEach(visit);
    else if (typeof part === 'object' && part !== null) {
      for (const [key, entry] of Object.entries(part)) {
        visit(key);
        visit(entry);
      }
    }
  };
  visit(value);
  return found;
}
