/**
 * What a task may change, checked on what it did change (never on what it said). Pure.
 *
 * Invariants
 * 1. No change passes that is not under `allow`, or is under `forbid`, `protected` or the preset tests; forbid wins.
 * 2. A rename is a deletion and an addition, and both must be allowed.
 * 3. No tree passes that a checkout on Linux, macOS or Windows would write outside its directory, into `.git`, or over another
 *    of its own files.
 * 4. What the base already holds is not the task's fault: rules about names bind only paths that the task adds.
 */
import { anyGlob } from './globs.ts';
import type { CompiledSpec, TaskKind, TaskSpec } from './model.ts';
import { gitLike, linkProblem, nameFold, specialDotfile, windowsReserved } from './paths.ts';

/** One changed path between two trees. No rename detection. */
export interface TreeChange {
  /** UTF-8; escaped in some readable way when `validUtf8` is false. */
  readonly path: string;
  readonly validUtf8: boolean;
  /** Git modes as six digits; null: not there on that side. */
  readonly oldMode: string | null;
  readonly newMode: string | null;
  readonly oldOid: string | null;
  readonly newOid: string | null;
  /** Bytes of the new blob; null for a deletion or where unknown. */
  readonly size: number | null;
  /** Where a new symbolic link points, verbatim. Required for mode 120000: an unread link is refused. */
  readonly linkTarget?: string;
}

export const SCOPE_RULES = [
  'outside-scope',
  'forbidden',
  'protected',
  'preset-test',
  'manifest',
  'contract',
  'path',
  'invalid-utf8',
  'git-component',
  'gitmodules',
  'submodule',
  'mode',
  'link-outside',
  'link-special',
  'too-large',
  'backslash',
  'reserved-name',
  'case-clash',
  'unicode-clash',
] as const;
export type ScopeRule = (typeof SCOPE_RULES)[number];

export interface ScopeViolation {
  readonly rule: ScopeRule;
  readonly path: string;
  readonly message: string;
}

export interface ScopeRules {
  readonly allow: readonly string[];
  readonly forbid: readonly string[];
  readonly protected: readonly string[];
  /** Paths of preset acceptance tests, of this task and of all others. */
  readonly presetTests: readonly string[];
  readonly kind: TaskKind;
  readonly manifests: readonly string[];
  readonly contracts: readonly string[];
  readonly maxFileBytes: number;
  /** Names in a directory ('' is the root) of the tree that the changes are laid on, or of the resulting tree: both do. */
  readonly siblings: (dir: string) => readonly string[];
}

/** Is the path inside the task's file scope (forbid wins)? Says nothing of protected files, manifests and contracts. */
export function mayWrite(task: Pick<TaskSpec, 'files'>, path: string): boolean {
  return anyGlob(task.files.allow)(path) && !anyGlob(task.files.forbid)(path);
}

/** The rules of one task of a spec. */
export function scopeRules(spec: CompiledSpec, task: TaskSpec, siblings: ScopeRules['siblings']): ScopeRules {
  return {
    allow: task.files.allow,
    forbid: task.files.forbid,
    protected: spec.repository.protected,
    presetTests: spec.tasks.flatMap((other) => Object.keys(other.tests)),
    kind: task.kind,
    manifests: spec.repository.manifests,
    contracts: spec.repository.contracts,
    maxFileBytes: spec.repository.maxFileBytes,
    siblings,
  };
}

const FILE_MODES = new Set(['100644', '100755', '120000']);

/** Every rule that the changes break, in the order of the changes; empty: the task stayed in its scope. */
export function checkScope(changes: readonly TreeChange[], rules: ScopeRules): ScopeViolation[] {
  const allowed = anyGlob(rules.allow);
  const forbidden = anyGlob(rules.forbid);
  const isProtected = anyGlob(rules.protected);
  const isManifest = anyGlob(rules.manifests);
  const isContract = anyGlob(rules.contracts);
  const presets = new Set(rules.presetTests);
  const clash = clashes(changes, rules.siblings);
  const out: ScopeViolation[] = [];

  for (const change of changes) {
    const { path } = change;
    const say = (rule: ScopeRule, message: string): void => void out.push({ rule, path, message });

    if (!change.validUtf8) say('invalid-utf8', 'the name is not valid UTF-8');
    else if (forbidden(path)) say('forbidden', `${verb(change)} a file that the task's files.forbid names`);
    else if (!allowed(path))
      say('outside-scope', `${verb(change)} a file that no glob of the task's files.allow matches`);
    if (isProtected(path)) say('protected', 'repository.protected: no task may change it');
    if (presets.has(path)) say('preset-test', 'a preset acceptance test of the spec; no task may change it');
    if (isManifest(path) && rules.kind !== 'dependency-update') {
      say(
        'manifest',
        `a dependency manifest or lockfile; only a dependency-update task may change it, this one is ${rules.kind}`,
      );
    }
    if (isContract(path) && rules.kind !== 'interface-change') {
      say('contract', `an interface contract; only an interface-change task may change it, this one is ${rules.kind}`);
    }
    shape(change, rules.maxFileBytes, say);
    if (change.newMode !== null && change.oldMode === null) clash(path, say);
  }
  return out;
}

function verb(change: TreeChange): string {
  return change.newMode === null ? 'deletes' : change.oldMode === null ? 'adds' : 'changes';
}

type Say = (rule: ScopeRule, message: string) => void;

/** Rules about the entry itself: name, mode, link, size. */
function shape(change: TreeChange, maxFileBytes: number, say: Say): void {
  const { path, newMode, oldMode, size } = change;
  if (newMode === '160000' || oldMode === '160000')
    say('submodule', 'a submodule; Swarmline neither follows nor changes them');
  if (newMode === null) return;
  const parts = path.split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..'))
    say('path', 'the path has an empty, "." or ".." component');
  if (path.includes('\0')) say('path', 'the path contains a NUL character');
  if (path.length > 4096 || parts.some((part) => part.length > 255))
    say('path', 'the path is longer than 4096 characters, or one of its names than 255');
  if (parts.some(gitLike)) say('git-component', 'a component that some file system takes for ".git"');
  if (parts.some((part) => specialDotfile(part, 'gitmodules')))
    say('gitmodules', 'submodules cannot be declared by a task');
  if (newMode !== '160000' && !FILE_MODES.has(newMode))
    say('mode', `file mode ${newMode}; only 100644, 100755 and 120000 are allowed`);
  if (newMode === '120000') {
    const why = linkProblem(path, change.linkTarget);
    if (why !== null) say('link-outside', why);
    const name = parts.at(-1) ?? '';
    if (['gitattributes', 'gitignore', 'mailmap'].some((special) => specialDotfile(name, special))) {
      say('link-special', 'git refuses to read this file through a symbolic link');
    }
  }
  if (size !== null && size > maxFileBytes)
    say('too-large', `${size} bytes; repository.maxFile allows ${maxFileBytes}`);
  if (oldMode !== null) return;
  if (path.includes('\\')) say('backslash', 'a backslash in a name is a directory separator on Windows');
  const reserved = parts.find(windowsReserved);
  if (reserved !== undefined) say('reserved-name', `"${reserved}" cannot be a file name on Windows`);
}

/** Finds names that differ from a neighbour only by case or by Unicode normal form, directories included. */
function clashes(changes: readonly TreeChange[], siblings: ScopeRules['siblings']): (path: string, say: Say) => void {
  const gone = new Set(changes.filter((c) => c.newMode === null).map((c) => c.path));
  const added = new Map<string, Set<string>>();
  for (const { path, newMode, oldMode } of changes) {
    if (newMode === null || oldMode !== null) continue;
    for (const [dir, name] of components(path)) {
      const names = added.get(dir) ?? new Set();
      added.set(dir, names.add(name));
    }
  }
  const folded = new Map<string, Map<string, string[]>>();
  const neighbours = (dir: string): Map<string, string[]> => {
    let byFold = folded.get(dir);
    if (byFold === undefined) {
      byFold = new Map();
      for (const name of new Set([...siblings(dir), ...(added.get(dir) ?? [])])) {
        if (gone.has(dir === '' ? name : `${dir}/${name}`)) continue;
        const fold = nameFold(name);
        byFold.set(fold, [...(byFold.get(fold) ?? []), name]);
      }
      folded.set(dir, byFold);
    }
    return byFold;
  };
  return (path, say) => {
    for (const [dir, name] of components(path)) {
      const other = neighbours(dir)
        .get(nameFold(name))
        ?.find((candidate) => candidate !== name);
      if (other === undefined) continue;
      const unicode = other.normalize('NFC') === name.normalize('NFC');
      say(
        unicode ? 'unicode-clash' : 'case-clash',
        `"${name}" and "${other}" in ${dir === '' ? 'the root' : `"${dir}"`} are one name on ${unicode ? 'macOS' : 'macOS and Windows'}`,
      );
      return;
    }
  };
}

/** Every component of a path with the directory that holds it. */
function components(path: string): [dir: string, name: string][] {
  const parts = path.split('/');
  return parts.map((name, i) => [parts.slice(0, i).join('/'), name]);
}
