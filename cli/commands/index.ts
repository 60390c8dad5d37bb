import type { Command } from 'commander';

/** Registers every command that talks to a running system. */
export function registerAll(_program: Command): void {}
