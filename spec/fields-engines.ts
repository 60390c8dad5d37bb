/** The rows about engines: the built-in ones by name, and those that a spec describes itself. */
import { choice, flag, textMap, texts } from './field.ts';
import { group, map } from './field-groups.ts';

/** The engines that a role may name without a word about them. `external` has no build yet. */
export const ENGINES = ['command', 'scripted', 'claude-code', 'codex', 'aider', 'external'] as const;

/** What stands for something in the command and the environment of an engine. */
export const PLACEHOLDERS = ['prompt', 'promptFile', 'model', 'gateway', 'key'] as const;
export type Placeholder = (typeof PLACEHOLDERS)[number];

export const engines = map(
  'Further engines: CLIs of yours that `sandbox.image` has. The key is the name by which roles name it.',
  group({
    command: texts(
      "Program and arguments, without a shell; run in the workspace. `{prompt}` and `{promptFile}` (a path) stand for the prompt, `{model}` for the role's model, `{gateway}` for the base URL of the gateway, without `/v1`, and `{key}` for what a CLI gets in place of a key.",
      { limits: 'at least one' },
    ),
    prompt: choice(
      'How it gets its prompt: on its standard input, as a file that its command or environment names by `{promptFile}`, or as an argument in place of `{prompt}`.',
      ['stdin', 'file', 'argument'] as const,
      'stdin',
    ),
    env: textMap(
      'Its environment, with the same placeholders but `{prompt}`. No secrets: the key of a model is added by the gateway.',
    ),
    gateway: flag(
      'Whether it asks models: it gets the gateway’s socket, with ANTHROPIC_BASE_URL, OPENAI_BASE_URL and OPENAI_API_BASE that lead there. Needs `node` in the image.',
      true,
    ),
  }),
);
