/**
 * Names that file systems read differently from git, and where links lead. Pure, byte-for-byte rules of git's own fsck
 * (path.c, utf8.c) restated for names as strings.
 */

/** Code points that HFS+ ignores in names (git's utf8.c, next_hfs_char). */
const HFS_IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/** As HFS+ and NTFS would read it: ignorable characters gone, stream suffix, trailing dots and blanks gone, lower case. */
function asOtherFileSystems(name: string): string {
  return name
    .replace(HFS_IGNORED, '')
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '')
    .toLowerCase();
}

/** Does some file system take this name for `.git`? */
export function gitLike(name: string): boolean {
  const folded = asOtherFileSystems(name);
  return folded === '.git' || /^git~\d+$/.test(folded);
}

/** Is this `.gitmodules` (or `.gitattributes` …) for some file system, its NTFS short names included? */
export function specialDotfile(name: string, special: string): boolean {
  const folded = asOtherFileSystems(name);
  return folded === `.${special}` || new RegExp(`^${special.slice(0, 6)}~\\d+$`).test(folded);
}

/** Device names and endings that Windows cannot hold. */
export function windowsReserved(name: string): boolean {
  return (
    /^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])\s*(\..*|:.*)?$/is.test(name) || /[. ]$/.test(name)
  );
}

/** Equal for names that a case-insensitive or normalising file system cannot tell apart. */
export function nameFold(name: string): string {
  return name.normalize('NFC').toLowerCase().normalize('NFC');
}

/**
 * Why a symbolic link may lead out of the tree, or null. `..` is accepted only at the start: after a name it would be taken
 * from wherever that name leads, which another link may decide.
 */
export function linkProblem(path: string, target: string | undefined): string | null {
  if (target === undefined) return 'a symbolic link whose target was not read';
  if (target === '' || target.includes('\0')) return 'a symbolic link with an empty or impossible target';
  if (target.includes('\\')) return 'a symbolic link with a backslash in its target';
  if (target.startsWith('/') || /^[A-Za-z]:/.test(target))
    return `a symbolic link to an absolute path (${short(target)})`;
  let depth = path.split('/').length - 1;
  let named = false;
  for (const part of target.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..') {
      if (named) return `a symbolic link with ".." after a name (${short(target)})`;
      if (--depth < 0) return `a symbolic link that leaves the repository (${short(target)})`;
    } else {
      named = true;
      if (gitLike(part)) return `a symbolic link into .git (${short(target)})`;
    }
  }
  return null;
}

function short(text: string): string {
  return JSON.stringify(text.length > 120 ? `${text.slice(0, 120)}…` : text);
}
