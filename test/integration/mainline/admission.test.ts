import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createAdmissionActivities } from '../../../activities/admission.ts';
import { openHub } from '../../../mainline/hub.ts';
import { DEFAULT_PRICES } from '../../../spec/prices.ts';
import { validateSpec } from '../../../spec/validate.ts';
import { world } from './fixture.ts';

/** A spec that counts how often its goal is read. */
function spec(more: object = {}): { raw: object; reads: () => number } {
  let reads = 0;
  const raw = {
    name: 'orders',
    repository: { url: 'file:///nowhere/at/all', branch: 'main' },
    gate: { lint: 'skip', typecheck: 'skip', test: 'make test', build: 'skip' },
    roles: { worker: { engine: 'scripted' } },
    tasks: [],
    ...more,
  };
  Object.defineProperty(raw, 'goal', {
    enumerable: true,
    get: () => {
      reads += 1;
      return 'Every order can be cancelled.';
    },
  });
  return { raw, reads: () => reads };
}

async function problemsOf(raw: object): Promise<string[]> {
  const hubRoot = await mkdtemp(join(tmpdir(), 'swarmline-test-admission-'));
  const db = { query: () => Promise.resolve({ rows: [], rowCount: 0 }) } as never;
  const hub = (run: string) => openHub(join(hubRoot, `${run}.git`));
  try {
    const { admitRun } = createAdmissionActivities({
      db,
      prices: [DEFAULT_PRICES],
      hubRoot,
      hub,
      credential: () => Promise.resolve(null),
    });
    const error: unknown = await admitRun({ run: 'orders', raw }).catch((reason: unknown) => reason);
    const { details } = error as { details: [{ path: string }[]] };
    return details[0].map(({ path }) => path);
  } finally {
    await rm(hubRoot, { recursive: true, force: true });
  }
}

test('every problem of a spec whose repository can be read is found in one pass over it', async () => {
  const origin = await world({ 'a.txt': 'a' });
  try {
    const repository = { url: origin.url, branch: 'main' };
    const once = spec({ repository });
    validateSpec(once.raw, { files: [] });
    const admitted = spec({ repository });
    expect(await problemsOf(admitted.raw)).toEqual(['tasks']);
    expect(admitted.reads()).toBeLessThan(2 * once.reads()); // one more read: which preset tests it names
  } finally {
    await origin.close();
  }
});

test('a repository that cannot be read is told together with every other problem', async () => {
  expect(await problemsOf(spec().raw)).toEqual(['tasks', 'repository.url']);
});

test('what is wrong with the address of the repository is told with all the rest', async () => {
  expect(await problemsOf(spec({ repository: { branch: 'main' } }).raw)).toEqual(
    expect.arrayContaining(['tasks', expect.stringMatching(/^repository/)]),
  );
  expect(await problemsOf(spec({ repository: 'somewhere' }).raw)).toEqual(
    expect.arrayContaining(['repository', 'tasks']),
  );
});

test('a budget in money for a model without a price is refused with the rest, whether or not the repository can be read', async () => {
  const more = { roles: { worker: { engine: 'claude-code', model: 'house-model' } }, budget: { usd: 5 } };
  expect(await problemsOf(spec(more).raw)).toEqual(['roles.worker.model', 'tasks', 'repository.url']);
  const origin = await world({ 'a.txt': 'a' });
  try {
    const { raw } = spec({ ...more, repository: { url: origin.url, branch: 'main' } });
    expect(await problemsOf(raw)).toEqual(['roles.worker.model', 'tasks']);
  } finally {
    await origin.close();
  }
});
