/**
 * Reading trees: entries, changes between two of them, single files. Names are bytes; nothing here follows a link.
 */
import type { TreeChange } from '../spec/scope.ts';
import { git, gitText } from './git-process.ts';
import type { GitOptions } from './git-process.ts';

export interface TreeEntry {
  /** Six octal digits: 100644, 100755, 120000 (link), 040000 (directory), 160000 (submodule). */
  readonly mode: string;
  readonly type: string;
  readonly oid: string;
  /** Bytes; null for what is not a blob. */
  readonly size: number | null;
  readonly path: Buffer;
}

const LINK_BYTES = 4096;

type ReadOptions = Pick<GitOptions, 'env' | 'timeoutMs' | 'signal' | 'maxOutputBytes'>;

export const NO_OID = '0'.repeat(40);
export const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** The tree of a commit (or of any tree-ish). Throws GitError when there is none. */
export async function treeOf(gitDir: string, commit: string, options: ReadOptions = {}): Promise<string> {
  return gitText(gitDir, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${commit}^{tree}`], options);
}

/** Every file of a tree, recursively; with `directories` the trees on the way as well; `sizes: false` looks at no file. Throws GitError('too-much-output') beyond the limit. */
export async function listTree(
  gitDir: string,
  treeish: string,
  options: ReadOptions & { readonly directories?: boolean; readonly sizes?: boolean } = {},
): Promise<TreeEntry[]> {
  const flags = ['-r', ...(options.directories === true ? ['-t'] : []), ...(options.sizes === false ? [] : ['-l'])];
  const out = await git(gitDir, ['ls-tree', ...flags, '-z', '--full-tree', treeish], options);
  return splitZ(out).map((record) => {
    const tab = record.indexOf(9);
    const [mode = '', type = '', oid = '', size = '-'] = record.subarray(0, tab).toString('latin1').split(/ +/);
    return { mode, type, oid, size: size === '-' ? null : Number(size), path: record.subarray(tab + 1) };
  });
}

/** The names directly inside some directories ('' is the root) of a tree. Directories that are not there are absent. */
export async function listDirectories(
  gitDir: string,
  treeish: string,
  dirs: readonly string[],
  options: ReadOptions = {},
): Promise<Map<string, string[]>> {
  const found = new Map<string, Set<string>>();
  const put = (names: Buffer[]): void => {
    for (const name of names) {
      const path = printablePath(name).path;
      const slash = path.lastIndexOf('/');
      const dir = slash < 0 ? '' : path.slice(0, slash);
      const inDir = found.get(dir) ?? new Set();
      found.set(dir, inDir.add(path.slice(slash + 1)));
    }
  };
  const list = async (paths: readonly string[]): Promise<void> =>
    // -t: of two paths of which one holds the other, git would otherwise leave the inner directory's own entry out.
    put(
      splitZ(
        await git(gitDir, ['ls-tree', '-t', '-z', '--name-only', '--full-tree', treeish, '--', ...paths], options),
      ),
    );
  if (dirs.includes('')) await list([]);
  const inner = dirs.filter((dir) => dir !== '').map((dir) => `${dir}/`);
  for (let at = 0; at < inner.length; at += 200) await list(inner.slice(at, at + 200));
  return new Map([...found].map(([dir, names]) => [dir, [...names]]));
}

/**
 * What changed from a to b, per path, with the size of each new file and the target of each new link. No rename detection:
 * a rename is a delete and an add. `sizes: false` leaves the sizes of files out and saves a process.
 */
export async function diffTrees(
  gitDir: string,
  a: string,
  b: string,
  { sizes: withSizes = true, ...options }: ReadOptions & { readonly sizes?: boolean } = {},
): Promise<TreeChange[]> {
  const out = splitZ(
    await git(gitDir, ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--full-index', a, b], options),
  );
  const raw: { oldMode: string; newMode: string; oldOid: string; newOid: string; path: Buffer }[] = [];
  for (let at = 0; at + 1 < out.length; at += 2) {
    const [oldMode = '', newMode = '', oldOid = '', newOid = ''] = out[at]!.subarray(1).toString('latin1').split(' ');
    raw.push({ oldMode, newMode, oldOid, newOid, path: out[at + 1]! });
  }
  const measured = raw.filter(
    (r) => r.newOid !== NO_OID && (withSizes ? r.newMode !== '160000' : r.newMode === '120000'),
  );
  const blobs = measured.map((r) => r.newOid);
  const sizes = await sizesOf(gitDir, blobs, options);
  const links = await readBlobs(
    gitDir,
    // A longer "link" is no link that any system could make; unread, it is refused.
    raw.filter((r) => r.newMode === '120000' && (sizes.get(r.newOid) ?? Infinity) <= LINK_BYTES).map((r) => r.newOid),
    options,
  );
  return raw.map((r) => {
    const link = r.newMode === '120000' ? links.get(r.newOid) : undefined;
    return {
      ...printablePath(r.path),
      oldMode: r.oldMode === '000000' ? null : r.oldMode,
      newMode: r.newMode === '000000' ? null : r.newMode,
      oldOid: r.oldOid === NO_OID ? null : r.oldOid,
      newOid: r.newOid === NO_OID ? null : r.newOid,
      size: sizes.get(r.newOid) ?? null,
      ...(link === undefined ? {} : { linkTarget: printablePath(link).path }),
    };
  });
}

async function sizesOf(gitDir: string, oids: readonly string[], options: ReadOptions): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  if (oids.length === 0) return sizes;
  const input = `${[...new Set(oids)].join('\n')}\n`;
  const out = await gitText(gitDir, ['cat-file', '--batch-check=%(objectname) %(objectsize)'], { ...options, input });
  for (const line of out.split('\n')) {
    const [oid = '', size = ''] = line.split(' ');
    if (/^\d+$/.test(size)) sizes.set(oid, Number(size));
  }
  return sizes;
}

/** Contents of blobs by object id. What is missing is absent. */
export async function readBlobs(
  gitDir: string,
  oids: readonly string[],
  options: ReadOptions = {},
): Promise<Map<string, Buffer>> {
  const found = new Map<string, Buffer>();
  if (oids.length === 0) return found;
  const input = `${[...new Set(oids)].join('\n')}\n`;
  const out = await git(gitDir, ['cat-file', '--batch=%(objectname) %(objecttype) %(objectsize)'], {
    ...options,
    input,
  });
  for (let at = 0; at < out.length;) {
    const eol = out.indexOf(10, at);
    const [oid = '', , size = ''] = out.subarray(at, eol).toString('latin1').split(' ');
    at = eol + 1;
    if (!/^\d+$/.test(size)) continue;
    found.set(oid, out.subarray(at, at + Number(size)));
    at += Number(size) + 1;
  }
  return found;
}

/** Paths of all files and links of a commit, as text; submodules are left out. */
export async function listFiles(gitDir: string, commit: string, options: ReadOptions = {}): Promise<string[]> {
  return (await listTree(gitDir, commit, options))
    .filter((entry) => entry.type === 'blob')
    .map((entry) => printablePath(entry.path).path);
}

/** The bytes of one file of a commit, null where there is no such file. A link gives its target's text, never what it points at. */
export async function readFileAt(
  gitDir: string,
  commit: string,
  path: string,
  options: ReadOptions = {},
): Promise<Buffer | null> {
  const spec = `${commit}:${path}`;
  const out = await git(gitDir, ['cat-file', '-z', '--batch=%(objecttype) %(objectsize)'], {
    ...options,
    input: `${spec}\0`,
  });
  const header = Buffer.from(`${spec} missing\n`);
  if (out.equals(header)) return null;
  const eol = out.indexOf(10);
  const [type, size] = out.subarray(0, eol).toString('latin1').split(' ');
  if (type !== 'blob') return null;
  return out.subarray(eol + 1, eol + 1 + Number(size));
}

/** A path as text: UTF-8 where it is valid, else with `\xNN` for each byte that is not. */
export function printablePath(bytes: Buffer): { path: string; validUtf8: boolean } {
  const text = bytes.toString('utf8');
  if (!text.includes('\ufffd') || Buffer.from(text, 'utf8').equals(bytes)) return { path: text, validUtf8: true };
  let path = '';
  for (const byte of bytes)
    path += byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`;
  return { path, validUtf8: false };
}

function splitZ(bytes: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const zero = bytes.indexOf(0, at);
    const end = zero < 0 ? bytes.length : zero;
    parts.push(bytes.subarray(at, end));
    at = end + 1;
  }
  return parts;
}
