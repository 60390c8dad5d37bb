/** The code of an error from Node (`ENOENT`), whatever realm it comes from; null for anything else. Pure. */
export function errorCode(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}
