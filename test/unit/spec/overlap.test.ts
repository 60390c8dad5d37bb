import { expect, it } from '@jest/globals';
import { findCycles, topologicalOrder } from '../../../spec/dag.ts';
import { globMatcher } from '../../../spec/globs.ts';
import { findOverlaps, type OverlapTask } from '../../../spec/overlap.ts';

function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const GLOBS = [
  'a/x.ts',
  'a/y.ts',
  'b/x.ts',
  'a/*.ts',
  'a/**',
  '**/x.ts',
  'b/**',
  '*.md',
  '{a,b}/y.ts',
  'c/[xy].ts',
  'c/x.ts',
];
const FILES = ['a/x.ts', 'a/y.ts', 'a/z/x.ts', 'b/x.ts', 'b/y.ts', 'r.md', 'c/x.ts', 'c/y.ts'];

function randomTasks(next: (below: number) => number): OverlapTask[] {
  const count = 2 + next(8);
  return Array.from({ length: count }, (_, i) => ({
    id: `t${i}`,
    kind: 'work',
    files: {
      allow: Array.from({ length: 1 + next(2) }, () => GLOBS[next(GLOBS.length)] as string),
      forbid: next(4) === 0 ? [GLOBS[next(GLOBS.length)] as string] : [],
    },
    // Edges in any direction between positions of a hidden order, so that spec order is not the topological one.
    dependsOn: Array.from({ length: count }, (__, j) => j)
      .filter((j) => (j * 7) % 11 < (i * 7) % 11 && next(4) === 0)
      .map((j) => `t${j}`),
  }));
}

function reaches(tasks: readonly OverlapTask[], edges: readonly { earlier: number; later: number }[]): boolean[][] {
  const reach = tasks.map((task, i) =>
    tasks.map(
      (other, j) => task.dependsOn.includes(other.id) || edges.some((edge) => edge.later === i && edge.earlier === j),
    ),
  );
  for (let k = 0; k < tasks.length; k++)
    for (let i = 0; i < tasks.length; i++)
      for (let j = 0; j < tasks.length; j++) if (reach[i]?.[k] && reach[k]?.[j]) (reach[i] as boolean[])[j] = true;
  return reach;
}

/** Both may write a file that exists: what a sound check must find. */
function share(a: OverlapTask, b: OverlapTask): boolean {
  const may = (task: OverlapTask, file: string): boolean =>
    task.files.allow.some((glob) => globMatcher(glob)(file)) &&
    !task.files.forbid.some((glob) => globMatcher(glob)(file));
  return FILES.some((file) => may(a, file) && may(b, file));
}

it('every pair that could run together and shares a file is found (fuzz against brute force)', () => {
  const next = random(3);
  let pairs = 0;
  const wrong: string[] = [];
  for (let round = 0; round < 400; round++) {
    const tasks = randomTasks(next);
    const { found, total } = findOverlaps(tasks, { serialise: false, union: [], files: FILES, limit: 1000 });
    expect(total).toBe(found.length);
    const reach = reaches(tasks, []);
    for (let i = 0; i < tasks.length; i++) {
      for (let j = i + 1; j < tasks.length; j++) {
        const reported = found.some((one) => [one.earlier, one.later].toSorted((a, b) => a - b).join() === `${i},${j}`);
        const ordered = reach[i]?.[j] === true || reach[j]?.[i] === true;
        if (ordered && reported) wrong.push(`${i} and ${j} are ordered`);
        if (!ordered && share(tasks[i] as OverlapTask, tasks[j] as OverlapTask)) {
          pairs++;
          if (!reported) wrong.push(`${i} and ${j} in ${JSON.stringify(tasks)}`);
        }
      }
    }
  }
  expect(wrong).toEqual([]);
  expect(pairs).toBeGreaterThan(500);
});

it('serialising leaves no overlap, makes no cycle and no edge that is not needed (fuzz)', () => {
  const next = random(9);
  for (let round = 0; round < 400; round++) {
    const tasks = randomTasks(next);
    const options = { union: [], files: null, limit: 1000 };
    const { found, edges } = findOverlaps(tasks, { ...options, serialise: true });
    expect(found).toEqual([]);
    const after = tasks.map((task, i) => ({
      ...task,
      dependsOn: [
        ...task.dependsOn,
        ...edges.filter((edge) => edge.later === i).map((edge) => (tasks[edge.earlier] as OverlapTask).id),
      ],
    }));
    expect(findCycles(after)).toEqual([]);
    expect(findOverlaps(after, { ...options, serialise: false }).total).toBe(0);
    for (const edge of edges) {
      const others = edges.filter((one) => one !== edge);
      expect(reaches(tasks, others)[edge.later]?.[edge.earlier]).toBe(false);
    }
  }
});

it('the topological order respects dependencies and prefers the order of the spec', () => {
  const tasks = [
    { id: 'a', dependsOn: ['c'] },
    { id: 'b', dependsOn: [] },
    { id: 'c', dependsOn: [] },
    { id: 'd', dependsOn: ['b', 'nobody'] },
  ];
  expect(topologicalOrder(tasks)).toEqual([1, 2, 0, 3]);
});

it('a thousand tasks with one glob are checked quickly', () => {
  const tasks = Array.from({ length: 1000 }, (_, i): OverlapTask => ({
    id: `t${i}`,
    kind: 'work',
    files: { allow: ['src/**'], forbid: [] },
    dependsOn: [],
  }));
  const { edges } = findOverlaps(tasks, { serialise: true, union: [], files: null, limit: 10 });
  expect(edges).toHaveLength(999);
});
