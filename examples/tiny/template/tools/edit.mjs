// What the codemods beside this file share.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** Rewrites a file; says so when there was nothing to do. */
export function edit(path, change) {
  const before = readFileSync(path, 'utf8');
  const after = change(before);
  console.log(after === before ? `${path}: nothing to change` : `${path}: changed`);
  writeFileSync(path, after);
}

/** Writes a new file. */
export function create(path, text) {
  console.log(`${path}: ${existsSync(path) ? 'written again' : 'new'}`);
  writeFileSync(path, text);
}

/** What the last attempt's gate said; '' at the first attempt. */
export function failureLog() {
  const path = process.env.SWARMLINE_FAILURE_LOG;
  return path === undefined ? '' : readFileSync(path, 'utf8');
}
