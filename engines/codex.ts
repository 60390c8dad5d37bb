/**
 * Codex (`codex exec`, https://developers.openai.com/codex/noninteractive), without a terminal: prompt on standard input, events as JSON
 * lines. The image has `codex` and `node` on PATH (docker/agents.Dockerfile). Seen to work: 0.171.0.
 */
import { codexOutcome } from './codex-transcript.ts';
import { ENGINE_DIR } from './engine.ts';
import type { Engine, EngineCommand, EngineInput } from './engine.ts';
import { FORWARDER, GATEWAY_URL, NO_KEY } from './forwarder.ts';
import { promptOf } from './prompt-of.ts';

/** In the home directory, which is writable; it refuses one in /tmp. */
const HOME = '/home/agent/codex';

export const codexEngine: Engine = {
  name: 'codex',
  needsPrompt: true,
  command(input: EngineInput): EngineCommand {
    const { model } = input.role;
    const config = [
      'model_provider=gateway',
      'model_providers.gateway.name=gateway',
      `model_providers.gateway.base_url=${GATEWAY_URL}/v1`,
      'model_providers.gateway.env_key=SWARMLINE_KEY',
      'model_providers.gateway.wire_api=responses',
      'model_providers.gateway.request_max_retries=4',
      'model_providers.gateway.stream_max_retries=4',
      // A call that waits for a place or a budget is silent meanwhile; the attempt's own deadline ends it.
      `model_providers.gateway.stream_idle_timeout_ms=${24 * 60 * 60 * 1000}`,
      `mcp_servers.swarmline.url=${GATEWAY_URL}/mcp`,
      // They go nowhere from here, and each run would wait 5 s for them at its end.
      'analytics.enabled=false',
    ];
    return {
      argv: [
        'node',
        `${ENGINE_DIR}/forward.mjs`,
        'sh',
        '-c',
        'mkdir -p "$CODEX_HOME" && exec codex "$@"',
        'codex',
        'exec',
        '--json',
        '--skip-git-repo-check',
        // The container is the sandbox; Codex's own needs what it does not have.
        '--dangerously-bypass-approvals-and-sandbox',
        ...config.flatMap((setting) => ['-c', setting]),
        ...(model === null ? [] : ['-m', model]),
        '-',
      ],
      env: { CODEX_HOME: HOME, SWARMLINE_KEY: NO_KEY },
      files: { 'forward.mjs': FORWARDER, 'prompt.md': promptOf(input) },
      stdinFile: `${ENGINE_DIR}/prompt.md`,
      gateway: true,
    };
  },
  outcome: codexOutcome,
};
