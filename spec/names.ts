/** Names and addresses that a spec may contain, and why a given one is refused. No message repeats what may be a secret. */

const ID = /^[a-z0-9][a-z0-9._-]{0,62}$/;

/** Why a run or task id is unsafe as a ref, container or file name; null when it is safe. */
export function idProblem(id: string): string | null {
  if (id === '') return 'is empty';
  if (ID.test(id) && !id.includes('..') && !id.endsWith('.lock') && !id.endsWith('.')) return null;
  const shown = JSON.stringify(id.length > 80 ? `${id.slice(0, 80)}…` : id);
  const better = safeId(id);
  const hint = better !== '' && better !== id ? `; for example "${better}"` : '';
  const why =
    id.length > 63
      ? `is ${id.length} characters long; 63 are allowed`
      : id.includes('..') || id.endsWith('.lock') || id.endsWith('.')
        ? 'is no safe name of a git ref (no "..", no ".lock" or "." at the end)'
        : 'must be a-z, 0-9, ".", "_" or "-", starting with a letter or digit, to be safe as a ref, container and file name';
  return `${shown} ${why}${hint}`;
}

/** The text made into an id, or '' when nothing of it is left. */
export function safeId(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/\.{2,}/g, '.')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, 63)
    .replace(/(\.lock)+$/, '')
    .replace(/[-._]+$/, '');
}

/** Why this cannot be a branch name (git check-ref-format), or null. */
export function branchProblem(branch: string): string | null {
  if (branch === '') return 'is empty';
  // oxlint-disable-next-line no-control-regex
  if (/[\x00-\x20\x7f~^:?*[\\]/.test(branch))
    return `${JSON.stringify(branch)} contains a character that git allows in no branch name`;
  const parts = branch.split('/');
  if (branch.startsWith('refs/')) return `"${branch}" is a full ref; write the branch name alone`;
  if (
    branch.includes('..') ||
    branch.includes('@{') ||
    branch.endsWith('.') ||
    branch.startsWith('-') ||
    branch === '@' ||
    branch === 'HEAD' ||
    parts.some((part) => part === '' || part.startsWith('.') || part.endsWith('.lock'))
  ) {
    return `"${branch}" is no name that git accepts for a branch`;
  }
  return null;
}

/** Why an address of a repository is refused, or null. Never repeats the address once it may hold a password. */
export function urlProblem(url: string): string | null {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(url)?.[1]?.toLowerCase();
  if (scheme === undefined) {
    if (url.startsWith('/')) return `is a path; write it as file://${url}`;
    const scp = /^([\w.-]+@)?([\w.-]+):([^/:].*)$/.exec(url);
    if (scp !== null) return `is in scp form; write it as ssh://${scp[1] ?? ''}${scp[2]}/${scp[3]}`;
    return 'must start with https://, ssh:// or file:///';
  }
  if (!['https', 'http', 'ssh', 'file'].includes(scheme))
    return `uses ${scheme}://; https://, ssh:// and file:/// are understood`;
  // oxlint-disable-next-line no-control-regex
  if (/[\s\x00-\x1f]/.test(url)) return 'contains a blank or control character';
  const authority = url.slice(scheme.length + 3).split('/')[0] ?? '';
  const user = authority.includes('@') ? authority.slice(0, authority.lastIndexOf('@')) : null;
  if (user !== null && (user.includes(':') || scheme !== 'ssh')) {
    return 'contains a user name with a password or token; take it out, give it to the worker, and name it in repository.credentials';
  }
  if (/[?#]/.test(url)) return 'has a query or fragment; secrets do not belong there, and git needs neither';
  if (scheme === 'http' && !/^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(authority))
    return 'uses http://, which anybody on the way can change; use https://';
  if (scheme === 'file' && !url.startsWith('file:///')) return 'must name an absolute path: file:///…';
  if (scheme !== 'file' && authority === '') return 'names no host';
  return null;
}

/** Why a webhook is refused, or null. */
export function webhookProblem(url: string): string | null {
  if (!/^https?:\/\/[^\s/]+/.test(url)) return 'must start with https:// or http://';
  if (/^https?:\/\/[^/]*@/.test(url)) return 'contains a user name or password; take it out';
  return null;
}

const TOKEN_SHAPES =
  /-----BEGIN [A-Z ]*PRIVATE KEY-----|\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{20,}|\bsk-[A-Za-z0-9_-]{32,}|\bAKIA[0-9A-Z]{16}\b|\bxox[abprs]-[\w-]{10,}|\bAIza[\w-]{35}\b|\bnpm_[A-Za-z0-9]{36}\b/;

/** Does the text contain something of the shape of a well-known key or token? */
export function looksSecret(text: string): boolean {
  return TOKEN_SHAPES.test(text);
}

/** Why a credential name is refused, or null: it must be a name that the worker resolves, never the secret. */
export function credentialProblem(name: string): string | null {
  const looksLikeValue =
    /[:/\s=+]|-----BEGIN/.test(name) ||
    looksSecret(name) ||
    name.length > 63 ||
    (name.length > 31 && /\d/.test(name) && /[A-Za-z]/.test(name) && !/[-_.]/.test(name));
  if (looksLikeValue) {
    return "looks like a secret, not like a name (it is not repeated here); put the value into a file of the worker's SWARMLINE_CREDENTIALS directory, and name that file. If it was a real one, revoke it";
  }
  return /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name) && !name.includes('..')
    ? null
    : 'must be a file name: letters, digits, ".", "_", "-"';
}

/** Why an image reference is refused, or null. */
export function imageProblem(image: string): string | null {
  if (image === '') return 'is empty; for example "swarmline/node:22"';
  const reference =
    /^(?:[a-zA-Z0-9.-]+(?::\d+)?\/)?[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*(?::[\w][\w.-]{0,127})?(?:@sha256:[a-f0-9]{64})?$/;
  return reference.test(image)
    ? null
    : `${JSON.stringify(image)} is no image reference; for example "swarmline/node:22" or "postgres@sha256:…"`;
}
