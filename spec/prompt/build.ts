/**
 * The prompt of a worker (of a splitter and a reconciler too: they carry out tasks).
 *
 * 1. It is at most `maxBytes` long. What does not fit is left out in a fixed order, and the prompt itself says what: first references,
 *    then the longest of the allowed files become signatures, then they go, then the log is cut shorter; notes, field guide and
 *    notices last.
 * 2. The Task Spec is never cut.
 * 3. Contents stand in fences that they cannot close.
 */
import { MATERIAL, fenced, pathInText } from './fence.ts';
import { fit } from './fit.ts';
import type { BuiltPrompt } from './fit.ts';
import { always, bullets, failureLog, guide, newest, references, wholeFiles } from './parts.ts';
import type { NamedText } from './parts.ts';
import { filesSection, taskSections } from './task-spec.ts';
import type { ToldTask } from './task-spec.ts';

export interface PromptInput {
  readonly task: ToldTask;
  /** Files that its globs match now; null: a file that it names and that does not exist yet. */
  readonly allowed: readonly { readonly path: string; readonly content: string | null }[];
  readonly references: readonly NamedText[];
  /** Files of either sort that whoever asks has not read, with why: too large, no text, too many. */
  readonly unread?: readonly { readonly path: string; readonly why: string }[];
  /** Index of the target's field guide; null: there is none. */
  readonly fieldGuide: string | null;
  /** Oldest first. */
  readonly notices: readonly string[];
  readonly notes: readonly string[];
  readonly lastFailure: { readonly cause: string; readonly why: string; readonly log: string } | null;
  /** Our tools are there (MCP). */
  readonly tools: boolean;
  readonly maxBytes: number;
}

export function buildPrompt(input: PromptInput): BuiltPrompt {
  const { task, lastFailure } = input;
  const unread = (input.unread ?? []).map(({ path, why }) => `${pathInText(path)}: ${why}`);
  return fit(
    [
      ...taskSections(task),
      filesSection(task),
      always('Tools', input.tools ? TOOLS : ''),
      always('Fences', MATERIAL),
      failureLog(
        'Earlier attempt',
        lastFailure === null ? '' : failed(lastFailure),
        lastFailure?.log ?? '',
        'the log of the earlier attempt',
        3,
      ),
      newest('Notices', input.notices, 'notices', 6),
      newest('Notes', input.notes, 'notes', 4),
      guide('Field guide', input.fieldGuide, 'the field guide', 5),
      wholeFiles('Contents of the files that you may change', input.allowed, 2),
      references('Signatures of files to refer to', input.references, 1),
      always('Files that are not shown', bullets(unread)),
    ],
    input.maxBytes,
    'the task itself',
  );
}

const TOOLS =
  'The MCP server `swarmline` is there: `worklog_read` before you begin, `worklog_add` for what others should know, `read_interface` for files as they stand on the mainline now, `request_scope` when you need a file that you were not given, `record_decision` for what others must follow, `flag_file` for a file that everybody has to change.';

function failed({ cause, why }: NonNullable<PromptInput['lastFailure']>): string {
  const said = why.trim();
  const told = /[\r\n\u2028\u2029]/.test(said) ? `\n\n${fenced(said)}` : ` ${said}`;
  return `An earlier attempt at this task failed (${cause}). Its changes are gone; begin from the files as they are.${told}`;
}
