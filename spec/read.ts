/**
 * From the text of a spec (JSON, YAML, Markdown with front matter) to its data, with the line of every field. Pure: the caller
 * reads files. What is wrong with the data itself is validate.ts's to say.
 */
import { readMarkdown } from './read-markdown.ts';
import { readYaml, type ReadSpec } from './read-yaml.ts';

export type { ReadSpec } from './read-yaml.ts';

export const SPEC_FORMATS = ['json', 'yaml', 'markdown'] as const;
export type SpecFormat = (typeof SPEC_FORMATS)[number];

/** The format that a file name says, or null. */
export function formatOf(fileName: string): SpecFormat | null {
  if (/\.json$/i.test(fileName)) return 'json';
  if (/\.ya?ml$/i.test(fileName)) return 'yaml';
  if (/\.(md|markdown)$/i.test(fileName)) return 'markdown';
  return null;
}

/** Reads a spec. With problems, `raw` is what could be understood (null: nothing). */
export function readSpec(text: string, format: SpecFormat): ReadSpec {
  const clean = text.replace(/^\ufeff/, '');
  if (clean.trim() === '')
    return { raw: null, problems: [{ path: '', message: 'the file is empty' }], lineOf: () => null };
  if (format === 'yaml') return readYaml(clean);
  if (format === 'markdown') return readMarkdown(clean);
  return readJson(clean);
}

function readJson(text: string): ReadSpec {
  // The YAML reader knows lines and doubled keys, but only JSON's own parser decides what JSON is.
  let yaml: ReadSpec | null = null;
  const lines = (): ReadSpec => (yaml ??= readYaml(text));
  try {
    const raw: unknown = JSON.parse(text);
    const doubled =
      text.length < 500_000 ? lines().problems.filter((problem) => problem.message.includes('twice')) : [];
    return { raw, problems: doubled, lineOf: (path) => lines().lineOf(path) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const at = /position (\d+)/.exec(message)?.[1];
    const line = at === undefined ? lines().problems[0]?.line : text.slice(0, Number(at)).split('\n').length;
    // V8 quotes a piece of the source, which may hold a secret: say only where. Some of its messages name no position.
    const problem = { path: '', message: 'is not valid JSON', ...(line === undefined ? {} : { line }) };
    return { raw: null, problems: [problem], lineOf: () => null };
  }
}
