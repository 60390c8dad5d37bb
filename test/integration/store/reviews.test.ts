import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { decideReviews } from '../../../activities/decide-reviews.ts';
import type { Reviewer } from '../../../spec/model.ts';
import type { Finding, Verdict } from '../../../spec/review.ts';
import { reviewerRecords } from '../../../spec/finding-proof.ts';
import type { Pool } from '../../../store/db.ts';
import * as store from '../../../store/index.ts';
import { startCluster } from './cluster.ts';
import type { Cluster } from './cluster.ts';
import { compiledSpec, taskSpec } from './fixtures.ts';

let cluster: Cluster;
let db: Pool;
const reviewers: Reviewer[] = [
  { engine: 'claude-code', model: 'opus', sees: 'diff' },
  { engine: 'codex', model: 'gpt', sees: 'tree' },
];
beforeAll(async () => {
  cluster = await startCluster();
}, 60_000);
afterAll(() => cluster.stop(), 60_000);
beforeEach(async () => {
  db = await cluster.database();
  await store.saveRun(db, { id: 'r', spec: compiledSpec([], { reviewers }), startedAtMs: 1_000 });
  await store.saveTasks(db, 'r', [taskSpec('a')]);
  await store.recordAgent(db, key, { ok: true, commit: 'c1', base: 'b0', changed: 1 }, 10);
});

const key = { run: 'r', task: 'a', attempt: 1 };
const finding: Finding = { severity: 'blocking', file: 'src/a.ts', line: 3, text: 'A shipped order is cancelled.' };
const approve: Verdict = { verdict: 'approve', findings: [], summary: 'Good.' };
const reject: Verdict = { verdict: 'reject', findings: [finding, { ...finding, severity: 'minor', file: null, line: null }], summary: 'Bad.' }; // prettier-ignore
const save = (reviewer: number, verdict: Verdict | null, calls = 1, attempt = 1): Promise<void> => {
  const { engine, model, sees: view } = reviewers[reviewer]!;
  return store.saveReview(
    db,
    { ...key, attempt },
    { reviewer, view, engine, model, calls, verdict, why: 'It said nothing.', ms: 5 },
  );
};

describe('a review', () => {
  test('comes back as it was given, its findings in their order, whoever saves it twice', async () => {
    await save(1, reject);
    await save(1, reject);
    await save(0, approve);
    expect((await store.listReviews(db, key)).map(({ reviewer, verdict }) => [reviewer, verdict])).toEqual([
      [0, approve],
      [1, reject],
    ]);
  });

  test('invariant 1: a verdict that stands is not changed; one that is missing may be given at the next call', async () => {
    await save(0, approve);
    await save(0, reject, 2);
    await save(1, null);
    expect((await store.listReviews(db, key))[1]).toMatchObject({ verdict: null, why: 'It said nothing.', calls: 1 });
    await save(1, reject, 2);
    expect(await store.listReviews(db, key)).toMatchObject([
      { verdict: approve, calls: 1 },
      { verdict: reject, calls: 2, ms: 10 },
    ]);
  });
});

describe('what reviews mean together', () => {
  test('approved: the attempt asks to be merged', async () => {
    await save(0, approve);
    await save(1, approve);
    expect(await decideReviews(db, key, false)).toEqual({ decision: 'approved', missing: [], why: '' });
    expect(await store.listAttempts(db, 'r', 'a')).toMatchObject([{ phase: 'merge', outcome: null }]);
  });

  test('rejected: the findings are what the next attempt is told', async () => {
    await save(0, approve);
    await save(1, reject);
    expect(await decideReviews(db, key, false)).toMatchObject({
      decision: 'rejected',
      why: '2 findings, the worst (blocking) in src/a.ts:3: A shipped order is cancelled.',
    });
    const told = await store.lastFailure(db, 'r', 'a');
    expect(told).toMatchObject({ attempt: 1, cause: 'rejected' });
    expect(told?.log).toContain(
      'src/a.ts:3: error (blocking, by the reviewer of the tree): A shipped order is cancelled.',
    );
  });

  test('a missing one is asked for again, and at the last call it counts as a rejection that names it', async () => {
    await save(0, approve);
    expect(await decideReviews(db, key, false)).toEqual({ decision: 'undecided', missing: [1], why: '' });
    expect(await store.listAttempts(db, 'r', 'a')).toMatchObject([{ outcome: null }]);
    await save(1, null, 2);
    expect(await decideReviews(db, key, true)).toMatchObject({ decision: 'rejected', missing: [1] });
    expect((await store.lastFailure(db, 'r', 'a'))?.log).toContain(
      'Reviewer 2 (codex, of the tree) gave no verdict: It said nothing.',
    );
  });
});

describe('what findings proved to be', () => {
  test('right when they were followed, wrong when the task landed without; a person has the last word', async () => {
    await save(0, { ...reject, findings: [finding, { ...finding, line: 90 }] });
    await save(1, approve);
    await decideReviews(db, key, false);
    const second = { ...key, attempt: 2 };
    const open = await store.openFindings(db, second);
    expect(open).toMatchObject([
      { attempt: 1, reviewer: 0, n: 0, file: 'src/a.ts', line: 3, commit: 'c1' },
      { n: 1, line: 90 },
    ]);
    await store.markFollowed(db, 'r', 'a', open.slice(0, 1));
    expect(await store.openFindings(db, second)).toHaveLength(1);
    await store.endAttempt(db, second, { outcome: 'passed' });
    const record = async (): Promise<unknown> => reviewerRecords(await store.reviewFacts(db, 'r'));
    expect(await record()).toMatchObject([{ reviewer: 0, rejected: 1, findings: 2, right: 1, wrong: 1 }, { reviewer: 1, findings: 0 }]); // prettier-ignore
    expect(await store.sayOfFinding(db, { ...key, reviewer: 0, n: 1 }, 'right')).toBe(true);
    expect(await record()).toMatchObject([{ right: 2, wrong: 0 }, {}]);
    expect(await store.sayOfFinding(db, { ...key, reviewer: 0, n: 7 }, 'right')).toBe(false);
  });
});

describe('whose sockets may go', () => {
  const caller = (role: string, seat?: string) => ({ ...key, role, ...(seat === undefined ? {} : { seat }) });
  test('a worker’s when its agent is done; a reviewer’s only when its own verdict stands, or the attempt has its end', async () => {
    const [worker, first, second] = [
      caller('worker'),
      caller('reviewer', 'review-1'),
      caller('reviewer', 'review-2'),
    ] as const;
    const all = [worker, first, second];
    expect(await store.agentsDone(db, all)).toEqual([worker]);
    await save(1, approve);
    expect(await store.agentsDone(db, all)).toEqual([worker, second]);
    await store.endAttempt(db, key, { outcome: 'gate-red' });
    expect(await store.agentsDone(db, all)).toEqual([worker, second]);
    await store.endAttempt(db, key, { outcome: 'passed' });
    expect(await store.agentsDone(db, all)).toEqual(all);
    expect(await store.agentsDone(db, [])).toEqual([]);
  });
  test('everybody’s when the run has ended', async () => {
    const planner = { run: 'r', task: 'plan:', attempt: 1, role: 'planner' };
    expect(await store.agentsDone(db, [planner])).toEqual([]);
    await store.finishRun(db, 'r', 'completed', {});
    expect(await store.agentsDone(db, [planner])).toEqual([planner]);
  });
});

describe('attempts of a merger', () => {
  const about = { ofAttempt: 1, paths: ['src/a.ts'], merges: ['b/1'] };
  const at = (attempt: number): typeof key => ({ ...key, attempt });
  test('are told of the mergers of the same work, and the worker of its own attempts', async () => {
    await store.endAttempt(db, key, { outcome: 'conflict', why: 'in src/a.ts' });
    await store.saveMergerAttempt(db, at(2), about);
    expect(await store.lastFailure(db, 'r', 'a', 1)).toBeNull();
    await store.endAttempt(db, at(2), { outcome: 'gate-red', why: 'red' });
    expect(await store.lastFailure(db, 'r', 'a', 1)).toMatchObject({ attempt: 2, cause: 'gate-red' });
    expect(await store.lastFailure(db, 'r', 'a')).toMatchObject({ attempt: 1, cause: 'conflict' });
    await store.endAttempt(db, at(3), { outcome: 'gate-red', why: 'later' });
    expect(await store.lastFailure(db, 'r', 'a')).toMatchObject({ attempt: 3 });
    expect(await store.lastFailure(db, 'r', 'a', 3)).toBeNull();
  });

  test('are listed with their time, tokens and money, whoever of them asked', async () => {
    await store.saveMergerAttempt(db, at(2), { ...about, paths: [], merges: [] });
    await store.saveMergerAttempt(db, at(2), about);
    await store.recordAgent(db, at(2), { ok: true, commit: 'c2', base: 'b1', changed: 1 }, 40);
    await store.endAttempt(db, at(2), { outcome: 'passed', gateMs: 2 });
    for (const [id, role] of [
      ['1', 'merger'],
      ['2', 'reviewer'],
    ] as const) {
      await store.reserveCall(db, {
        id,
        ...at(2),
        role,
        model: 'm',
        upstream: 'anthropic',
        host: 'h',
        microusd: 9,
        tokens: 9,
        requestsPerMinute: null,
        tokensPerMinute: null,
      });
      await store.settleCall(db, id, {
        state: 'done',
        status: 200,
        inputTokens: 1,
        cachedTokens: 2,
        cacheWriteTokens: 3,
        outputTokens: 4,
        microusd: 5,
        estimated: false,
        waitedMs: 0,
        retries: 0,
      });
    }
    const listed = await store.listMergerAttempts(db, 'r');
    expect(listed).toMatchObject([
      { ...about, task: 'a', attempt: 2, outcome: 'passed', workMs: 42, microusd: 10, tokens: 20 },
    ]);
    expect(listed).toHaveLength(1);
  });
});
