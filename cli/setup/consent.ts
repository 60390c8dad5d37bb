/** Leave to change the machine: given by `--yes`, asked for on a terminal, otherwise refused with the commands to type. */
import { createInterface } from 'node:readline/promises';
import { MissingError } from '../exit.ts';

export interface Offer {
  /** What is missing. */
  readonly what: string;
  readonly why?: string | undefined;
  /** What will be run, or typed by the user instead. */
  readonly commands: readonly string[];
}

/** Returns when the offer is accepted; throws MissingError with the commands when it is not. */
export async function askConsent(offer: Offer, yes: boolean): Promise<void> {
  if (yes) return;
  if (process.stdin.isTTY && process.stderr.isTTY) {
    const terminal = createInterface({ input: process.stdin, output: process.stderr });
    try {
      const commands = offer.commands.map((command) => `    ${command}\n`).join('');
      const answer = await terminal.question(`${offer.what} swarmline can do this now:\n${commands}Go ahead? [y/N] `);
      if (/^y(es)?$/i.test(answer.trim())) return;
    } finally {
      terminal.close();
    }
  }
  throw new MissingError({
    what: offer.what,
    why: offer.why ?? 'swarmline can install it itself: say so with --yes, or type it yourself.',
    command: offer.commands,
  });
}
