/**
 * The prompt of a worker.
 *
 * 1. It is at most `maxBytes` long. What does not fit is left out in a fixed order, and the prompt itself says what: first references,
 *    then the longest of the allowed files become signatures, then they go, then the log is cut shorter.
 * 2. The Task Spec is never cut.
 * 3. Contents stand in fences that they cannot close.
 */
import type { TaskSpec } from '../model.ts';
import { fenced } from './fence.ts';
import { trimAroundFailures } from './log.ts';
import { signaturesOf } from './signatures.ts';

export interface PromptInput {
  readonly task: TaskSpec;
  /** Files that its globs match now; null: a file that it names and that does not exist yet. */
  readonly allowed: readonly { readonly path: string; readonly content: string | null }[];
  readonly references: readonly { readonly path: string; readonly content: string }[];
  /** Index of the target's field guide; null: there is none. */
  readonly fieldGuide: string | null;
  readonly notices: readonly string[];
  readonly notes: readonly string[];
  readonly lastFailure: { readonly cause: string; readonly why: string; readonly log: string } | null;
  /** Our tools are there (MCP). */
  readonly tools: boolean;
  readonly maxBytes: number;
}

export interface BuiltPrompt {
  readonly text: string;
  readonly bytes: number;
  /** What there was no room for, one line each. */
  readonly leftOut: readonly string[];
}

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;
/** Of a log, unless there is room for less. */
const LOG_BYTES = 16_000;
const LOG_LEAST = 1_000;

type Shown = 'whole' | 'signatures' | 'left out';

export function buildPrompt(input: PromptInput): BuiltPrompt {
  const shown = new Map<string, Shown>(input.allowed.map(({ path }) => [path, 'whole']));
  const references = new Map<string, Shown>(input.references.map(({ path }) => [path, 'signatures']));
  const signatures = memo(input);
  let logBytes = LOG_BYTES;
  const longest = (how: Shown): string | undefined =>
    input.allowed
      .filter(({ path, content }) => content !== null && shown.get(path) === how)
      .toSorted((a, b) => b.content!.length - a.content!.length || (a.path < b.path ? -1 : 1))[0]?.path;
  for (;;) {
    const leftOut = whatIsLeftOut(shown, references);
    const text = assemble(input, shown, references, logBytes, leftOut, signatures);
    const bytes = bytesOf(text);
    if (bytes <= input.maxBytes) return { text, bytes, leftOut };
    const reference = [...references].findLast(([, how]) => how !== 'left out')?.[0];
    const [whole, reduced] = [longest('whole'), longest('signatures')];
    if (reference !== undefined) references.set(reference, 'left out');
    else if (whole !== undefined) shown.set(whole, 'signatures');
    else if (reduced !== undefined) shown.set(reduced, 'left out');
    else if (logBytes > LOG_LEAST) logBytes = Math.floor(logBytes / 2);
    else
      return {
        text,
        bytes,
        leftOut: [...leftOut, `the limit of ${input.maxBytes} bytes is less than the task itself`],
      };
  }
}

/** Signatures by path, parsed once. */
function memo({ allowed, references }: PromptInput): (path: string) => string {
  const known = new Map<string, string>();
  return (path) => {
    const before = known.get(path);
    if (before !== undefined) return before;
    const text = [...allowed, ...references].find((one) => one.path === path)?.content ?? '';
    const made = signaturesOf(path, text);
    known.set(path, made);
    return made;
  };
}

function whatIsLeftOut(shown: ReadonlyMap<string, Shown>, references: ReadonlyMap<string, Shown>): string[] {
  const lines = [...shown].flatMap(([path, how]) =>
    how === 'whole'
      ? []
      : [`${path}: ${how === 'signatures' ? 'only its signatures are shown' : 'not shown'}; read it yourself`],
  );
  const gone = [...references].flatMap(([path, how]) =>
    how === 'left out' ? [`${path} (reference): not shown; read it yourself`] : [],
  );
  return [...lines, ...gone];
}

function assemble(
  input: PromptInput,
  shown: ReadonlyMap<string, Shown>,
  references: ReadonlyMap<string, Shown>,
  logBytes: number,
  leftOut: readonly string[],
  signatures: (path: string) => string,
): string {
  const { task, lastFailure } = input;
  const list = (items: readonly string[]): string => items.map((item) => `- ${item}`).join('\n');
  const sections: [string, string][] = [
    [`Task ${task.id}`, task.goal.trim()],
    ['Interface', task.interface.trim()],
    ['Done when', list(task.acceptance)],
    [
      'Files',
      [
        `You may create and change only files that match:\n${list(task.files.allow)}`,
        task.files.forbid.length === 0 ? '' : `Never:\n${list(task.files.forbid)}`,
        'Everything else is read-only: a change elsewhere makes the whole attempt fail. The working directory is the repository, without its history. Do not run git.',
      ]
        .filter(Boolean)
        .join('\n\n'),
    ],
    ['Tools', input.tools ? TOOLS : ''],
    ['Earlier attempt', lastFailure === null ? '' : failure(lastFailure, logBytes)],
    ['Notices', list(input.notices)],
    ['Notes', list(input.notes)],
    ['Field guide', input.fieldGuide?.trim() ?? ''],
    [
      'Contents of the files that you may change',
      input.allowed
        .map(({ path, content }) => file(path, content, shown.get(path) ?? 'whole', signatures))
        .filter(Boolean)
        .join('\n\n'),
    ],
    [
      'Signatures of files to refer to',
      input.references
        .filter(({ path }) => references.get(path) !== 'left out')
        .map(({ path }) => `${path}\n${fenced(signatures(path))}`)
        .join('\n\n'),
    ],
    ['Not shown here', list(leftOut)],
  ];
  return `${sections
    .filter(([, body]) => body !== '')
    .map(([title, body]) => `# ${title}\n\n${body}`)
    .join('\n\n')}\n`;
}

const TOOLS =
  'The MCP server `swarmline` is there: `worklog_read` before you begin, `worklog_add` for what others should know, `read_interface` for files as they stand on the mainline now, `request_scope` when you need a file that you were not given, `record_decision` for what others must follow.';

function file(path: string, content: string | null, how: Shown, signatures: (path: string) => string): string {
  if (content === null) return `${path}: does not exist yet`;
  if (how === 'left out') return '';
  return how === 'whole' ? `${path}\n${fenced(content)}` : `${path} (signatures only)\n${fenced(signatures(path))}`;
}

function failure({ cause, why, log }: NonNullable<PromptInput['lastFailure']>, logBytes: number): string {
  const trimmed = trimAroundFailures(log, logBytes);
  return `An earlier attempt at this task failed (${cause}). Its changes are gone; begin from the files as they are. ${why}${
    trimmed === '' ? '' : `\n\n${fenced(trimmed)}`
  }`;
}
