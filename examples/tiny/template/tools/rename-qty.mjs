// Renames qty to quantityOf where it is defined and tested. Who else uses it, it learns from the log of a red gate: every source
// file that the log names and that still says "qty" is renamed too.
import { existsSync, readFileSync } from 'node:fs';
import { edit, failureLog } from './edit.mjs';

const rename = (text) => text.replace(/\bqty\b/g, 'quantityOf');
const named = [...failureLog().matchAll(/\b((?:src|test)\/[\w.-]+\.mjs)\b/g)].map(([, path]) => path);
const files = new Set(['src/stock.mjs', 'test/stock.test.mjs', ...named]);
for (const path of files) if (existsSync(path) && /\bqty\b/.test(readFileSync(path, 'utf8'))) edit(path, rename);
