import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { main } from '../../../cli/program.ts';
import { nearest } from '../../../cli/nearest.ts';
import { inlineSpecTests } from '../../../cli/preset-tests.ts';
import { checkPayload, checkRunId, runIdFor } from '../../../cli/submit.ts';
import { readTaskFile } from '../../../cli/task-file.ts';
import { uiLink } from '../../../cli/temporal.ts';

let told = '';
beforeEach(() => {
  told = '';
  jest.spyOn(process.stderr, 'write').mockImplementation((chunk) => {
    told += String(chunk);
    return true;
  });
});
afterEach(() => {
  jest.restoreAllMocks();
});
const type = (...words: string[]): Promise<number> => main(['node', 'swarmline', ...words]);

describe('arguments that cannot be used end with 2, say why, and open nothing', () => {
  test.each([
    [['approve', 'r', 'mege'], 'The nearest is merge'],
    [['approve', 'r', 'merge'], '--task TASK'],
    [['skip', 'r', 't', '--dependants', 'all'], 'release, skip'],
    [['land-anyway', 'r', 't', 'tests', '--reason', 'x'], 'The nearest is test'],
    [['land-anyway', 'r', 't', 'test', '--reason', ' '], '--reason must say something'],
    [['land-anyway', 'r', 't', 'test'], '--reason'],
    [['logs', 'r', 't', '--attempt', '0'], 'at least 1'],
    [['logs', 'r', 't', '--attempt', '1e3'], 'whole number'],
    [['gc', '--keep-days', '-1'], 'whole number'],
    [['run', 'spec.txt'], '.yaml'],
    [['run', '/nonexistent/spec.yaml'], 'There is no such file'],
    [['add', 'r', '/nonexistent/task.yaml'], 'There is no such file'],
    [['retry', 'r'], 'task'],
    [['nonsense'], 'nonsense'],
  ])('%p', async (words, expected) => {
    expect(await type(...words)).toBe(2);
    expect(told).toContain(expected);
  });
});

describe('a run id', () => {
  test('is made of the name and the time, cut to 63 characters', () => {
    const now = new Date('2026-03-04T05:06:07.890Z');
    expect(runIdFor('orders', now)).toBe('orders-20260304-050607');
    const long = runIdFor(`${'x'.repeat(46)}.y`, now);
    expect(long).toBe(`${'x'.repeat(46)}-20260304-050607`);
    checkRunId(long);
  });

  test.each(['', 'Orders', 'a/b', 'a..b', 'a.lock', 'a.', '-a', 'a~1', 'a:b', 'x'.repeat(64)])(
    '%p is refused',
    (id) => {
      expect(() => checkRunId(id)).toThrow('cannot be the id of a run');
    },
  );
});

test('a spec over the limit is refused with the limit and what to do', () => {
  checkPayload({ goal: 'x'.repeat(2_000_000) });
  expect(() => checkPayload({ goal: 'ä'.repeat(1_100_000) })).toThrow(/2\.10 MiB.*at most 1\.98 MiB[\s\S]*fanOut/);
});

test('the nearest names are those that contain what was typed, then those with the fewest edits', () => {
  expect(nearest('orders', ['orders-2', 'ordres', 'zod', 'orders-1'])).toEqual(['orders-2', 'orders-1', 'ordres']);
});

describe('task files', () => {
  const file = async (name: string, text: string): Promise<string> => {
    const path = join(await mkdtemp(join(tmpdir(), 'swarmline-test-task-')), name);
    await writeFile(path, text);
    return path;
  };

  test('YAML and JSON are read alike', async () => {
    expect(await readTaskFile(await file('t.yaml', 'goal: x\npriority: 2\n'))).toEqual({ goal: 'x', priority: 2 });
    expect(await readTaskFile(await file('t.json', '{"goal": "x"}'))).toEqual({ goal: 'x' });
  });

  test('an error names file and line', async () => {
    const path = await file('t.yaml', 'goal: x\nfiles: [\n');
    await expect(readTaskFile(path)).rejects.toThrow(/t\.yaml:\d+ is neither YAML nor JSON/);
    await expect(readTaskFile(await file('l.yaml', '- a\n'))).rejects.toThrow('does not hold a task');
  });

  test('preset tests beside the file are read in; other paths are left to the base commit', async () => {
    const path = await file('t.yaml', 'x: 1\n');
    const folder = join(path, '..');
    await writeFile(join(folder, 'cancel.test.ts'), 'expect(1)');
    const raw = {
      tasks: [
        {
          tests: { 'a.test.ts': 'cancel.test.ts', 'b.test.ts': 'in/base.ts', 'c.test.ts': '../x', d: '/etc/hostname' },
        },
      ],
      fanOut: [{ task: { tests: { e: 'cancel.test.ts', f: { content: 'given' } } } }],
    };
    await inlineSpecTests(raw, folder);
    expect(raw).toEqual({
      tasks: [
        {
          tests: {
            'a.test.ts': { content: 'expect(1)' },
            'b.test.ts': 'in/base.ts',
            'c.test.ts': '../x',
            d: '/etc/hostname',
          },
        },
      ],
      fanOut: [{ task: { tests: { e: { content: 'expect(1)' }, f: { content: 'given' } } } }],
    });
  });
});

describe('the page of a run', () => {
  const ports = { temporal: 7233, temporalUi: 8233, postgres: 1, hub: 1, metrics: 1 };
  test.each([
    ['127.0.0.1:7233', {}, 'http://127.0.0.1:8233/namespaces/default/workflows/a%2Fb'],
    ['localhost:9999', {}, 'http://localhost:10999/namespaces/default/workflows/a%2Fb'],
    ['x.tmprl.cloud:7233', {}, 'https://cloud.temporal.io/namespaces/default/workflows/a%2Fb'],
    ['temporal.example:7233', {}, null],
    [
      'temporal.example:7233',
      { SWARMLINE_UI_URL: 'https://ui.example/' },
      'https://ui.example/namespaces/default/workflows/a%2Fb',
    ],
  ])('of a server at %s', (address, env, link) => {
    expect(uiLink({ address, namespace: 'default' }, 'a/b', ports, env)).toBe(link);
  });
});
