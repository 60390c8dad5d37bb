/** Where a hub is and whose: what every operation on it needs to know. */
export interface HubPlace {
  /** The bare repository, absolute. */
  readonly dir: string;
  /** Run id, from the directory's name. */
  readonly run: string;
  /** Called at the instants at which a crash hurts most; tests throw there. */
  readonly faults?: ((instant: 'before-swap' | 'after-swap') => void | Promise<void>) | undefined;
}
