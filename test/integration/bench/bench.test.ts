/** That the benchmarks run and print rows of the one shape. Their figures are judged nowhere in the tests. Needs dist/. */
import { spawn } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function bench(...args: string[]): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['dist/bench/main.js', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let [out, err] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, err }));
  });
}

const KEYS = ['name', 'value', 'unit', 'peer', 'peerValue', 'ratio', 'budget', 'holds'];

/** Its rows; a budget that does not hold is no failure here. */
async function rowsOf(...args: string[]): Promise<Record<string, unknown>[]> {
  const { code, out, err } = await bench(...args, '--json');
  expect({ code: code === 1 && out !== '' ? 0 : code, err: code === 0 || out !== '' ? '' : err }).toEqual({
    code: 0,
    err: '',
  });
  const rows = JSON.parse(out) as Record<string, unknown>[];
  for (const row of rows) {
    expect(Object.keys(row)).toEqual(KEYS);
    expect(Number.isFinite(row['value'])).toBe(true);
  }
  expect(code).toBe(rows.some(({ holds }) => holds === false) ? 1 : 0);
  return rows;
}

describe('benchmarks', () => {
  test('sandbox: one pair gives a ratio to docker run, with its budget', async () => {
    const [first] = await rowsOf('sandbox', '--pairs', '1');
    expect(first).toMatchObject({ unit: 'ms', peer: 'docker run --rm', budget: 1.5 });
  }, 120_000);

  test('overhead: four tasks of a second land, all at once in flight', async () => {
    const rows = await rowsOf('overhead', '--seconds', '1', '--in-flight', '4');
    expect(rows[0]).toMatchObject({ unit: 's', peer: 'semaphore in one process', budget: expect.any(Number) });
    const events = rows.find(({ name }) => name === 'overhead/4: workflow events per task, all workflows');
    expect(events!['value']).toBeGreaterThan(20);
  }, 180_000);

  test('gateway: calls go through it whole, and all streams are held', async () => {
    const rows = await rowsOf('gateway', '--pairs', '3');
    expect(rows[0]).toMatchObject({ unit: 'ms', peer: 'the same call, made directly' });
    expect(rows.find(({ name }) => name === 'gateway: streams of 200 that came whole')).toMatchObject({ value: 200 });
  }, 120_000);

  test('a name that is none exits 2 and says what to type', async () => {
    const { code, err } = await bench('speed');
    expect(code).toBe(2);
    expect(err).toContain('npm run bench -- --help');
  }, 30_000);
});
