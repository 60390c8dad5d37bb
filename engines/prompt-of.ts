import { EngineInputError } from './engine.ts';
import type { EngineInput } from './engine.ts';

/** @throws EngineInputError where none was built */
export function promptOf({ prompt, task }: EngineInput): string {
  if (prompt === undefined) throw new EngineInputError(`Task "${task.id}" was given no prompt.`);
  return prompt;
}
