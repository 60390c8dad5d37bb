/** Claude Code's `--output-format stream-json --verbose`. Pure. Seen: 2.1.332. */
import { z } from 'zod';
import type { EngineOutcome, EngineRun, TranscriptStep } from './engine.ts';
import { jsonLines, transcriptOutcome, workspacePath } from './transcript.ts';
import type { Transcript } from './transcript.ts';

const Assistant = z.object({
  type: z.literal('assistant'),
  message: z.object({
    content: z.array(
      z.looseObject({
        type: z.string(),
        text: z.string().optional(),
        name: z.string().optional(),
        input: z.unknown().optional(),
      }),
    ),
  }),
});
const Result = z.object({
  type: z.literal('result'),
  is_error: z.boolean().default(false),
  result: z.string().default(''),
  stop_reason: z.string().nullish(),
  terminal_reason: z.string().nullish(),
  usage: z
    .object({
      input_tokens: z.number().default(0),
      cache_read_input_tokens: z.number().default(0),
      cache_creation_input_tokens: z.number().default(0),
      output_tokens: z.number().default(0),
    })
    .nullish(),
});

const WRITES = new Set(['Write', 'Edit', 'MultiEdit', 'NotebookEdit']);
const READS = new Set(['Read', 'Edit', 'MultiEdit', 'NotebookEdit']);

export function claudeOutcome(run: EngineRun): EngineOutcome {
  return transcriptOutcome(run, readTranscript(run.output));
}

function readTranscript(output: string): Transcript {
  const steps: TranscriptStep[] = [];
  const [reads, writes] = [new Set<string>(), new Set<string>()];
  let result: z.infer<typeof Result> | null = null;
  for (const line of jsonLines(output)) {
    result = Result.safeParse(line).data ?? result;
    for (const block of Assistant.safeParse(line).data?.message.content ?? []) {
      if (block.type === 'text' && block.text !== undefined) steps.push({ kind: 'message', text: block.text });
      if (block.type !== 'tool_use' || block.name === undefined) continue;
      const input = block.input as { file_path?: unknown; notebook_path?: unknown; path?: unknown } | null;
      const path = workspacePath(input?.file_path ?? input?.notebook_path ?? input?.path);
      steps.push({ kind: 'tool', name: block.name, path });
      if (path !== null && READS.has(block.name)) reads.add(path);
      if (path !== null && WRITES.has(block.name)) writes.add(path);
    }
  }
  const usage = result?.usage ?? null;
  return {
    steps,
    reads,
    writes,
    ended: result !== null && !result.is_error,
    failure: failureOf(result),
    usage:
      usage === null
        ? null
        : {
            inputTokens: usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens,
            outputTokens: usage.output_tokens,
          },
  };
}

function failureOf(result: z.infer<typeof Result> | null): Transcript['failure'] {
  if (result === null) return null;
  if (result.stop_reason === 'refusal') return { cause: 'refusal', why: `The model declined: ${result.result}` };
  if (result.terminal_reason === 'api_error') return { cause: 'model-error', why: result.result };
  return null;
}
