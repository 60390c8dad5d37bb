/** What can go wrong between us and a hub, as classes; each says who has to do something about it. */

/** The origin cannot be used. The user's to fix: the message says what happened and what to type. Not retryable, except 'unreachable'. */
export class RepositoryError extends Error {
  override readonly name = 'RepositoryError';
  readonly kind: 'unreachable' | 'no-branch' | 'not-a-repository' | 'refused';
  constructor(kind: RepositoryError['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

/** A pack that the hub does not take. A property of the attempt, the same at every retry. */
export class IntakeRefused extends Error {
  override readonly name = 'IntakeRefused';
  /** 'too-large', 'bad-pack', 'bad-key', 'unknown-base', 'wrong-commit', 'wrong-parent', 'other-commit', 'too-many-files', 'too-slow' or a path rule. */
  readonly rule: string;
  readonly path: string;
  constructor(rule: string, path: string, message: string) {
    super(message);
    this.rule = rule;
    this.path = path;
  }
}

/** A ref was not where the caller believed. Read the line again. */
export class RefMoved extends Error {
  override readonly name = 'RefMoved';
  readonly ref: string;
  constructor(ref: string, message: string) {
    super(message);
    this.ref = ref;
  }
}

/** The hub is not what it has to be: not there, or a move that the line's invariants forbid. Ours to fix. */
export class HubError extends Error {
  override readonly name = 'HubError';
}

/** The mainline cannot be pushed as asked. The message says why and how to go on; the commits stay in the hub. */
export class DeliveryError extends Error {
  override readonly name = 'DeliveryError';
  /** moved: the target has commits that the mainline lacks. rejected: the origin said no. */
  readonly kind: 'moved' | 'rejected';
  constructor(kind: DeliveryError['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}
