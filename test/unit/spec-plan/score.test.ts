import { describe, expect, it } from '@jest/globals';
import { GUESSED, NO_LIMITS, planRefusals, scoreLines, scorePlan } from '../../../spec/plan/index.ts';
import type { ScoredTask, ScoreOptions } from '../../../spec/plan/index.ts';
import { priceOf } from '../../../spec/prices.ts';

const task = (id: string, dependsOn: string[] = [], allow = [`src/${id}.ts`]): ScoredTask => ({
  id,
  kind: 'work',
  files: { allow, forbid: [] },
  dependsOn,
});
const options: ScoreOptions = {
  attempt: { ms: 100, inputTokens: 1_000, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 1_000 },
  attemptsPerTask: 1,
  landMs: 10,
  waveMs: 50,
  schedule: 'waves',
  agents: 200,
  price: priceOf('claude-sonnet-4-6'),
  files: null,
  union: [],
};
const score = (tasks: ScoredTask[], more: Partial<ScoreOptions> = {}) => scorePlan(tasks, { ...options, ...more });
const chain = Array.from({ length: 8 }, (_, n) => task(`t${n}`, n === 0 ? [] : [`t${n - 1}`]));
const wide = Array.from({ length: 8 }, (_, n) => task(`t${n}`));
const diamond = [task('a'), task('b', ['a']), task('c', ['a']), task('d', ['b', 'c'])];

describe('the score of a plan', () => {
  it('tells a chain from work that can go on side by side', () => {
    expect(score(chain)).toMatchObject({ tasks: 8, waves: 8, criticalPath: 8, parallelism: 1, worthwhileAgents: 1 });
    expect(score(wide)).toMatchObject({ waves: 1, criticalPath: 1, parallelism: 8, worthwhileAgents: 8 });
    expect(score(diamond)).toMatchObject({ waves: 3, criticalPath: 3, worthwhileAgents: 2 });
    expect(score([])).toMatchObject({
      tasks: 0,
      waves: 0,
      parallelism: 0,
      worthwhileAgents: 0,
      expectedMs: 0,
      expectedUsd: 0,
    });
  });

  it('takes as long as its schedule with so many agents', () => {
    expect(score(wide).expectedMs).toBe(160);
    expect(score(wide, { agents: 3 }).expectedMs).toBe(3 * 100 + 60);
    expect(score(chain).expectedMs).toBe(8 * 160);
    expect(score(chain, { schedule: 'frontier' }).expectedMs).toBe(8 * 110 + 50);
    // A frontier lets the short side go on while the long one works: a; then b and c; then d and e; with two agents never idle.
    const uneven = [task('a'), task('b', ['a']), task('c'), task('d'), task('e', ['b'])];
    expect(score(uneven, { schedule: 'frontier', agents: 2, landMs: 0, waveMs: 0 }).expectedMs).toBe(300);
    expect(score(uneven, { agents: 2, landMs: 0, waveMs: 0 }).expectedMs).toBe(400);
  });

  it('is never better with fewer agents', () => {
    for (const schedule of ['waves', 'frontier'] as const) {
      const times = [1, 2, 3, 4, 8].map((agents) => score([...wide, ...diamond], { agents, schedule }).expectedMs);
      expect(times).toEqual(times.toSorted((a, b) => b - a));
    }
  });

  it('costs what its attempts cost, or nobody knows', () => {
    expect(score(wide).expectedUsd).toBe(0.14); // 8 × 18,000 millionths
    expect(score(wide, { attemptsPerTask: 2 })).toMatchObject({ expectedUsd: 0.29, totalWork: 16 });
    expect(score(wide, { price: null }).expectedUsd).toBeNull();
  });

  it('names the largest scope, in files where they are known', () => {
    const tasks = [task('a', [], ['src/**']), task('b', [], ['x', 'y'])];
    expect(score(tasks).largestScope).toEqual({ task: 'b', files: 2 });
    expect(score(tasks, { files: ['src/1', 'src/2', 'src/3', 'x'] }).largestScope).toEqual({ task: 'a', files: 3 });
  });

  it('counts pairs that may write the same file, in order or not', () => {
    expect(score(wide).overlap).toBe(0);
    expect(score([task('a', [], ['x']), task('b', ['a'], ['x']), task('c')]).overlap).toBeCloseTo(1 / 3);
    expect(score([task('a', [], ['x']), task('b', ['a'], ['x'])], { union: ['x'] }).overlap).toBe(0);
  });

  it('of a thousand tasks takes a moment', () => {
    const many = Array.from({ length: 1_000 }, (_, n) =>
      task(`t${n}`, n < 50 ? [] : [`t${n - 50}`, `t${(n * 7) % 50}`]),
    );
    const { waves, worthwhileAgents } = score(many, { schedule: 'frontier', ...GUESSED });
    expect(waves).toBe(20);
    expect(worthwhileAgents).toBeGreaterThan(40);
    expect(worthwhileAgents).toBeLessThanOrEqual(50);
  });
});

it('a score is told in a few lines', () => {
  expect(scoreLines(score(diamond, { attempt: { ...options.attempt, ms: 600_000 } }))).toEqual(
    [
      '4 tasks in 3 waves; the longest chain has 3, so that 1.3 can go on at once on average',
      'worthwhile: up to 2 agents at once; about 30m',
      'cost: about 0.07 USD',
      'largest scope: a, 1 files',
    ].map((line) => expect.stringContaining(line)),
  );
  expect(scoreLines(score([], { price: null }))[2]).toMatch(/not known/);
});

describe('a plan is refused', () => {
  it('below the parallelism, above the overlap, size, cost or time that the spec asks for, with figures and a way out', () => {
    const bad = score(
      chain.map((one) => ({ ...one, files: { allow: ['src/**'], forbid: [] } })),
      { files: ['src/a', 'src/b'] },
    );
    const limits = { minParallelism: 2, maxOverlap: 0.1, maxScopeFiles: 1, maxUsd: 0.1, maxMs: 1_000 };
    expect(planRefusals(bad, limits).map(({ path, message }) => `${path} ${message}`)).toEqual([
      expect.stringMatching(/^parallelism is 1 \(8 tasks, 8 of them in one chain\); at least 2/),
      expect.stringMatching(/^overlap is 100 % of all pairs/),
      expect.stringMatching(/^largestScope is 2 files, of the task "t0"/),
      expect.stringMatching(/^expectedUsd is 0.14 USD; at most 0.1/),
      expect.stringMatching(/^expectedMs is 1.3s; at most 1s/),
    ]);
    expect(planRefusals(bad, NO_LIMITS)).toEqual([]);
    expect(planRefusals(score(wide), { ...limits, maxUsd: 1 })).toEqual([]);
  });

  it('but not for being small, and always where its cost should be limited and is not known', () => {
    expect(planRefusals(score(chain.slice(0, 3)), { ...NO_LIMITS, minParallelism: 2 })).toEqual([]);
    expect(planRefusals(score(wide, { price: null }), { ...NO_LIMITS, maxUsd: 5 })[0]?.message).toMatch(/not known/);
  });
});
