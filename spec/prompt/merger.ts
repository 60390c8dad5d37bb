/**
 * The prompt of a merger: two results that each passed their gate and conflict, both Task Specs, both diffs, and the base.
 *
 * 1. Neither side is named first for any other reason than that it landed first, and neither is called right.
 * 2. Both Task Specs are never cut. The conflicting files go from whole to signatures only after the diffs are gone.
 */
import { MATERIAL, fenced, pathInText } from './fence.ts';
import { fit } from './fit.ts';
import type { BuiltPrompt, Part } from './fit.ts';
import { always, bullets, failureLog, newest } from './parts.ts';
import { taskText } from './task-spec.ts';
import type { ToldTask } from './task-spec.ts';

export interface MergeSide {
  readonly task: ToldTask;
  /** Its changes to the conflicting files against the base, as a unified diff. */
  readonly diff: string;
}

/** One conflicting file; null: it is not there on that side. */
export interface ConflictFile {
  readonly path: string;
  readonly base: string | null;
  readonly landed: string | null;
  readonly arriving: string | null;
}

export interface MergerInput {
  /** What is on the mainline already, and what comes to it. */
  readonly landed: MergeSide;
  readonly arriving: MergeSide;
  /** Further tasks that changed these files before; what they changed is in the diff of what has landed. */
  readonly before?: readonly ToldTask[];
  readonly files: readonly ConflictFile[];
  /** Decisions that stand and that either side refers to, one line each. */
  readonly decisions: readonly string[];
  readonly lastFailure: { readonly cause: string; readonly why: string; readonly log: string } | null;
  readonly maxBytes: number;
}

export function buildMergerPrompt(input: MergerInput): BuiltPrompt {
  const { landed, arriving, before = [], files, lastFailure } = input;
  return fit(
    [
      always('You merge', ROLE),
      always('Task that has landed', taskText(landed.task)),
      always('Task that arrives', taskText(arriving.task)),
      always('Other tasks that landed in these files', before.map(taskText).join('\n\n')),
      always(
        'Files',
        `Change only these:\n${bullets(files.map(({ path }) => pathInText(path)))}\n\nThe working directory holds them as the landed task left them. Everything else is read-only: a change elsewhere makes the whole attempt fail. Do not run git.`,
      ),
      always('Fences', MATERIAL),
      newest('Decisions', input.decisions, 'decisions', 4),
      failureLog(
        'Earlier attempt',
        lastFailure === null
          ? ''
          : `An earlier merge failed (${lastFailure.cause}). ${lastFailure.why.trim().replace(/\s+/g, ' ')}`,
        lastFailure?.log ?? '',
        'the log of the earlier attempt',
        3,
      ),
      {
        title: 'Changes of both',
        parts: [diffPart('landed', landed), diffPart('arriving', arriving)],
        cut: 1,
        first: 'longest',
      },
      { title: 'The conflicting files', parts: files.map(filePart), cut: 2, first: 'longest' },
    ],
    input.maxBytes,
    'the two tasks themselves',
  );
}

const ROLE =
  'Two tasks changed the same lines. Both results passed their gates alone; make one state of the files in which both tasks are done. You are neutral: neither side is right because it was first. Keep what each task asks for, and nothing that neither asks for; where they cannot both be had, keep what the acceptance criteria demand and say so in your last message. No conflict markers may remain.';

function diffPart(which: string, { task, diff }: MergeSide): Part {
  return {
    name: which,
    forms: [
      { text: () => `Changes of ${task.id} (${which})\n${fenced(diff, 'diff')}`, missing: null },
      { text: () => '', missing: `the changes of ${task.id}` },
    ],
  };
}

function filePart({ path, base, landed, arriving }: ConflictFile): Part {
  const shown = pathInText(path);
  const side = (name: string, text: string | null): string =>
    text === null ? `${shown} ${name}: not there` : `${shown} ${name}:\n${fenced(text)}`;
  return {
    name: path,
    forms: [
      {
        text: () =>
          [side('at the base', base), side('as it landed', landed), side('as it arrives', arriving)].join('\n\n'),
        missing: null,
      },
      {
        text: () => [side('at the base', base), side('as it arrives', arriving)].join('\n\n'),
        missing: `${shown} as it landed: read it yourself`,
      },
      {
        text: () => side('as it arrives', arriving),
        missing: `${shown} at the base and as it landed; the latter you can read yourself`,
      },
      { text: () => '', missing: `${shown}: all three states; the landed one you can read yourself` },
    ],
  };
}
