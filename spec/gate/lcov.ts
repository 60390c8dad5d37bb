/** lcov coverage files: lines and how often each ran. */

/** Path (relative to the workspace) → line → hits. Files that occur twice are added up. */
export type LineHits = ReadonlyMap<string, ReadonlyMap<number, number>>;

/** `root` is the workspace's path in the container; paths in the report may be absolute below it or relative to it. */
export function parseLcov(text: string, root = '/workspace'): LineHits {
  const files = new Map<string, Map<number, number>>();
  let lines: Map<number, number> | null = null;
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('SF:')) {
      const path = relative(line.slice(3).trim(), root);
      lines = files.get(path) ?? new Map<number, number>();
      files.set(path, lines);
    } else if (line === 'end_of_record') lines = null;
    else if (line.startsWith('DA:') && lines !== null) {
      const [number, hits] = line.slice(3).split(',').map(Number);
      if (number === undefined || hits === undefined || !Number.isInteger(number) || Number.isNaN(hits)) continue;
      lines.set(number, (lines.get(number) ?? 0) + hits);
    }
  }
  return files;
}

function relative(path: string, root: string): string {
  const inside = path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
  return inside.replace(/^(?:\.\/)+/, '');
}
