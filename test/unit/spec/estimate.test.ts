import { describe, expect, test } from '@jest/globals';
import { estimate, imaginedTasks } from '../../../spec/estimate.ts';
import type { Estimate } from '../../../spec/estimate.ts';
import { NOTHING_MEASURED } from '../../../spec/estimate-figures.ts';
import type { Measured } from '../../../spec/estimate-figures.ts';
import type { CompiledSpec } from '../../../spec/model.ts';
import { GUESSED } from '../../../spec/plan/index.ts';
import { costOf, DEFAULT_PRICES, priceOf } from '../../../spec/prices.ts';
import { check, spec as rawSpec, task } from './fixture.ts';

const SONNET = 'claude-sonnet-4-6';
const OPUS = 'claude-opus-4-8';
const worker = { engine: 'claude-code', model: SONNET };
const compiled = (more: object = {}): CompiledSpec => {
  const { spec, problems } = check(rawSpec({ roles: { worker }, ...more }));
  if (spec === null) throw new Error(JSON.stringify(problems));
  return spec;
};
const estimated = (
  spec: CompiledSpec,
  { added = 0, waves = 3, measured = NOTHING_MEASURED, slots = null as number | null } = {},
): Estimate => estimate(spec, imaginedTasks(added, waves), { measured, prices: [DEFAULT_PRICES], files: null, slots });
const role = (found: Estimate, name: string) => found.roles.find((one) => one.role === name)!;

const measured = (more: Partial<Measured> = {}): Measured => ({
  attempts: [{ role: 'worker', model: SONNET, attempts: 9, ms: 60_000, inputTokens: 1_000, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 100 }],
  retries: [{ role: 'worker', model: SONNET, tasks: 4, attempts: 10 }],
  conflicts: { tasks: 10, conflicts: 2 },
  land: { ms: 1_000, of: 7 },
  wave: { ms: 2_000, of: 2 },
  ...more,
}); // prettier-ignore

describe('an estimate', () => {
  test('without earlier runs is made of guesses, each of which says so', () => {
    const found = estimated(compiled({ tasks: [task('a'), task('b', { dependsOn: ['a'] })] }));
    const each = costOf(GUESSED.attempt, priceOf(SONNET)!) / 1e6;
    expect(found.roles).toHaveLength(1);
    expect(role(found, 'worker')).toMatchObject({ times: 2.6, of: 0, eachUsd: each, usd: 2.6 * each });
    expect(found.usd).toBeCloseTo(2.6 * each);
    expect(Object.values(found.figures).map(({ of }) => of)).toEqual([0, 0, 0, 0]);
    const { ms } = GUESSED.attempt;
    expect(found.ms).toBe(2 * (ms * GUESSED.attemptsPerTask + GUESSED.landMs + GUESSED.waveMs));
    expect(found.score).toMatchObject({ tasks: 2, waves: 2, criticalPath: 2, worthwhileAgents: 1 });
  });

  test('takes what was measured for a role and its model, and says of how many', () => {
    const spec = compiled({
      tasks: [task('a')],
      roles: { worker, reviewer: { engine: 'codex', model: 'gpt-5-codex' } },
    });
    const found = estimated(spec, { measured: measured() });
    expect(role(found, 'worker')).toMatchObject({ times: 2.5, of: 9, eachUsd: 0.0045 });
    expect(role(found, 'reviewer')).toMatchObject({ of: 0 });
    expect(found.figures).toMatchObject({
      attemptsPerTask: { value: 2.5, of: 4 },
      conflictsPerTask: { value: 0.2, of: 10 },
      landMs: { value: 1_000, of: 7 },
      waveMs: { value: 2_000, of: 2 },
    });
  });

  test.each<[string, Partial<Measured>]>([
    ['another model', { attempts: [{ ...measured().attempts[0]!, model: OPUS }] }],
    ['another role', { attempts: [{ ...measured().attempts[0]!, role: 'merger' }] }],
    ['too few attempts', { attempts: [{ ...measured().attempts[0]!, attempts: 2 }] }],
  ])('takes nothing from %s', (_, more) => {
    expect(role(estimated(compiled(), { measured: measured(more) }), 'worker').of).toBe(0);
  });

  test('knows no money where a model has no price or is chosen by the program, and says what is known', () => {
    const roles = { worker: { engine: 'codex', model: null }, merger: { engine: 'claude-code', model: OPUS } };
    const found = estimated(compiled({ roles }));
    expect(role(found, 'worker')).toMatchObject({ usd: null, eachUsd: null });
    expect(found.usd).toBeNull();
    expect(found.score.expectedUsd).toBeNull();
    expect(found.knownUsd).toBeCloseTo(role(found, 'merger').usd!);
  });

  test('of engines that ask no model is free, and takes no tokens', () => {
    const found = estimated(compiled({ roles: { worker: { engine: 'command' } } }));
    expect(found).toMatchObject({ usd: 0, tokens: 0 });
    expect(found.atOnce.by).toBe('policy.inFlight');
  });

  test('counts answers of planners, reviews of every reviewer, and conflicts', () => {
    const roles = {
      planner: { engine: 'claude-code', model: OPUS },
      worker,
      reviewer: [worker, { engine: 'codex', model: 'gpt-5-codex' }],
      merger: worker,
    };
    const found = estimated(compiled({ roles, tasks: [] }), { added: 100, measured: measured() });
    expect(found.roles.map(({ role: name }) => name)).toEqual(['planner', 'worker', 'reviewer 1', 'reviewer 2', 'merger']);
    // Three planners and three waves that land, 1.3 answers each.
    expect(found.roles.map(({ times }) => Math.round(times * 10) / 10)).toEqual([7.8, 250, 120, 120, 20]);
    expect(found.usd).toBeCloseTo(found.roles.reduce((sum, { usd }) => sum + usd!, 0));
  }); // prettier-ignore

  test('is bounded by what may go on at once: attempts, model calls, containers', () => {
    const spec = (more: object) => compiled({ tasks: Array.from({ length: 12 }, (_, i) => task(`t${i}`)), ...more });
    expect(estimated(spec({})).atOnce).toEqual({ agents: 20, by: 'budget.modelCalls' });
    expect(estimated(spec({ policy: { inFlight: 5 } })).atOnce).toEqual({ agents: 5, by: 'policy.inFlight' });
    const few = estimated(spec({}), { slots: 3 });
    expect(few.atOnce).toEqual({ agents: 3, by: 'slots' });
    expect(few.ms).toBeGreaterThan(estimated(spec({})).ms);
  });

  test('the longer the chains, the longer it takes and the fewer agents pay', () => {
    const roles = { planner: worker, worker };
    const [wide, narrow] = [3, 15].map((waves) => estimated(compiled({ roles, tasks: [] }), { added: 30, waves }));
    expect(wide!.score).toMatchObject({ tasks: 30, waves: 3, worthwhileAgents: 10 });
    expect(narrow!.score).toMatchObject({ tasks: 30, waves: 15, worthwhileAgents: 2 });
    expect(narrow!.ms).toBeGreaterThan(wide!.ms);
  });
});

test.each([
  [1, 3, 1],
  [7, 3, 3],
  [10, 1, 1],
  [10, 20, 10],
])('%i imagined tasks in %i waves make %i layers', (count, waves, layers) => {
  const found = estimated(compiled({ roles: { planner: worker, worker }, tasks: [] }), { added: count, waves });
  expect(found.score).toMatchObject({ tasks: count, waves: layers });
});
