/** The user that commands in a sandbox run as. */

/** The image's `agent` user; chosen so that no account of a usual host has it. */
export const SANDBOX_UID = 10001;

/** A root worker gives workspaces to SANDBOX_UID; another can only give them to itself, and runs the containers as itself. */
export function sandboxUser(): { readonly uid: number; readonly gid: number } {
  const uid = process.getuid?.() ?? 0;
  return uid === 0 ? { uid: SANDBOX_UID, gid: SANDBOX_UID } : { uid, gid: process.getgid?.() ?? uid };
}
