/** The rooms below the sandbox as plain JavaScript, so that a test can kill a real process that uses them. */
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { transformSync } from '@swc/core';

/** Compiles into a directory below node_modules (where packages still resolve) and returns it. Remove it afterwards. */
export function compileRooms(rooms: readonly string[] = ['sandbox', 'mainline', 'spec']): string {
  const root = resolve(import.meta.dirname, '../../..');
  mkdirSync(join(root, 'node_modules/.cache'), { recursive: true });
  const out = mkdtempSync(join(root, 'node_modules/.cache/swarmline-test-'));
  writeFileSync(join(out, 'package.json'), '{"type": "module"}');
  for (const room of rooms) {
    for (const file of readdirSync(join(root, room), { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    )) {
      const { code } = transformSync(readFileSync(join(root, room, file), 'utf8'), {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
        module: { type: 'es6' },
      });
      const target = join(out, room, file.replace(/\.ts$/, '.js'));
      mkdirSync(join(target, '..'), { recursive: true });
      writeFileSync(target, code.replace(/(from\s+['"]\.[^'"]*)\.ts(['"])/g, '$1.js$2'));
    }
  }
  return out;
}
