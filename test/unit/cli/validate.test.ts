import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, it } from '@jest/globals';
import { main } from '../../../cli/program.ts';

const root = new URL('../../../', import.meta.url).pathname;
const directory = mkdtempSync(join(tmpdir(), 'swarmline-validate-'));
const shop = join(directory, 'shop');
let printed = '';
let complained = '';

beforeAll(
  () => void execFileSync(process.execPath, [join(root, 'examples/tiny/prepare.mjs'), shop, '--spec', `${shop}.json`]),
);
afterAll(() => rmSync(directory, { recursive: true, force: true }));
beforeEach(() => {
  printed = '';
  complained = '';
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += String(text);
    return true;
  });
  jest.spyOn(process.stderr, 'write').mockImplementation((text) => {
    complained += String(text);
    return true;
  });
});
afterEach(() => void jest.restoreAllMocks());

const type = (...words: string[]): Promise<number> => main(['node', 'swarmline', ...words]);
const write = (change: (text: string) => string): string => {
  const path = join(directory, 'spoilt.json');
  writeFileSync(path, change(readFileSync(`${shop}.json`, 'utf8')));
  return path;
};

describe('validate', () => {
  it('a good spec ends with 0, checked against the repository that it names', async () => {
    expect(await type('validate', `${shop}.json`)).toBe(0);
    expect(printed).toBe(`${shop}.json: no problem (5 tasks)\n`);
  });

  it('problems come a line each, with file, line and path, and end with 2', async () => {
    const path = write((text) => text.replace('"lint"', '"lnt"').replace('"src/slug.mjs"', '"../slug.mjs"'));
    expect(await type('validate', path)).toBe(2);
    const lines = printed.trimEnd().split('\n');
    expect(lines).toHaveLength(4);
    expect(lines[0]).toMatch(/spoilt\.json:\d+ gate\.lint: this step is neither configured nor "skip"/);
    expect(lines[1]).toMatch(/spoilt\.json:\d+ gate\.lnt: unknown field \(did you mean "lint"\?\)$/);
    expect(lines[2]).toMatch(/spoilt\.json:\d+ tasks\[1\]\.files\.allow\[0\]: /);
    expect(lines[3]).toMatch(/spoilt\.json: 3 problems; nothing was started$/);
  });

  it('a budget in money that could not be held is a problem, until SWARMLINE_PRICES names the price', async () => {
    const path = write((text) => {
      const spec = JSON.parse(text) as Record<string, unknown>;
      const worker = { engine: 'claude-code', model: 'house-model' };
      return JSON.stringify({ ...spec, roles: { worker }, budget: { usd: 5 } });
    });
    expect(await type('validate', path)).toBe(2);
    expect(printed).toMatch(/roles\.worker\.model: the price of "house-model" is not known, so budget\.usd/);
    printed = '';
    const file = join(directory, 'prices.json');
    writeFileSync(file, '{"house-model": {"input": 1, "cached": 0.1, "cacheWrite": 1, "output": 5}}');
    const before = process.env['SWARMLINE_PRICES'];
    process.env['SWARMLINE_PRICES'] = file;
    try {
      expect(await type('validate', path)).toBe(0);
      writeFileSync(file, '{"house-model": 5}');
      expect(await type('validate', path)).toBe(2);
      expect(complained).toContain(`SWARMLINE_PRICES=${file} is no table of prices`);
    } finally {
      if (before === undefined) delete process.env['SWARMLINE_PRICES'];
      else process.env['SWARMLINE_PRICES'] = before;
    }
  });

  it('a branch that the repository does not have is a problem', async () => {
    const path = write((text) => text.replace('"repository": {', '"repository": { "branch": "nope",'));
    expect(await type('validate', path)).toBe(2);
    expect(printed).toContain('repository.branch: the repository has no such branch');
  });

  it('a repository that is not there is a problem', async () => {
    expect(
      await type(
        'validate',
        write((text) => text.replace('/shop"', '/nothing"')),
      ),
    ).toBe(2);
    expect(printed).toContain('repository.url: there is no git repository at this address');
  });

  it('--json gives problems and warnings as data', async () => {
    expect(
      await type(
        'validate',
        write((text) => text.replace('"goal"', '"gaol"')),
        '--json',
      ),
    ).toBe(2);
    expect(JSON.parse(printed)).toEqual({
      problems: [
        { path: 'gaol', message: 'unknown field (did you mean "goal"?)', line: 3 },
        expect.objectContaining({ path: 'goal' }),
      ],
      warnings: [],
    });
  });

  it('--in looks at a clone', async () => {
    expect(await type('validate', join(root, 'examples/orders.md'), '--in', shop)).toBe(0);
    expect(await type('validate', join(root, 'examples/orders.md'), '--in', directory)).toBe(2);
    expect(complained).toContain('is no git repository');
  });

  it('a repository elsewhere is left to the worker, and that is said', async () => {
    expect(await type('validate', join(root, 'examples/orders.md'))).toBe(0);
    expect(printed).toContain('the repository was not looked at');
  });
});

it('schema prints the JSON Schema, or the reference page', async () => {
  expect(await type('schema')).toBe(0);
  expect(JSON.parse(printed)).toEqual(JSON.parse(readFileSync(join(root, 'docs/spec.schema.json'), 'utf8')));
  printed = '';
  expect(await type('schema', '--format', 'markdown')).toBe(0);
  expect(printed).toBe(readFileSync(join(root, 'docs/spec.md'), 'utf8'));
});
