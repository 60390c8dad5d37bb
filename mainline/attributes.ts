/**
 * The hub's info/attributes: the only attributes that count when trees are merged.
 *
 * 1. A bare repository ignores the .gitattributes of trees (git 2.43 to 2.45 did not; `* !merge` first makes all versions agree), so
 *    what the spec and the target's root .gitattributes ask for is written here: union, binary, -merge. Never a named driver.
 */
import { expandBraces } from '../spec/globs.ts';

const KEPT = new Set(['merge=union', 'merge=binary', '-merge', 'binary']);

/** The text of info/attributes. `union`: globs of the spec. `rootAttributes`: the target's .gitattributes at the base commit. */
export function hubAttributes(union: readonly string[], rootAttributes: string | null): string {
  const lines = ['* !merge'];
  for (const line of (rootAttributes ?? '').split('\n')) {
    const match = /^\s*("(?:[^"\\]|\\.)*"|[^\s"#[]\S*)\s+(.*)$/.exec(line);
    if (match === null || match[1]!.startsWith('[')) continue;
    const kept = match[2]!.split(/\s+/).filter((attribute) => KEPT.has(attribute));
    for (const attribute of kept) lines.push(`${match[1]} ${attribute === 'binary' ? '-merge' : attribute}`);
  }
  for (const glob of union) for (const one of expandBraces(glob)) lines.push(`${quoted(anchored(one))} merge=union`);
  return `${lines.join('\n')}\n`;
}

/** A glob of the spec counts from the root; without a slash git would match it in every directory. */
const anchored = (glob: string): string => (glob.startsWith('**/') ? glob : `/${glob.replace(/^\/+/, '')}`);

const quoted = (pattern: string): string =>
  /[\s"\\]/.test(pattern) ? `"${pattern.replace(/(["\\])/g, '\\$1')}"` : pattern;
