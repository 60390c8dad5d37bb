/**
 * Recorded edits, for tests: attempt n replays `script[min(n, last)]`. It alone is told which attempt it is. Needs `node` in the image.
 */
import { ENGINE_DIR, EngineInputError } from './engine.ts';
import type { Engine, EngineCommand, EngineInput } from './engine.ts';
import { plainOutcome } from './plain-outcome.ts';

/** Runs in the container, in the workspace. */
const PROGRAM = `import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
const { edits, waitMs, exitCode } = JSON.parse(readFileSync(new URL('./script.json', import.meta.url), 'utf8'));
if (waitMs > 0) await new Promise((done) => setTimeout(done, waitMs));
for (const { path, content } of edits) {
  if (content === null) rmSync(path, { recursive: true, force: true });
  else {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
  console.log(content === null ? 'deleted' : 'wrote', path);
}
process.exit(exitCode);
`;

export const scriptedEngine: Engine = {
  name: 'scripted',
  command(input: EngineInput): EngineCommand {
    const script = input.task.script;
    if (script === null || script.length === 0)
      throw new EngineInputError(
        `Task "${input.task.id}" has no script: the engine "scripted" needs a list of attempts.`,
      );
    const index = Math.max(1, input.attemptIndex ?? 1) - 1;
    const attempt = script[Math.min(index, script.length - 1)];
    return {
      argv: ['node', `${ENGINE_DIR}/scripted.mjs`],
      env: {},
      files: { 'scripted.mjs': PROGRAM, 'script.json': JSON.stringify(attempt) },
      stdinFile: null,
    };
  },
  outcome: plainOutcome,
};
