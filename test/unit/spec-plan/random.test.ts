/** Answers spoiled at random: never an error, and what passes keeps the invariants of check.ts. */
import { expect, it } from '@jest/globals';
import { findCycles } from '../../../spec/dag.ts';
import { globsIntersect } from '../../../spec/globs-meet.ts';
import { idProblem } from '../../../spec/names.ts';
import { findOverlaps } from '../../../spec/overlap.ts';
import { checkedAnswer } from '../../../spec/plan/index.ts';
import { answer, context, decision, planned, task } from './fixture.ts';

/** Mulberry32. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const VALUES: readonly unknown[] = [
  null, '', 'parse', 'print', 'old', 'docs', 'a/**', '**', 'src/parse.ts', '../x', 'Big', 0, true, [], {}, ['parse'], ['src/*.ts'], 'work', 'swarm', '__proto__', [null],
]; // prettier-ignore

/** Replaces, removes or doubles something anywhere in the value. */
function spoil(value: unknown, next: () => number): unknown {
  if (typeof value !== 'object' || value === null || next() < 0.15) return VALUES[Math.floor(next() * VALUES.length)];
  if (Array.isArray(value)) {
    const at = Math.floor(next() * value.length);
    if (value.length === 0 || next() < 0.2) return [...value, VALUES[Math.floor(next() * VALUES.length)]];
    if (next() < 0.2) return [...value, value[at]];
    if (next() < 0.2) return value.toSpliced(at, 1);
    return value.with(at, spoil(value[at], next));
  }
  const keys = Object.keys(value);
  const key = keys[Math.floor(next() * keys.length)] ?? 'x';
  const { [key]: old, ...rest } = value as Record<string, unknown>;
  return next() < 0.1 ? rest : { ...rest, [key]: spoil(old, next) };
}

it('whatever is done to an answer, it is judged, and nothing that passes breaks the plan', () => {
  const where = context({
    tasks: [planned('old'), planned('keep'), planned('busy', { started: true })],
    integrated: ['keep', 'print'],
    decisions: [decision('first', { subject: 'dates' })],
    otherScopes: [{ id: 'other', files: ['other/**'] }],
  });
  const whole = answer({
    dependencies: [{ task: 'print', on: 'keep' }],
    drop: [{ task: 'old', why: 'Not needed.', replacedBy: ['parse'] }],
    tasks: [
      ...(answer()['tasks'] as object[]).map((one) => ({ interface: 'x', ...one })),
      task('third', { dependsOn: ['parse', 'print'], files: { allow: ['src/third/**'] } }),
    ],
  });
  let passed = 0;
  for (let seed = 0; seed < 1_500; seed++) {
    const next = random(seed);
    let input: unknown = seed % 3 === 0 ? answer() : whole;
    for (let times = 1 + Math.floor(next() * 2); times > 0; times--) input = spoil(input, next);
    const { problems, tasks, answer: read, dependencies } = checkedAnswer(input, where);
    expect(read === null).toBe(problems.length > 0);
    if (read === null) continue;
    passed++;
    const dropped = new Set(read.drop.map((one) => one.task));
    const before = where.tasks
      .filter(({ id }) => !dropped.has(id))
      .map((one) => ({
        ...one,
        dependsOn: [...one.dependsOn, ...dependencies.flatMap((more) => (more.task === one.id ? [more.on] : []))],
      }));
    const after = [...before, ...tasks];
    const ids = after.map(({ id }) => id);
    expect(new Set(ids.map((id) => id.toLowerCase())).size).toBe(ids.length);
    expect(ids.map(idProblem).filter((why) => why !== null)).toEqual([]);
    expect(findCycles(after)).toEqual([]);
    expect(after.flatMap(({ dependsOn }) => dependsOn).filter((id) => !ids.includes(id))).toEqual([]);
    expect(
      findOverlaps(after, { serialise: false, union: where.spec.repository.union, files: null, limit: 1 }).found,
    ).toEqual([]);
    const scopes = [...read.scopes, ...where.otherScopes];
    const meeting = scopes.flatMap((a, i) =>
      scopes.slice(0, i).filter((b) => a.files.some((x) => b.files.some((y) => globsIntersect(x, y)))),
    );
    expect(meeting).toEqual([]);
  }
  expect(passed).toBeGreaterThan(50);
  expect(passed).toBeLessThan(1_200);
});

it('ids that are names of every object’s prototype change no object', () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
  const before = Object.getOwnPropertyNames(Object.prototype);
  const tasks = names.map((id, i) => task(id, { dependsOn: [names[(i + 1) % names.length]!, 'b'] }));
  expect(findCycles(tasks.map(({ id, dependsOn }) => ({ id: String(id), dependsOn: dependsOn as string[] })))).toEqual([
    names,
  ]);
  checkedAnswer({ tasks, scopes: names.map((id) => ({ id, goal: 'x', files: ['x'], dependsOn: names })) }, context());
  expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before);
  expect(Object.keys({})).toEqual([]);
  for (const key in {}) throw new Error(`every object has got a "${key}"`);
});

it('an answer of hundreds of tasks in a plan of a thousand is judged in a moment', () => {
  const tasks = Array.from({ length: 100 }, (_, n) =>
    task(`t${n}`, {
      interface: 'x',
      files: { allow: [`src/t${n}/**`, `test/t${n}.test.ts`] },
      dependsOn: n === 0 ? ['p0'] : [`t${n - 1}`, `p${n}`],
    }),
  );
  const earlier = Array.from({ length: 900 }, (_, n) =>
    planned(`p${n}`, { files: { allow: [`lib/p${n}/**`], forbid: [] }, dependsOn: n === 0 ? [] : [`p${n - 1}`] }),
  );
  const integration = tasks.map((one, n) => ({ of: one['id'], by: one['id'], test: `test/t${n}.test.ts` }));
  const checked = checkedAnswer(
    { tasks, integration },
    context({ tasks: earlier, integrated: earlier.map(({ id }) => id) }),
  );
  expect(checked.problems).toEqual([]);
});
