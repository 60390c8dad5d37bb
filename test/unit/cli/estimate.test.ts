import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { main } from '../../../cli/program.ts';

const root = new URL('../../../', import.meta.url).pathname;
const directory = mkdtempSync(join(tmpdir(), 'swarmline-estimate-'));
const shop = join(directory, 'shop');
const CLEARED = ['SWARMLINE_STATE', 'DATABASE_URL', 'TEMPORAL_ADDRESS', 'SWARMLINE_PRICES'] as const;
const before = Object.fromEntries(CLEARED.map((name) => [name, process.env[name]]));
let printed = '';
let complained = '';

beforeAll(() => {
  execFileSync(process.execPath, [join(root, 'examples/tiny/prepare.mjs'), shop, '--spec', `${shop}.json`]);
  for (const name of CLEARED) delete process.env[name];
  process.env['SWARMLINE_STATE'] = join(directory, 'state'); // no database there
});
afterAll(() => {
  for (const name of CLEARED) {
    if (before[name] === undefined) delete process.env[name];
    else process.env[name] = before[name];
  }
  rmSync(directory, { recursive: true, force: true });
});
beforeEach(() => {
  printed = complained = '';
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
const prose = (more: object = {}): string => {
  const path = join(directory, 'prose.json');
  const claude = (model: string) => ({ engine: 'claude-code', model });
  const spec = {
    name: 'orders',
    goal: 'Orders can be cancelled.',
    repository: { empty: true },
    gate: { lint: 'skip', typecheck: 'skip', test: 'make test', build: 'skip' },
    roles: { planner: claude('claude-opus-4-8'), worker: claude('claude-sonnet-4-6') },
    ...more,
  };
  writeFileSync(path, JSON.stringify(spec));
  return path;
};

describe('estimate', () => {
  test('of explicit tasks needs nothing that runs, and says what is a guess', async () => {
    expect(await type('estimate', `${shop}.json`, '--slots', '3')).toBe(0);
    expect(printed).toContain('5 tasks in ');
    expect(printed).toMatch(/^worker +none \(command\) .* a guess$/m);
    expect(printed).toMatch(/^attempts at once +3 +at most, by the slots of the hosts$/m);
    expect(printed).toContain('not known: what attempts take: earlier runs cannot be looked at');
  });

  test('where a planner plans, is a range by the number of tasks, told in one screen', async () => {
    expect(await type('estimate', prose({ budget: { usd: 50 } }), '--slots', '40')).toBe(0);
    expect(`\n${printed}`).toMatchSnapshot();
  });

  test('for a number of tasks that is named, is of that number', async () => {
    expect(await type('estimate', prose(), '--tasks', '12', '--slots', '40')).toBe(0);
    expect(`\n${printed}`).toMatchSnapshot();
    printed = '';
    expect(await type('estimate', prose(), '--tasks', '12', '--json')).toBe(0);
    const { cases, unknown } = JSON.parse(printed) as { cases: unknown[]; unknown: string[] };
    expect(cases).toEqual([
      expect.objectContaining({ added: 12, estimate: expect.objectContaining({ usd: expect.any(Number) }) }),
    ]);
    expect(unknown.join('\n')).toContain('--slots N');
  });

  test.each([
    [['--tasks', '0'], '--tasks 0 is no number from 1 to 1000'],
    [['--tasks', '2000'], '--tasks 2000 is no number from 1 to 1000'],
    [['--slots', 'x'], '--slots x is no number'],
  ])('refuses %s', async (words, why) => {
    expect(await type('estimate', prose(), ...words)).toBe(2);
    expect(complained).toContain(why);
  });

  test('refuses --tasks where nobody plans, and a spec that could not run', async () => {
    expect(await type('estimate', `${shop}.json`, '--tasks', '3')).toBe(2);
    expect(complained).toContain('nobody plans in this spec');
    complained = '';
    expect(await type('estimate', prose({ goal: '' }))).toBe(2);
    expect(complained).toMatch(/prose\.json.* goal: is empty/);
  });
});
