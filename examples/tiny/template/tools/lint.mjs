// The linter of this repository: no var, no tabs, no blanks at line ends, and a comment on every exported function.
import { readdirSync, readFileSync } from 'node:fs';

let complaints = 0;
for (const folder of ['src', 'test', 'tools']) {
  for (const name of readdirSync(folder)) {
    if (!name.endsWith('.mjs')) continue;
    const path = `${folder}/${name}`;
    const lines = readFileSync(path, 'utf8').split('\n');
    lines.forEach((line, i) => {
      const say = (rule) => {
        complaints++;
        console.log(`${path}:${i + 1}: ${rule}`);
      };
      if (/^\s*var\s/.test(line)) say('no-var');
      if (line.includes('\t')) say('no-tab');
      if (/\s$/.test(line)) say('no-trailing-blank');
      if (/^export (async )?function/.test(line) && !(lines[i - 1] ?? '').endsWith('*/')) say('comment-on-export');
    });
  }
}
process.exitCode = complaints > 0 ? 1 : 0;
