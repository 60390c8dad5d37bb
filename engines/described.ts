/**
 * An engine that a spec describes (`engines` of the spec): any CLI that takes a prompt, and edits the files of the folder in which it is
 * started. It says how it ended by its exit code; there is no transcript.
 */
import { BUDGET_SPENT } from '../spec/budget.ts';
import type { EngineRecipe } from '../spec/model.ts';
import { ENGINE_DIR, EngineInputError } from './engine.ts';
import type { Engine, EngineCommand, EngineInput, EngineOutcome, EngineRun } from './engine.ts';
import { FORWARDER, GATEWAY_URL, gatewayEnvironment, NO_KEY } from './forwarder.ts';
import { plainOutcome } from './plain-outcome.ts';
import { promptOf } from './prompt-of.ts';

const PROMPT_FILE = `${ENGINE_DIR}/prompt.md`;
/** Linux takes no longer argument: 32 pages of 4 KiB (execve(2), MAX_ARG_STRLEN), less the zero at its end. */
export const ARGUMENT_BYTES = 128 * 1024 - 1;

export function describedEngine(name: string, recipe: EngineRecipe): Engine {
  const { gateway } = recipe;
  return {
    name,
    needsPrompt: true,
    ...(recipe.prompt === 'argument' ? { promptBytes: ARGUMENT_BYTES } : {}),
    command(input: EngineInput): EngineCommand {
      const prompt = promptOf(input);
      const argv = recipe.command.map((text) => filled(text, input.role.model, prompt));
      const longest = Math.max(...argv.map((text) => Buffer.byteLength(text)));
      if (longest > ARGUMENT_BYTES)
        throw new EngineInputError(
          `The engine "${name}" gets its prompt as an argument, which has ${longest} bytes here; a program can be given ${ARGUMENT_BYTES}. Give it as a file: engines.${name}.prompt: file, and {promptFile} in the command.`,
        );
      const env = Object.entries(recipe.env).map(([key, text]) => [key, filled(text, input.role.model, null)] as const);
      return {
        argv: gateway ? ['node', `${ENGINE_DIR}/forward.mjs`, ...argv] : argv,
        env: { ...(gateway ? gatewayEnvironment : {}), ...Object.fromEntries(env) },
        files: { 'prompt.md': prompt, ...(gateway ? { 'forward.mjs': FORWARDER } : {}) },
        stdinFile: recipe.prompt === 'stdin' ? PROMPT_FILE : null,
        gateway,
      };
    },
    outcome: describedOutcome,
  };
}

/** In one pass: what a prompt says is never taken for a placeholder. */
function filled(text: string, model: string | null, prompt: string | null): string {
  const values: Readonly<Record<string, string | null>> = {
    prompt,
    promptFile: PROMPT_FILE,
    model,
    gateway: GATEWAY_URL,
    key: NO_KEY,
  };
  return text.replace(
    /\{(\w+)\}/g,
    (whole, name: string) => (Object.hasOwn(values, name) ? values[name] : null) ?? whole,
  );
}

/** What it printed is all there is; that its budget is spent it heard from the gateway, and most CLIs print what they heard. */
function describedOutcome(run: EngineRun): EngineOutcome {
  const outcome = plainOutcome(run);
  const at = run.output.lastIndexOf(BUDGET_SPENT);
  if (outcome.cause !== 'agent-failed' || at < 0) return outcome;
  return { ...outcome, cause: 'budget', why: run.output.slice(at).split('\n')[0]!.slice(0, 600) };
}
