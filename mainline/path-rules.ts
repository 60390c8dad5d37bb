/**
 * What no task may put on the line, whatever its scope says: the rules of spec/scope.ts with everything allowed. Checked at intake
 * and at every merge, because git checks none of it when it merges trees.
 */
import { checkScope } from '../spec/scope.ts';
import type { TreeChange } from '../spec/scope.ts';

export interface Violation {
  readonly rule: string;
  readonly path: string;
  readonly message: string;
}

/** Unsafe names, modes, links and sizes, and names that clash with a sibling in the tree that the changes lead to. */
export function unsafeChanges(
  changes: readonly TreeChange[],
  maxFileBytes: number,
  siblings: (dir: string) => readonly string[],
): Violation[] {
  const none = { forbid: [], protected: [], presetTests: [], manifests: [], contracts: [] };
  const found = checkScope(changes, { ...none, allow: ['**'], kind: 'work', maxFileBytes, siblings });
  return found.filter((violation) => violation.rule !== 'outside-scope');
}

/** The directories ('' first) whose names decide whether an added path clashes. */
export function directoriesOfAdded(changes: readonly TreeChange[]): string[] {
  const dirs = new Set<string>();
  for (const { path, oldMode, newMode } of changes) {
    if (oldMode !== null || newMode === null) continue;
    const parts = path.split('/');
    for (let n = 0; n < parts.length; n++) dirs.add(parts.slice(0, n).join('/'));
  }
  return [...dirs].toSorted();
}
