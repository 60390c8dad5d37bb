/** What the transcripts of agent CLIs have in common: JSON lines, tools that open and write files, a last message. Pure. */
import { BUDGET_SPENT } from '../spec/budget.ts';
import { agentEnd } from '../spec/gate/ends.ts';
import type { EngineOutcome, EngineRun, TranscriptStep } from './engine.ts';
import { plainOutcome } from './plain-outcome.ts';

const STEPS_KEPT = 500;
const TEXT_KEPT = 2_000;
const QUOTED = 600;

/** The lines of an output that are JSON objects; others (a cut, a warning) are left out. */
export function jsonLines(output: string): Record<string, unknown>[] {
  return output.split('\n').flatMap((line) => {
    if (!line.startsWith('{')) return [];
    try {
      return [JSON.parse(line) as Record<string, unknown>];
    } catch {
      return [];
    }
  });
}

/** A path as a transcript names it, relative to the workspace; null: it lies elsewhere. */
export function workspacePath(path: unknown): string | null {
  if (typeof path !== 'string' || path === '') return null;
  if (!path.startsWith('/')) return path.replace(/^\.\//, '');
  return path.startsWith('/workspace/') ? path.slice('/workspace/'.length) : null;
}

export interface Transcript {
  readonly steps: readonly TranscriptStep[];
  readonly reads: ReadonlySet<string>;
  readonly writes: ReadonlySet<string>;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number } | null;
  /** It came to its own end. */
  readonly ended: boolean;
  /** What its model's API did, where that is why it failed. */
  readonly failure: { readonly cause: 'model-error' | 'refusal'; readonly why: string } | null;
}

export function transcriptOutcome(run: EngineRun, transcript: Transcript): EngineOutcome {
  const { steps, reads, writes, usage, ended, failure } = transcript;
  const lastMessage = steps.findLast((step) => step.kind === 'message')?.text ?? '';
  const seen = { lastMessage, reads: [...reads], writes: [...writes], steps: bounded(steps), usage };
  const meaning = agentEnd(run.end, run.exitCode);
  // Deadline, memory and disk are the container's word, whatever the transcript had come to.
  if (meaning !== 'ok' && meaning !== 'agent-failed') return { ...plainOutcome(run), ...seen };
  if (failure !== null && failure.why.includes(BUDGET_SPENT)) {
    return { ok: false, cause: 'budget', why: failure.why.slice(failure.why.indexOf(BUDGET_SPENT)), ...seen };
  }
  if (failure !== null) return { ok: false, cause: failure.cause, why: failure.why, ...seen };
  if (meaning === 'ok' && ended) return { ok: true, cause: null, why: '', ...seen };
  const end = run.output.trim().slice(-QUOTED);
  const why =
    meaning === 'ok'
      ? `The agent ended without finishing its transcript. ${end === '' ? 'It printed nothing.' : `It ended with: ${end}`}`
      : `The agent exited with code ${run.exitCode ?? '?'}. It ended with: ${lastMessage === '' ? end : lastMessage}`;
  return { ok: false, cause: 'agent-failed', why, ...seen };
}

/** The first and the last of very many, each text cut. */
function bounded(steps: readonly TranscriptStep[]): TranscriptStep[] {
  const short = steps.map((step) =>
    step.kind === 'message' && step.text.length > TEXT_KEPT
      ? { ...step, text: `${step.text.slice(0, TEXT_KEPT)}…` }
      : step,
  );
  if (short.length <= STEPS_KEPT) return short;
  const left = short.length - STEPS_KEPT;
  return [
    ...short.slice(0, STEPS_KEPT / 2),
    { kind: 'message', text: `(${left} steps left out)` },
    ...short.slice(-STEPS_KEPT / 2),
  ];
}
