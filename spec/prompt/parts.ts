/** Parts that prompts are made of: texts, lists, files, logs, each with the ways in which it may be cut. */
import { fenced, item, pathInText } from './fence.ts';
import { stripAnsi } from '../gate/signature.ts';
import type { Part, Section } from './fit.ts';
import { trimAroundFailures } from './log.ts';
import { headOf, signaturesOf } from './signatures.ts';

const READ = 'read it yourself';

export interface NamedText {
  readonly path: string;
  readonly content: string;
}

/** Always shown whole; '' is left out. */
export const always = (title: string, text: string): Section => ({ title, lead: text.trim(), parts: [], cut: null });

export const bullets = (items: readonly string[]): string => items.map((one) => `- ${item(one)}`).join('\n');

/**
 * A list whose oldest entries go first, half of them at a time.
 * @param items oldest first
 * @param what in the plural: "notices"
 */
export function newest(title: string, items: readonly string[], what: string, cut: number, lead = ''): Section {
  const counts = [items.length];
  while (counts.at(-1)! > 0) counts.push(counts.at(-1)! >> 1);
  const forms = counts.map((count) => ({
    text: () => bullets(items.slice(items.length - count)),
    missing: count === items.length ? null : `${items.length - count} of ${items.length} ${what}, the older ones`,
  }));
  return items.length === 0 ? { title, parts: [], cut } : { title, lead, parts: [{ name: what, forms }], cut };
}

/** A text in a fence, cut to its first lines, then left out. */
export function guide(title: string, text: string | null, what: string, cut: number): Section {
  const whole = text?.trim() ?? '';
  const shorter = [40, 10].filter((lines) => lines < whole.split('\n').length);
  const part: Part = {
    name: what,
    forms: [
      { text: () => fenced(whole), missing: null },
      ...shorter.map((lines) => ({
        text: () => fenced(headOf(whole, lines)),
        missing: `${what}: all but the first ${lines} lines`,
      })),
      { text: () => '', missing: `${what}: not shown` },
    ],
  };
  return { title, parts: whole === '' ? [] : [part], cut };
}

/** Files whole, then only their signatures, then not at all; the longest first. */
export function wholeFiles(
  title: string,
  files: readonly { readonly path: string; readonly content: string | null }[],
  cut: number,
  lead = '',
): Section {
  const parts = files.map(({ path, content }): Part => {
    const shown = pathInText(path);
    if (content === null) return { name: path, forms: [{ text: () => `${shown}: does not exist yet`, missing: null }] };
    return {
      name: path,
      forms: [
        { text: () => `${shown}\n${fenced(content)}`, missing: null },
        {
          text: () => `${shown} (signatures only)\n${fenced(signaturesOf(path, content))}`,
          missing: `${shown}: only its signatures are shown; ${READ}`,
        },
        { text: () => '', missing: `${shown}: not shown; ${READ}` },
      ],
    };
  });
  return { title, parts, cut, first: 'longest', ...(files.length > 0 ? { lead } : {}) };
}

/** Signatures of files; the last ones go first. */
export function references(title: string, files: readonly NamedText[], cut: number): Section {
  const parts = files.map(({ path, content }): Part => {
    const shown = pathInText(path);
    return {
      name: path,
      forms: [
        { text: () => `${shown}\n${fenced(signaturesOf(path, content))}`, missing: null },
        { text: () => '', missing: `${shown} (reference): not shown; ${READ}` },
      ],
    };
  });
  return { title, parts, cut };
}

const LOG_BYTES = [16_000, 8_000, 4_000, 2_000, 1_000];

/** A log without colours, cut around its failures, shorter and shorter, but never left out. */
export function failureLog(title: string, lead: string, coloured: string, what: string, cut: number): Section {
  const log = stripAnsi(coloured);
  const size = new TextEncoder().encode(log).length;
  const forms = LOG_BYTES.filter((bytes, i) => i === 0 || bytes < size).map((bytes) => ({
    text: () => (log === '' ? '' : fenced(trimAroundFailures(log, bytes))),
    missing: size <= bytes ? null : `${what}: cut to ${bytes} of ${size} bytes, around its failures`,
  }));
  return { title, lead, parts: log === '' ? [] : [{ name: what, forms }], cut };
}
