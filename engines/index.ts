/** The engines by name. A new one is a file of its own and a line here. */
import { aiderEngine } from './aider.ts';
import { claudeCodeEngine } from './claude-code.ts';
import { codexEngine } from './codex.ts';
import { commandEngine } from './command.ts';
import type { Engine } from './engine.ts';
import { UnknownEngine } from './engine.ts';
import { scriptedEngine } from './scripted.ts';

export * from './engine.ts';
export { EGRESS_DIR } from './forwarder.ts';

const ENGINES: ReadonlyMap<string, Engine> = new Map(
  [commandEngine, scriptedEngine, claudeCodeEngine, codexEngine, aiderEngine].map((engine) => [engine.name, engine]),
);

export const ENGINE_NAMES: readonly string[] = [...ENGINES.keys()];

/** @throws UnknownEngine naming the known ones. */
export function engineFor(name: string): Engine {
  const engine = ENGINES.get(name);
  if (engine === undefined) throw new UnknownEngine(name, ENGINE_NAMES);
  return engine;
}
