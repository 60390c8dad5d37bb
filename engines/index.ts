/** The engines by name. A new one is a file of its own and a line here, or a few lines in a spec (described.ts). */
import type { EngineRecipe } from '../spec/model.ts';
import { aiderEngine } from './aider.ts';
import { claudeCodeEngine } from './claude-code.ts';
import { codexEngine } from './codex.ts';
import { commandEngine } from './command.ts';
import { describedEngine } from './described.ts';
import type { Engine } from './engine.ts';
import { UnknownEngine } from './engine.ts';
import { scriptedEngine } from './scripted.ts';

export * from './engine.ts';
export { EGRESS_DIR } from './forwarder.ts';

const ENGINES: ReadonlyMap<string, Engine> = new Map(
  [commandEngine, scriptedEngine, claudeCodeEngine, codexEngine, aiderEngine].map((engine) => [engine.name, engine]),
);

export const ENGINE_NAMES: readonly string[] = [...ENGINES.keys()];

/**
 * @param described by the spec; specs that were stored before it could have none
 * @throws UnknownEngine naming the known ones.
 */
export function engineFor(name: string, described: Readonly<Record<string, EngineRecipe>> = {}): Engine {
  const engine = ENGINES.get(name);
  if (engine !== undefined) return engine;
  if (!Object.hasOwn(described, name)) throw new UnknownEngine(name, [...ENGINE_NAMES, ...Object.keys(described)]);
  return describedEngine(name, described[name]!);
}

/** Bytes of a prompt for an engine: as many as whoever builds it would take, or as the engine can be given. */
export const promptBytes = (most: number, engine: Engine): number => Math.min(most, engine.promptBytes ?? most);
