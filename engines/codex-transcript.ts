/**
 * The events of `codex exec --json`. Pure. Seen: 0.171.0. It reports files that it patches; what its shell commands open it does not.
 * It has no event for a model that declines: such an answer ends the turn and shows as nothing at all, or as a failure by its text.
 */
import { z } from 'zod';
import type { EngineOutcome, EngineRun, TranscriptStep } from './engine.ts';
import { jsonLines, transcriptOutcome, workspacePath } from './transcript.ts';
import type { Transcript } from './transcript.ts';

const Completed = z.object({
  type: z.literal('item.completed'),
  item: z.looseObject({
    type: z.string(),
    text: z.string().optional(),
    command: z.string().optional(),
    tool: z.string().optional(),
    changes: z.array(z.object({ path: z.string() })).optional(),
  }),
});
const TurnCompleted = z.object({
  type: z.literal('turn.completed'),
  usage: z.object({ input_tokens: z.number(), output_tokens: z.number() }).optional(),
});
const TurnFailed = z.object({ type: z.literal('turn.failed'), error: z.object({ message: z.string() }) });

/** How it words an answer that the provider's filter ended, and a request that it would not take. */
const DECLINED = /reason: content_filter|flagged as potentially violating/;
const SILENT =
  'The model answered with neither words nor a tool call that Codex shows, which is how it looks when a model declines.';
/** It adds the address that it asked, which is ours and says nothing. */
const ADDRESS = /, url: http:\/\/127\.0\.0\.1\S*$/;

export function codexOutcome(run: EngineRun): EngineOutcome {
  return transcriptOutcome(run, readTranscript(run.output));
}

function readTranscript(output: string): Transcript {
  const steps: TranscriptStep[] = [];
  const writes = new Set<string>();
  let usage: Transcript['usage'] = null;
  let ended = false;
  let failure: Transcript['failure'] = null;
  for (const line of jsonLines(output)) {
    const turn = TurnCompleted.safeParse(line).data;
    if (turn !== undefined) {
      ended = true;
      if (turn.usage !== undefined)
        usage = { inputTokens: turn.usage.input_tokens, outputTokens: turn.usage.output_tokens };
    }
    const failed = TurnFailed.safeParse(line).data;
    if (failed !== undefined) {
      const why = failed.error.message.replace(ADDRESS, '');
      failure = { cause: DECLINED.test(why) ? 'refusal' : 'model-error', why };
    }
    const item = Completed.safeParse(line).data?.item;
    if (item === undefined) continue;
    switch (item.type) {
      case 'agent_message':
        steps.push({ kind: 'message', text: item.text ?? '' });
        break;
      case 'command_execution':
        steps.push({ kind: 'tool', name: `exec: ${(item.command ?? '').slice(0, 200)}`, path: null });
        break;
      case 'mcp_tool_call':
        steps.push({ kind: 'tool', name: item.tool ?? 'mcp', path: null });
        break;
      case 'file_change':
        for (const { path } of item.changes ?? []) {
          const own = workspacePath(path);
          steps.push({ kind: 'tool', name: 'patch', path: own });
          if (own !== null) writes.add(own);
        }
        break;
      default:
    }
  }
  // Only where nothing was done: work that ends without a last word is for the gate to judge.
  if (ended && failure === null && steps.length === 0) failure = { cause: 'refusal', why: SILENT };
  return { steps, reads: new Set(), writes, usage, ended, failure };
}
