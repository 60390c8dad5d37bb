/**
 * What others may call of a source file, without its bodies: by a real parser (Lezer: tolerant of errors, plain JavaScript) for
 * TypeScript, JavaScript and Python, the head of the text otherwise. Pure; never an error, whatever the text.
 */
import { javascriptSignatures } from './signatures-javascript.ts';
import { pythonSignatures } from './signatures-python.ts';

const HEAD_LINES = 40;
/** Characters: longer sources are no hand-written interface, and are shown by their head. */
const MAX_PARSED = 1_000_000;

const JAVASCRIPT = new Set(['ts', 'mts', 'cts', 'tsx', 'js', 'mjs', 'cjs', 'jsx']);

/** @returns '' when nothing of the file is for others */
export function signaturesOf(path: string, text: string): string {
  const extension = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? '';
  if (text.length <= MAX_PARSED) {
    if (JAVASCRIPT.has(extension)) return javascriptSignatures(extension, text);
    if (extension === 'py' || extension === 'pyi') return pythonSignatures(text);
  }
  return headOf(text);
}

/** The first lines, and how many more there are. */
export function headOf(text: string, most = HEAD_LINES): string {
  const lines = text.split('\n');
  return lines.length <= most ? text : `${lines.slice(0, most).join('\n')}\n… (${lines.length - most} more lines)`;
}
