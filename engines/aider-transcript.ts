/**
 * What Aider prints. Pure. Seen: 0.86.2. It exits with 0 whatever its model's API did and has no output for programs, so its lines are all
 * there is: one with the tokens ends each answer that it got, one that begins with `litellm.` says how a call failed.
 */
import { stripAnsi } from '../spec/gate/signature.ts';
import type { EngineOutcome, EngineRun, TranscriptStep } from './engine.ts';
import { transcriptOutcome, workspacePath } from './transcript.ts';
import type { Transcript } from './transcript.ts';

const TOKENS = /^Tokens: ([\d.]+)(k|M)? sent,.*?([\d.]+)(k|M)? received\./;
const APPLIED = /^Applied edit to (.+)$/;
const FAILED = /^litellm\.\w+: /;
/** The lines before the conversation begins, and those about the files that it was given. */
const HEAD = /^Repo-map: /m;
const GIVEN = /^Added .+ to (?:the chat|read-only files)\.?$/;

export function aiderOutcome(run: EngineRun): EngineOutcome {
  return transcriptOutcome(run, readTranscript(stripAnsi(run.output)));
}

function readTranscript(output: string): Transcript {
  const head = HEAD.exec(output);
  const body = head === null ? [] : output.slice(head.index).split('\n').slice(1);
  const steps: TranscriptStep[] = [];
  const writes = new Set<string>();
  let [inputTokens, outputTokens, answers] = [0, 0, 0];
  let failure: Transcript['failure'] = null;
  let said: string[] = [];
  for (const line of body) {
    const tokens = TOKENS.exec(line);
    const written = APPLIED.exec(line)?.[1];
    if (tokens !== null) {
      answers += 1;
      inputTokens += count(tokens[1], tokens[2]);
      outputTokens += count(tokens[3], tokens[4]);
      steps.push({ kind: 'message', text: said.join('\n').trim() });
      [said, failure] = [[], null];
    } else if (written !== undefined) {
      const path = workspacePath(written);
      steps.push({ kind: 'tool', name: 'edit', path });
      if (path !== null) writes.add(path);
    } else if (FAILED.test(line)) failure = { cause: 'model-error', why: line };
    else if (!GIVEN.test(line)) said.push(line);
  }
  const usage = answers === 0 ? null : { inputTokens, outputTokens };
  return { steps, reads: new Set(), writes, usage, ended: answers > 0, failure };
}

/** It rounds thousands, so this is near the truth only; the gateway has the exact counts. */
function count(digits = '0', unit = ''): number {
  return Math.round(Number(digits) * (unit === 'k' ? 1_000 : unit === 'M' ? 1_000_000 : 1));
}
