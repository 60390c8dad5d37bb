/**
 * What no task may put on the line, whatever its scope says. Checked at intake and at every merge, on changed entries only: what the
 * origin has already is the origin's business.
 *
 * 1. git itself checks none of this when it merges trees (traps 4, 5, 7 and 14 of the research).
 */
import type { TreeChange } from './tree.ts';

export interface Violation {
  readonly rule: string;
  readonly path: string;
  readonly message: string;
}

/** Names that Windows cannot hold, with any extension. */
const RESERVED = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)/i;
/** Code points that HFS+ ignores in names: `.g<ZWNJ>it` is `.git` there. */
const IGNORED_BY_HFS = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
const FILE_MODES = new Set(['100644', '100755', '120000']);

/** Unsafe names, modes and links among what a change adds or rewrites. */
export function unsafeChanges(changes: readonly TreeChange[]): Violation[] {
  const found: Violation[] = [];
  for (const change of changes) {
    if (change.newMode === null) continue;
    const add = (rule: string, message: string): void => void found.push({ rule, path: change.path, message });
    if (change.newMode === '160000') add('submodule', 'Submodules cannot be merged here: their objects are elsewhere.');
    else if (!FILE_MODES.has(change.newMode)) add('mode', `Mode ${change.newMode} is neither a file nor a link.`);
    const parts = change.path.split('/');
    if (change.oldMode === null) {
      const name = parts.map(unsafeName).find((why) => why !== null);
      if (name !== undefined && name !== null) add('unsafe-name', name);
    }
    if (parts.some((part) => bare(part) === '.gitmodules'))
      add('gitmodules', '.gitmodules cannot be changed by a task.');
    if (change.newMode === '120000') {
      if (bare(parts[parts.length - 1]!).startsWith('.git')) add('link-name', 'A git control file cannot be a link.');
      const outside = change.linkTarget === undefined || leavesRoot(change.path, change.linkTarget);
      if (outside)
        add('link-outside', `The link points outside the repository: ${change.linkTarget ?? '(unreadable)'}`);
    }
  }
  return found;
}

/** As file systems see a name that fold case and ignore some code points. */
const bare = (name: string): string => name.replace(IGNORED_BY_HFS, '').toLowerCase();

/** Why one path component is unsafe, or null. */
export function unsafeName(name: string): string | null {
  if (name === '' || name === '.' || name === '..') return 'A path has an empty, "." or ".." part.';
  const folded = bare(name);
  // NTFS: trailing dots and spaces are dropped, `git~1` is the short name, `:` opens a stream.
  if (/^(\.git|git~[0-9]+)[. ]*(:.*)?$/.test(folded)) return 'A path has a part that is .git to some file system.';
  if (name.includes('\\')) return 'A name holds a backslash.';
  if (hasControl(name)) return 'A name holds a control character.';
  if (RESERVED.test(name)) return 'A name is reserved on Windows.';
  if (Buffer.byteLength(name) > 255) return 'A name is longer than 255 bytes.';
  return null;
}

function hasControl(name: string): boolean {
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i);
    if (code < 0x20 || code === 0x7f) return true;
  }
  return false;
}

/** Whether a link at `path` with this target leads out of the tree. Only the text is looked at. */
export function leavesRoot(path: string, target: string): boolean {
  if (target === '' || target.startsWith('/') || target.includes('\\') || /^[a-z]:/i.test(target)) return true;
  let depth = path.split('/').length - 1;
  for (const part of target.split('/')) {
    if (part === '..') depth -= 1;
    else if (part !== '' && part !== '.') {
      if (bare(part) === '.git') return true;
      depth += 1;
    }
    if (depth < 0) return true;
  }
  return false;
}

/** The directories ('' first) whose names decide whether an added path clashes. */
export function directoriesOfAdded(changes: readonly TreeChange[]): string[] {
  const dirs = new Set<string>();
  for (const { path, oldMode, newMode } of changes) {
    if (oldMode !== null || newMode === null) continue;
    const parts = path.split('/');
    for (let n = 0; n < parts.length; n++) dirs.add(parts.slice(0, n).join('/'));
  }
  return [...dirs].sort();
}

/** Added paths of which some part differs from a sibling only by case or by Unicode normalisation: one file on macOS and Windows. */
export function caseClashes(changes: readonly TreeChange[], siblings: (dir: string) => readonly string[]): Violation[] {
  const found = new Map<string, Violation>();
  for (const { path, oldMode, newMode } of changes) {
    if (oldMode !== null || newMode === null) continue;
    const parts = path.split('/');
    for (let n = 0; n < parts.length; n++) {
      const name = parts[n]!;
      const other = siblings(parts.slice(0, n).join('/')).find((s) => s !== name && foldName(s) === foldName(name));
      if (other === undefined) continue;
      const message = `"${name}" and "${other}" are one name on file systems that fold case.`;
      found.set(path, { rule: 'case-clash', path, message });
    }
  }
  return [...found.values()];
}

export const foldName = (name: string): string => name.normalize('NFC').toLowerCase().normalize('NFC');
