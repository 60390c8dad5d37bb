/** Arguments checked before anything is opened, and the one line that says what happened. Pure. */
import { UserError } from '../exit.ts';
import { printable } from '../render/table.ts';
import { nearest } from '../nearest.ts';

/** @throws UserError naming the nearest of the allowed values */
export function oneOf(value: string, allowed: readonly string[], name: string, example: string): void {
  if (allowed.includes(value)) return;
  throw new UserError({
    what: `${name} cannot be "${value}".`,
    why: `It is one of ${allowed.join(', ')}. The nearest is ${nearest(value, allowed, 1).join('')}.`,
    command: example,
  });
}

/** A whole number of at least `least`. @throws UserError */
export function wholeNumber(text: string, name: string, least: number): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least) return value;
  throw new UserError({ what: `${name} cannot be "${text}".`, why: `It is a whole number of at least ${least}.` });
}

/** What the workflow said, else the sentence given. */
export const outcomeLine = (said: unknown, otherwise: string): string =>
  typeof said === 'string' && said.trim() !== '' ? printable(said.trim()) : otherwise;
