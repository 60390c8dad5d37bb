/**
 * What a mainline knows: its queue, its picture of the line, and who may touch the hub now. Shared by its loops.
 *
 * Invariants:
 * 1. A rebuilding excludes every other operation on the hub (`rebuildAlone`). What the others do to the line is put together here, from
 *    their results and never from what they read: two that overlap may have read it in either order.
 * 2. Every request gets exactly one final answer (`answer`); ejected work that had landed is told to runSpec instead (`news`).
 */
import { condition, getExternalWorkflowHandle } from '@temporalio/workflow';
import { entriesAfter } from '../spec/line.ts';
import type { Line, LineEntry, PlanTask } from '../spec/model.ts';
import type { IntegrationResult, MainlineAnswer, MainlineReport, MergeOrder, QueueEntry } from './protocol.ts';
import * as protocol from './protocol.ts';

/** What a mainline takes with it when it continues as new. */
export interface CarriedMainline {
  readonly queue: readonly MergeOrder[];
  readonly open: readonly MergeOrder[];
  readonly held: boolean;
  readonly closing: boolean;
  readonly wanted: number | null;
  readonly verifyAsked: boolean;
  readonly withdrawn: readonly string[];
}

export class MainlineState {
  readonly run: string;
  plan: readonly PlanTask[];
  /** Set before the first loop starts. */
  line: Line = { main: '', verified: '', next: '', entries: [], greenPoints: 0 };
  readonly queue: MergeOrder[];
  /** Merged, not yet answered, by request id. */
  readonly open: Map<string, MergeOrder>;
  /** Merged or being merged, and no longer wanted: taken out before anything is verified. */
  readonly withdrawn: string[];
  held: boolean;
  closing: boolean;
  /** Number of the integration point that is asked for. */
  wanted: number | null;
  verifyAsked: boolean;
  /** For continue-as-new: loops end after what they are doing. */
  pausing = false;
  merging = false;
  /** Moves of `verified` and `main` under way. */
  #advancing = 0;
  #rebuilding = false;
  readonly news = {
    landedAgain: [] as LineEntry[],
    rolledBack: [] as LineEntry[],
    ejected: [] as MainlineReport['ejected'][number][],
  };
  integration: IntegrationResult | null = null;

  constructor(run: string, plan: readonly PlanTask[], carried: CarriedMainline | null) {
    this.run = run;
    this.plan = plan;
    this.queue = [...(carried?.queue ?? [])];
    this.open = new Map((carried?.open ?? []).map((order) => [order.id, order]));
    this.withdrawn = [...(carried?.withdrawn ?? [])];
    this.held = carried?.held ?? false;
    this.closing = carried?.closing ?? false;
    this.wanted = carried?.wanted ?? null;
    this.verifyAsked = carried?.verifyAsked ?? false;
  }

  carry(): CarriedMainline {
    const { queue, open, held, closing, wanted, verifyAsked, withdrawn } = this;
    return { queue, open: [...open.values()], held, closing, wanted, verifyAsked, withdrawn };
  }

  get unverified(): LineEntry[] {
    return entriesAfter(this.line.entries, this.line.verified);
  }
  get isRebuilding(): boolean {
    return this.#rebuilding;
  }
  get isOver(): boolean {
    const { pausing, closing, queue, wanted, held } = this;
    return pausing || (closing && queue.length === 0 && wanted === null && (this.unverified.length === 0 || held));
  }
  get hasNews(): boolean {
    const { landedAgain, rolledBack, ejected } = this.news;
    return this.integration !== null || landedAgain.length + rolledBack.length + ejected.length > 0;
  }

  /** Resolves when there is work for a loop, or nothing more to come. */
  running(ready: () => boolean): Promise<void> {
    return condition(() => this.isOver || (ready() && !this.held));
  }

  request(order: MergeOrder): void {
    if (!this.open.has(order.id) && !this.queue.some(({ id }) => id === order.id)) this.queue.push(order);
  }
  withdraw(task: string): void {
    for (let i = this.queue.length - 1; i >= 0; i--) if (this.queue[i]!.task === task) this.queue.splice(i, 1);
    for (const order of this.open.values()) {
      if (order.task !== task) continue;
      this.open.delete(order.id);
      this.withdrawn.push(order.id);
    }
  }
  waiting(): QueueEntry[] {
    return [
      ...this.queue.map((order) => entryOf(order, 'queued', this.held ? 'the run is paused' : 'its turn')),
      ...[...this.open.values()].map((order) => entryOf(order, 'merged', 'verification')),
    ];
  }

  async answer(order: MergeOrder | undefined, what: MainlineAnswer): Promise<void> {
    if (order === undefined) return;
    this.open.delete(order.id);
    try {
      await getExternalWorkflowHandle(order.replyTo).signal(protocol.mainlineAnswer, what);
    } catch {
      // The task's workflow is gone (cancelled or terminated): there is nobody to tell; the refs say what happened.
    }
  }

  /** Moves of refs do not overlap with a rebuilding. */
  async advance<T>(work: () => Promise<T>): Promise<T> {
    this.#advancing += 1;
    try {
      return await work();
    } finally {
      this.#advancing -= 1;
    }
  }

  /**
   * Does `work`, which rebuilds the line, while nobody else touches the hub; the line is what it says then. null: when its turn came it
   * was no longer `wanted`. Should it fail, nobody else goes on: what the hub holds is not known.
   */
  async rebuildAlone<T extends { readonly line: Line }>(
    work: () => Promise<T>,
    wanted: () => boolean = () => true,
  ): Promise<T | null> {
    await condition(() => !this.#rebuilding);
    if (!wanted()) return null;
    this.#rebuilding = true;
    await condition(() => !this.merging && this.#advancing === 0);
    const rebuilt = await work();
    this.line = rebuilt.line;
    this.#rebuilding = false;
    return rebuilt;
  }
}

const entryOf = (order: MergeOrder, state: 'queued' | 'merged', waitsFor: string): QueueEntry => ({
  request: order.id,
  state,
  sinceMs: order.atMs,
  waitsFor,
});
