/**
 * Aider (`aider`, https://aider.chat/docs/scripting.html), without a terminal: one message from a file. The image has `aider` and `node`
 * (22 or later) on PATH (docker/aider.Dockerfile). Seen to work: 0.86.2. It asks over Chat Completions, whatever the model; it has no
 * tools, so none of ours either, and edits only files that it is given.
 */
import { aiderOutcome } from './aider-transcript.ts';
import { ENGINE_DIR } from './engine.ts';
import type { Engine, EngineCommand, EngineInput } from './engine.ts';
import { FORWARDER, GATEWAY_URL, NO_KEY } from './forwarder.ts';
import { promptOf } from './prompt-of.ts';

/**
 * Gives it the files that are there: those that the task may change to edit, those that it refers to to read. There is no repository in
 * the workspace from which it could find them. As commands, not as arguments: it takes the folder that its arguments have in common for
 * the root of all paths.
 */
const START = `import { spawn } from 'node:child_process';
import { globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
const MOST = 100;
const { allow, forbid, reference } = JSON.parse(readFileSync('${ENGINE_DIR}/files.json', 'utf8'));
const isFile = (path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true;
const found = (globs) => globs.flatMap((glob) => (isFile(glob) ? [glob] : globSync(glob))).filter(isFile);
const forbidden = new Set(found(forbid));
const edit = [...new Set(found(allow))].filter((path) => !forbidden.has(path)).slice(0, MOST);
const read = [...new Set(found(reference))].filter((path) => !edit.includes(path)).slice(0, MOST);
const plain = (path) => !/["\\n\\r]/.test(path);
const commands = [...edit.filter(plain).map((path) => '/add "' + path + '"'), ...read.filter(plain).map((path) => '/read-only "' + path + '"')];
writeFileSync('/tmp/aider.load', commands.join('\\n') + '\\n');
const child = spawn('aider', [...process.argv.slice(2), '--load', '/tmp/aider.load'], { stdio: 'inherit' });
child.on('error', (error) => {
  console.error(String(error));
  process.exit(127);
});
child.on('exit', (code) => process.exit(code ?? 1));
`;

export const aiderEngine: Engine = {
  name: 'aider',
  needsPrompt: true,
  command(input: EngineInput): EngineCommand {
    const { model } = input.role;
    const { allow, forbid, reference } = input.task.files;
    return {
      argv: [
        'node',
        `${ENGINE_DIR}/forward.mjs`,
        'node',
        `${ENGINE_DIR}/aider.mjs`,
        // One model for everything: the role was given no other.
        ...(model === null ? [] : ['--model', `openai/${model}`, '--weak-model', `openai/${model}`]),
        '--openai-api-base',
        `${GATEWAY_URL}/v1`,
        '--message-file',
        `${ENGINE_DIR}/prompt.md`,
        // Nobody is there to ask, and the gate judges what it did.
        '--yes-always',
        '--no-git',
        '--no-auto-lint',
        '--no-suggest-shell-commands',
        '--no-detect-urls',
        '--no-check-update',
        '--no-show-release-notes',
        '--no-show-model-warnings',
        '--analytics-disable',
        '--no-pretty',
        '--no-fancy-input',
        // What it writes for itself stays out of the workspace.
        '--input-history-file',
        '/tmp/aider.input',
        '--chat-history-file',
        '/tmp/aider.chat',
        // A call that waits for a place or a budget waits at the gateway; the attempt's own deadline ends it.
        '--timeout',
        String(24 * 60 * 60),
      ],
      env: { OPENAI_API_KEY: NO_KEY, LITELLM_LOCAL_MODEL_COST_MAP: 'True', HF_HUB_OFFLINE: '1' },
      files: {
        'forward.mjs': FORWARDER,
        'aider.mjs': START,
        'files.json': JSON.stringify({ allow, forbid, reference }),
        'prompt.md': promptOf(input),
      },
      stdinFile: null,
      gateway: true,
    };
  },
  outcome: aiderOutcome,
};
