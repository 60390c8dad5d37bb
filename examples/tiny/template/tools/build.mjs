// Puts the library into one folder outside the workspace and loads it from there.
import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const out = mkdtempSync(join(tmpdir(), 'build-'));
cpSync('src', join(out, 'src'), { recursive: true });
cpSync('package.json', join(out, 'package.json'));
const library = await import(pathToFileURL(join(out, 'src/index.mjs')).href);
console.log(`built: ${Object.keys(library).join(', ')}`);
