/** TypeScript sources as trees, and changes to them by range: what is not changed keeps every byte. */
import { parse } from '@babel/parser';

/** @returns the program node; every node has `start` and `end`. */
export function parseTs(text) {
  return parse(text, { sourceType: 'module', plugins: ['typescript'] }).program;
}

/** Every node below (and with) `node`, parents first. */
export function* nodes(node) {
  yield node;
  for (const [key, value] of Object.entries(node)) {
    if (key === 'loc' || key.endsWith('Comments')) continue;
    for (const child of Array.isArray(value) ? value : [value]) {
      if (child !== null && typeof child === 'object' && typeof child.type === 'string') yield* nodes(child);
    }
  }
}

/** Ranges to replace, applied together. A range inside another that is already replaced is dropped with it. */
export class Edits {
  #text;
  #edits = [];

  constructor(text) {
    this.#text = text;
  }

  replace(start, end, text) {
    this.#edits.push({ start, end, text });
  }

  insert(at, text) {
    this.replace(at, at, text);
  }

  /** Removes the lines of a node, and one empty line after them. */
  removeLines(node) {
    const start = this.#text.lastIndexOf('\n', node.start - 1) + 1;
    let end = this.#text.indexOf('\n', node.end) + 1;
    if (end === 0) end = this.#text.length;
    if (this.#text[end] === '\n') end += 1;
    this.replace(start, end, '');
  }

  toString() {
    const ordered = [...this.#edits].sort((a, b) => a.start - b.start || b.end - a.end);
    let out = '';
    let at = 0;
    for (const edit of ordered) {
      if (edit.start < at) continue;
      out += this.#text.slice(at, edit.start) + edit.text;
      at = edit.end;
    }
    return out + this.#text.slice(at);
  }
}
