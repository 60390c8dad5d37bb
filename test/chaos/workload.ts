/**
 * A run that is worth interrupting: several waves of short tasks on a repository whose gate really runs its tests. What must come of it is
 * known beforehand: every file of the end, and how many attempts each task takes.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { execute } from '../support/stack.ts';
import type { Dice } from './dice.ts';

export interface Workload {
  readonly spec: Record<string, unknown>;
  readonly origin: string;
  /** Task → attempts that it takes when nothing is interrupted. An interruption adds none. */
  readonly attempts: ReadonlyMap<string, number>;
  /** Path → content in the end, of every file that a task writes. */
  readonly files: ReadonlyMap<string, string>;
}

interface Options {
  /** In `dir`, which must not exist. */
  readonly dir: string;
  readonly waves: number;
  readonly lines: number;
  /** An attempt works for up to this long before it writes … */
  readonly workMs: number;
  /** … and at least this long. Default 0. */
  readonly leastMs?: number;
  readonly dice: Dice;
}

/** Each line's steps are 1, 4, 9, …: a wrong number, and a step that is there twice or not at all, turn this red. */
const TEST = `import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import test from 'node:test';

for (const file of readdirSync(new URL('../src/', import.meta.url)))
  test(\`\${file} holds the squares from 1 upwards\`, async () => {
    const { steps } = await import(new URL(\`../src/\${file}\`, import.meta.url));
    assert.deepEqual(steps, steps.map((_, at) => (at + 1) ** 2));
  });
`;

const lineOf = (steps: readonly number[]): string => `export const steps = [${steps.join(', ')}];\n`;
const squares = (count: number): number[] => Array.from({ length: count }, (_, at) => (at + 1) ** 2);

export async function makeWorkload({ dir, waves, lines, workMs, leastMs = 0, dice }: Options): Promise<Workload> {
  const attempts = new Map<string, number>();
  const files = new Map<string, string>();
  const tasks: Record<string, unknown>[] = [];
  for (let wave = 1; wave <= waves; wave += 1) {
    for (let line = 1; line <= lines; line += 1) {
      const id = `w${wave}-line-${line}`;
      const [source, note] = [`src/line-${line}.mjs`, `notes/${id}.md`];
      const edits = [
        { path: source, content: lineOf(squares(wave)) },
        { path: note, content: `Step ${wave} of line ${line}.\n` },
      ];
      const wrong = { path: source, content: lineOf([...squares(wave - 1), -1]) };
      const isRedOnce = dice.below(4) === 0;
      const work = (): string => `${leastMs + dice.below(workMs - leastMs)}ms`;
      tasks.push({
        id,
        goal: `Line ${line} has step ${wave}.`,
        files: { allow: [source, note] },
        acceptance: [`The last of the steps is ${wave ** 2}.`],
        // Two dependencies, so that a wave is no bundle of lines that know nothing of each other.
        dependsOn: wave === 1 ? [] : [...new Set([line, (line % lines) + 1])].map((at) => `w${wave - 1}-line-${at}`),
        script: [...(isRedOnce ? [{ edits: [wrong], wait: work() }] : []), { edits, wait: work() }],
      });
      attempts.set(id, isRedOnce ? 2 : 1);
      for (const { path, content } of edits) files.set(path, content);
    }
  }
  const start = Object.fromEntries(Array.from({ length: lines }, (_, at) => [`src/line-${at + 1}.mjs`, lineOf([])]));
  await makeRepository(dir, { ...start, 'test/lines.test.mjs': TEST });
  const spec = {
    name: 'squares',
    goal: 'Every line has all its steps.',
    repository: { url: pathToFileURL(dir).href },
    gate: { lint: 'skip', typecheck: 'skip', build: 'skip', test: 'node --test' },
    sandbox: { limits: { memory: '256m', disk: '16m', agent: '3m', step: '3m' } },
    roles: { worker: { engine: 'scripted' } },
    policy: { gateProof: 'off' },
    tasks,
  };
  return { spec, origin: dir, attempts, files };
}

async function makeRepository(dir: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), content);
  }
  const who = ['-c', 'user.name=A Person', '-c', 'user.email=person@example.org', '-c', 'commit.gpgSign=false'];
  for (const step of [
    ['init', '--quiet', '--initial-branch=main'],
    ['add', '--all'],
    ['commit', '--quiet', '-m', 'Begin'],
  ]) {
    const { code, err } = await execute(['git', ...who, ...step], { cwd: dir });
    if (code !== 0) throw new Error(`git ${step.join(' ')}: ${err}`);
  }
}
