/**
 * What `npm run bench` starts: builds first when dist/ is missing or older than the sources, because figures of yesterday's code are
 * worse than none. SWARMLINE_SKIP_BUILD=1 measures what dist/ holds. Standard output belongs to the benchmark.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const program = join(root, 'dist', 'bench', 'main.js');
const ROOMS = [
  'activities',
  'bench',
  'cli',
  'engines',
  'gateway',
  'mainline',
  'sandbox',
  'spec',
  'store',
  'workers',
  'workflows',
];

/** Newest modification time below a folder, ms since the epoch. */
function newest(folder) {
  let time = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) time = Math.max(time, newest(path));
    else if (entry.name.endsWith('.ts')) time = Math.max(time, statSync(path).mtimeMs);
  }
  return time;
}

const built = existsSync(program) ? statSync(program).mtimeMs : 0;
const stale = built === 0 || ROOMS.some((room) => newest(join(root, room)) > built);
if (stale && process.env['SWARMLINE_SKIP_BUILD'] !== '1') {
  if (!existsSync(join(root, 'node_modules', 'typescript'))) {
    process.stderr.write('The packages are not installed.\n  type: ./swarmline doctor\n');
    process.exit(3);
  }
  process.stderr.write('building …\n');
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) {
    process.stderr.write('The build failed; nothing was measured.\n  type: npm run build\n');
    process.exit(1);
  }
}
if (!existsSync(program)) {
  process.stderr.write('There is no build.\n  type: npm run build\n');
  process.exit(3);
}
await import(program);
