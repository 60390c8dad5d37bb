/** What a host may hand in, and the bounds of looking at it. */
export interface IntakeLimits {
  /** Bytes of a pack, compressed. */
  readonly packBytes: number;
  /** Files and directories of the whole tree. */
  readonly entries: number;
  /** Directories below each other. */
  readonly depth: number;
  /** Bytes of a file that the base does not have. */
  readonly fileBytes: number;
  /** For each of the steps: unpacking, looking for what is missing, comparing with the base. */
  readonly timeoutMs: number;
}

export const INTAKE_LIMITS: IntakeLimits = {
  packBytes: 512 * 1024 ** 2,
  entries: 500_000,
  depth: 64,
  fileBytes: 100 * 1024 ** 2,
  timeoutMs: 120_000,
};

export interface TaskCommit {
  readonly task: string;
  readonly attempt: number;
  readonly commit: string;
  readonly base: string;
}
