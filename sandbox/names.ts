/** File names that git, on some platform, would take for its own. */

/** Code points that HFS+ ignores in names: `.g<zero-width>it` is `.git` there. */
const HFS_IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/gu;

/** The name as the most lenient file system would read it: HFS+ ignorables out, lower case, NTFS stream and trailing dots and spaces cut. */
function folded(name: string): string {
  const plain = name.replace(HFS_IGNORED, '').toLowerCase();
  return (plain.split(':')[0] ?? '').replace(/[. ]+$/, '');
}

/** A name that some file system takes for `.git`. A backslash separates components on Windows. */
export function isDotGit(name: Buffer): boolean {
  return name
    .toString('utf8')
    .split('\\')
    .some((part) => ['.git', 'git~1'].includes(folded(part)));
}

/** A file that steers git; as a link it would let git read something else. NTFS short names included. */
export function isGitControlFile(name: Buffer): boolean {
  const plain = folded(name.toString('utf8'));
  return (
    /^\.(gitmodules|gitattributes|gitignore|mailmap)$/.test(plain) ||
    /^(gitmod|gitatt|gitign|mailma|gi7eba|gi7d29|gi250a|maba30)~\d$/.test(plain)
  );
}
