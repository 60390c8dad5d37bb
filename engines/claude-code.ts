/**
 * Claude Code (`claude`, https://code.claude.com/docs/en/headless), without a terminal: prompt on standard input, transcript as JSON
 * lines. The image has `claude` and `node` on PATH (docker/agents.Dockerfile). Seen to work: 2.1.332.
 */
import { claudeOutcome } from './claude-transcript.ts';
import { ENGINE_DIR } from './engine.ts';
import type { Engine, EngineCommand, EngineInput } from './engine.ts';
import { FORWARDER, GATEWAY_URL, NO_KEY } from './forwarder.ts';
import { promptOf } from './prompt-of.ts';

export const claudeCodeEngine: Engine = {
  name: 'claude-code',
  needsPrompt: true,
  command(input: EngineInput): EngineCommand {
    const { model } = input.role;
    const mcp = { mcpServers: { swarmline: { type: 'http', url: `${GATEWAY_URL}/mcp` } } };
    return {
      argv: [
        'node',
        `${ENGINE_DIR}/forward.mjs`,
        'claude',
        '--print',
        ...(model === null ? [] : ['--model', model]),
        '--output-format',
        'stream-json',
        '--verbose',
        // The container is the sandbox, and nobody is there to ask.
        '--permission-mode',
        'bypassPermissions',
        // There is no network for the one; the other is run by the provider, and the gateway lets no such tool through.
        '--disallowedTools',
        'WebFetch,WebSearch',
        '--mcp-config',
        `${ENGINE_DIR}/mcp.json`,
        '--strict-mcp-config',
      ],
      env: {
        ANTHROPIC_BASE_URL: GATEWAY_URL,
        ANTHROPIC_API_KEY: NO_KEY,
        // One model for everything: the role was given no other.
        ...(model === null ? {} : { ANTHROPIC_SMALL_FAST_MODEL: model, ANTHROPIC_DEFAULT_HAIKU_MODEL: model }),
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
        // Our few tools are told to the model at once; else it has to search for them first, and does not know that they are there.
        ENABLE_TOOL_SEARCH: 'false',
        IS_SANDBOX: '1',
        CLAUDE_CODE_MAX_RETRIES: '4',
        // A call that waits for a place or a budget waits at the gateway; the attempt's own deadline ends it.
        API_TIMEOUT_MS: String(24 * 60 * 60 * 1000),
      },
      files: { 'forward.mjs': FORWARDER, 'mcp.json': JSON.stringify(mcp), 'prompt.md': promptOf(input) },
      stdinFile: `${ENGINE_DIR}/prompt.md`,
      gateway: true,
    };
  },
  outcome: claudeOutcome,
};
