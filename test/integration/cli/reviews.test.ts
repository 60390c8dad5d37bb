import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { main } from '../../../cli/program.ts';
import type { Pool } from '../../../store/index.ts';
import * as store from '../../../store/index.ts';
import { startCluster } from '../store/cluster.ts';
import type { Cluster } from '../store/cluster.ts';
import { compiledSpec, taskSpec } from '../store/fixtures.ts';

let cluster: Cluster;
let db: Pool;
const before = { ...process.env };
let [out, err] = ['', ''];
beforeAll(async () => {
  cluster = await startCluster();
  db = await cluster.database();
  process.env['DATABASE_URL'] = db.options.connectionString ?? '';
  await store.saveRun(db, { id: 'r', spec: compiledSpec() });
  await store.saveTasks(db, 'r', [taskSpec('a')]);
  const key = { run: 'r', task: 'a', attempt: 1 };
  await store.endAttempt(db, key, { outcome: 'rejected' });
  const finding = { severity: 'blocking' as const, file: 'src/a.ts', line: 3, text: 'Wrong total.' };
  const verdict = { verdict: 'reject' as const, findings: [finding], summary: 'Not yet.' };
  const by = { reviewer: 0, view: 'diff' as const, engine: 'codex', model: 'gpt', calls: 1, why: '', ms: 5 };
  await store.saveReview(db, key, { ...by, verdict });
}, 120_000);
afterAll(async () => {
  process.env = before;
  await cluster.stop();
}, 60_000);
beforeEach(() => {
  out = err = '';
  jest.spyOn(process.stdout, 'write').mockImplementation((chunk) => ((out += String(chunk)), true));
  jest.spyOn(process.stderr, 'write').mockImplementation((chunk) => ((err += String(chunk)), true));
});
const type = (...words: string[]): Promise<number> => main(['node', 'swarmline', ...words]);

test('a finding is shown by the name by which a person says that it was wrong, and counts so from then on', async () => {
  expect(await type('reviews', 'r')).toBe(0);
  expect(out).toContain('1.1  blocking src/a.ts:3: Wrong total.  [open]');
  expect(await type('finding', 'r', 'a/1', '1.1', 'wrong')).toBe(0);
  expect(out).toContain('finding 1.1 of a/1 counts as wrong');
  out = '';
  expect(await type('reviews', 'r', 'a', '--json')).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ run: 'r', attempts: [{ task: 'a', reviews: [{ findings: [{ said: 'wrong' }] }] }] }); // prettier-ignore
});

test.each([
  [['finding', 'r', 'a/1', '1.1', 'maybe'], 'right, wrong'],
  [['finding', 'r', 'a', '1.1', 'wrong'], 'names no finding'],
  [['finding', 'r', 'a/1', '1', 'wrong'], 'names no finding'],
  [['finding', 'r', 'a/1', '1.9', 'wrong'], 'has no finding 1.9 of a/1'],
  [['reviews', 'nobody'], 'nobody'],
])('%j is refused with what to type', async (words, why) => {
  expect(await type(...words)).toBe(2);
  expect(err).toContain(why);
  expect(err).toContain('./swarmline');
});

test('a task that nobody has reviewed says so', async () => {
  expect(await type('reviews', 'r', 'b')).toBe(0);
  expect(out).toContain('no attempt of b has been reviewed yet');
});
