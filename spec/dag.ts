/**
 * The order that dependencies impose. Pure; ids that are not tasks are ignored here (validate.ts reports them).
 *
 * Invariant: an order in time is kept by positions in one topological order, in which spec order breaks ties; an edge that goes
 * from a lower position to a higher one can therefore be added without ever making a cycle.
 */
import { alg, Graph } from '@dagrejs/graphlib';

export interface DagTask {
  readonly id: string;
  readonly dependsOn: readonly string[];
}

/**
 * One cycle for every knot of tasks that wait for each other, each as the ids in order (every one depends on the next, the last
 * on the first), starting with the one that stands first in the spec. A task that depends on itself is not reported here.
 */
export function findCycles(given: readonly DagTask[]): string[][] {
  // Of several with one id (reported elsewhere) the first counts, so that what is told is a cycle that stands in the spec.
  const byId = new Map(given.toReversed().map((task) => [task.id, task]));
  const tasks = given.filter((task) => byId.get(task.id) === task);
  const index = new Map(tasks.map((task, i) => [task.id, i]));
  // By place, since the library keeps nodes as keys of plain objects: an id "__proto__" would change every object of the process.
  const graph = new Graph({ directed: true });
  for (const i of tasks.keys()) graph.setNode(String(i));
  for (const [i, task] of tasks.entries())
    for (const dep of task.dependsOn)
      if (index.has(dep) && dep !== task.id) graph.setEdge(String(i), String(index.get(dep)));
  return alg
    .tarjan(graph)
    .filter((knot) => knot.length > 1)
    .map((places) => {
      const knot = places.map((place) => (tasks[Number(place)] as DagTask).id);
      const inside = new Set(knot);
      const start = knot.reduce((a, b) => ((index.get(a) as number) < (index.get(b) as number) ? a : b));
      return shortestCycle(start, (id) =>
        (byId.get(id) as DagTask).dependsOn.filter((dep) => inside.has(dep) && dep !== id),
      );
    })
    .toSorted((a, b) => (index.get(a[0] as string) as number) - (index.get(b[0] as string) as number));
}

function shortestCycle(start: string, next: (id: string) => string[]): string[] {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (let id = queue.shift(); id !== undefined; id = queue.shift()) {
    for (const dep of next(id)) {
      if (dep === start) {
        const cycle = [id];
        for (let at = cameFrom.get(id); at !== undefined; at = cameFrom.get(at)) cycle.push(at);
        return cycle.toReversed();
      }
      if (!cameFrom.has(dep)) {
        cameFrom.set(dep, id);
        queue.push(dep);
      }
    }
  }
  return [start];
}

/** Indices of the tasks in an order that respects dependencies; of those that could come next, the first in the spec. No cycles. */
export function topologicalOrder(tasks: readonly DagTask[]): number[] {
  const index = new Map(tasks.map((task, i) => [task.id, i]));
  const dependants: number[][] = tasks.map(() => []);
  const open = tasks.map((task, i) => {
    const deps = new Set(task.dependsOn.flatMap((dep) => index.get(dep) ?? []).filter((dep) => dep !== i));
    for (const dep of deps) (dependants[dep] as number[]).push(i);
    return deps.size;
  });
  const ready = new MinHeap();
  open.forEach((count, i) => count === 0 && ready.push(i));
  const order: number[] = [];
  for (let i = ready.pop(); i !== undefined; i = ready.pop()) {
    order.push(i);
    for (const dependant of dependants[i] as number[]) {
      open[dependant] = (open[dependant] as number) - 1;
      if (open[dependant] === 0) ready.push(dependant);
    }
  }
  return order;
}

class MinHeap {
  readonly #items: number[] = [];

  push(item: number): void {
    const items = this.#items;
    items.push(item);
    for (let i = items.length - 1; i > 0;) {
      const parent = (i - 1) >> 1;
      if ((items[parent] as number) <= (items[i] as number)) break;
      [items[parent], items[i]] = [items[i] as number, items[parent] as number];
      i = parent;
    }
  }

  pop(): number | undefined {
    const items = this.#items;
    const least = items[0];
    const last = items.pop();
    if (least === undefined || last === undefined || items.length === 0) return least;
    items[0] = last;
    for (let i = 0; ;) {
      const [left, right] = [2 * i + 1, 2 * i + 2];
      let child = left;
      if (right < items.length && (items[right] as number) < (items[left] as number)) child = right;
      if (child >= items.length || (items[child] as number) >= (items[i] as number)) return least;
      [items[child], items[i]] = [items[i] as number, items[child] as number];
      i = child;
    }
  }
}

/** A set of small integers, one bit each: ancestors of a thousand tasks in a hundred kilobytes. */
export class BitSet {
  readonly #words: Uint32Array;

  constructor(size: number) {
    this.#words = new Uint32Array((size + 31) >>> 5);
  }

  add(i: number): void {
    this.#words[i >>> 5] = (this.#words[i >>> 5] as number) | (1 << (i & 31));
  }

  has(i: number): boolean {
    return ((this.#words[i >>> 5] as number) & (1 << (i & 31))) !== 0;
  }

  addAll(other: BitSet): void {
    for (let w = 0; w < this.#words.length; w++)
      this.#words[w] = (this.#words[w] as number) | (other.#words[w] as number);
  }
}
