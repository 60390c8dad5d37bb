/** The program that examples/words describes, as its planners and workers make it: tasks with the files that they write. */

export interface PlayedTask {
  readonly id: string;
  readonly kind?: string;
  readonly goal: string;
  readonly interface?: string;
  readonly allow: readonly string[];
  readonly dependsOn?: readonly string[];
  readonly acceptance: readonly string[];
  /** What its worker leaves behind; null deletes. */
  readonly files: Readonly<Record<string, string | null>>;
  /** What it leaves behind until it has been told what is wrong. */
  readonly wrong?: Readonly<Record<string, string>>;
}

const command = (id: string, body: string, expected: string): PlayedTask => {
  const source = `// swarm:decision words-split\nimport { wordsOf } from '../words-of.js';\n\nexport const ${id} = (text) => ${body};\n`;
  const test = `import assert from 'node:assert/strict';\nimport test from 'node:test';\nimport { ${id} } from '../src/commands/${id}.js';\n\ntest('${id}', () => assert.equal(String(${id}('b a\\n B a')), ${JSON.stringify(expected)}));\n`;
  return {
    id,
    goal: `Write the command \`${id}\` in src/commands/${id}.js with its test. Words are split as swarm:decision words-split says.`,
    allow: [`src/commands/${id}.js`, `test/${id}.test.js`],
    acceptance: [`\`${id}('b a\\n B a')\` is ${JSON.stringify(expected)}.`],
    files: { [`src/commands/${id}.js`]: source, [`test/${id}.test.js`]: test },
  };
};
const spoiled = (task: PlayedTask, from: string, to: string): PlayedTask => ({
  ...task,
  wrong: Object.fromEntries(Object.entries(task.files).map(([path, text]) => [path, (text ?? '').replace(from, to)])),
});

export const SCAFFOLD: readonly PlayedTask[] = [
  {
    id: 'manifest',
    kind: 'dependency-update',
    goal: 'Write package.json: an ECMAScript module package without dependencies.',
    allow: ['package.json'],
    acceptance: ['package.json says `"type": "module"`.'],
    files: { 'package.json': `${JSON.stringify({ name: 'words', private: true, type: 'module' }, null, 2)}\n` },
  },
  {
    id: 'words-of',
    goal: 'Write src/words-of.js, which all commands use, with a first test, and NOTES.md with one line.',
    interface: '`wordsOf(text: string): string[]`: what stands between white space',
    allow: ['src/words-of.js', 'test/words-of.test.js', 'NOTES.md'],
    acceptance: ['`wordsOf(" a\\n b")` is `["a", "b"]`.'],
    files: {
      'src/words-of.js':
        "// swarm:decision words-split\nexport const wordsOf = (text) => text.split(/\\s+/).filter((word) => word !== '');\n",
      'test/words-of.test.js':
        "import assert from 'node:assert/strict';\nimport test from 'node:test';\nimport { wordsOf } from '../src/words-of.js';\n\ntest('words', () => assert.deepEqual(wordsOf(' a\\n b'), ['a', 'b']));\n",
      'NOTES.md': 'Words stand between white space.\n',
    },
  },
];

export const COMMANDS: readonly PlayedTask[] = [
  command('count', 'wordsOf(text).length', '4'),
  { ...command('upper', 'text.toUpperCase()', 'B A\n B A'), files: upperOrLower('upper', 'toUpperCase', 'B A\\n B A') },
  { ...command('lower', 'text.toLowerCase()', 'b a\n b a'), files: upperOrLower('lower', 'toLowerCase', 'b a\\n b a') },
  spoiled(command('reverse', "wordsOf(text).reverse().join(' ')", 'a B a b'), '.reverse()', ''),
  spoiled(command('unique', "[...new Set(wordsOf(text))].join(' ')", 'b a B'), 'assert.equal(', 'assert.ok('),
  command('sorted', "wordsOf(text).sort().join(' ')", 'B a a b'),
];

function upperOrLower(id: string, method: string, expected: string): Record<string, string> {
  return {
    [`src/commands/${id}.js`]: `export const ${id} = (text) => text.${method}();\n`,
    [`test/${id}.test.js`]: `import assert from 'node:assert/strict';\nimport test from 'node:test';\nimport { ${id} } from '../src/commands/${id}.js';\n\ntest('${id}', () => assert.equal(${id}('b a\\n B a'), '${expected}'));\n`,
  };
}

/**
 * Both change NOTES.md, where the spec lets two append at once. One moves it away and writes it anew, so that git does not take the new file
 * for the old one: a conflict for the merger, whichever lands first.
 */
export const NOTES: readonly PlayedTask[] = [
  {
    id: 'notes-move',
    goal: 'Move NOTES.md to docs/NOTES.md, as a list with a heading.',
    allow: ['NOTES.md', 'docs/NOTES.md'],
    acceptance: ['docs/NOTES.md holds what NOTES.md held, and NOTES.md is gone.'],
    files: {
      'NOTES.md': null,
      'docs/NOTES.md': '# Notes\n\n- Words stand between white space; whatever is no white space belongs to a word.\n',
    },
  },
  {
    id: 'notes-commands',
    goal: 'Add a line to NOTES.md: each command is a module.',
    allow: ['NOTES.md'],
    acceptance: ['NOTES.md has a line about commands.'],
    files: { 'NOTES.md': 'Words stand between white space.\nEach command is a module.\n' },
  },
];
/** What the merger makes of the two: both lines, where the later task found them. */
export const MERGED = { 'NOTES.md': 'Each command is a module.\n' };

export const MAIN: readonly PlayedTask[] = [
  {
    id: 'usage',
    goal: 'Write src/usage.js: the usage as a text, with every command.',
    interface: '`usage(): string`',
    allow: ['src/usage.js'],
    acceptance: ['`usage()` names every command.'],
    files: {
      'src/usage.js':
        "export const usage = () => 'usage: node src/main.js count|upper|lower|reverse|unique|sorted FILE\\n';\n",
    },
  },
  {
    id: 'main',
    goal: 'Write src/main.js: reads the file, runs the command, prints the result; else the usage, exit code 2.',
    allow: ['src/main.js', 'test/main.test.js'],
    dependsOn: ['usage'],
    acceptance: ['`node src/main.js count FILE` prints the number of words; an unknown command exits 2.'],
    files: {
      'src/main.js': `import { readFileSync } from 'node:fs';
import { usage } from './usage.js';

const [, , name = '', file] = process.argv;
const known = ['count', 'upper', 'lower', 'reverse', 'unique', 'sorted'];
if (!known.includes(name) || file === undefined) {
  process.stderr.write(usage());
  process.exit(2);
}
const { [name]: command } = await import(\`./commands/\${name}.js\`);
process.stdout.write(\`\${command(readFileSync(file, 'utf8'))}\\n\`);
`,
      'test/main.test.js': `import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';

test('main', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'words-')), 'text');
  writeFileSync(file, 'b a b');
  const run = (...args) => spawnSync(process.execPath, ['src/main.js', ...args], { encoding: 'utf8' });
  assert.equal(run('count', file).stdout, '3\\n');
  assert.equal(run('nothing', file).status, 2);
});
`,
    },
  },
];

export const ALL: readonly PlayedTask[] = [...SCAFFOLD, ...COMMANDS, ...NOTES, ...MAIN];
