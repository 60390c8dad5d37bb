/**
 * The planners of a run: who is called, when, and what becomes of the answers. Work goes on meanwhile.
 *
 * Invariants:
 * 1. A planner is called by one at a time; what happens meanwhile is told to it at its next call.
 * 2. A run is not done while somebody plans, waits to plan, or failed to: a person is told of the latter.
 */
import {
  ActivityFailure,
  CancellationScope,
  isCancellation,
  ParentClosePolicy,
  startChild,
} from '@temporalio/workflow';
import type { Admitted, Waiting } from '../activities/contract.ts';
import type { ReplanOccasion } from '../spec/model.ts';
import { hasLanded, scopeHasLanded } from '../spec/schedule.ts';
import { isFinal } from '../spec/task-state.ts';
import { attributesOf } from './attributes.ts';
import { planNode } from './plan-node.ts';
import type { Planned } from './plan-node.ts';
import { applyPlan, newNode } from './plan-record.ts';
import type { CarriedPlanning, NodeRecord } from './plan-record.ts';
import { planId } from './protocol.ts';
import { attemptActivities, mainlineActivities, PRIORITY } from './proxies.ts';
import type { RunState } from './run-state.ts';

type Rules = NonNullable<Admitted['planning']>;
const OCCASIONS_TOLD = 20;

export class RunPlanning {
  readonly #run: string;
  readonly #rules: Rules;
  readonly #state: RunState;
  /** Told whenever something changed. */
  readonly #changed: (plan: boolean) => void;
  readonly #nodes = new Map<string, NodeRecord>();
  /** Task → planner. */
  readonly #owners: Map<string, string>;
  #reconciling = false;
  /** What the plan is worth, as last scored. */
  score: readonly string[] = [];

  constructor(
    run: string,
    rules: Rules,
    state: RunState,
    carried: CarriedPlanning | null,
    changed: (plan: boolean) => void,
  ) {
    this.#run = run;
    this.#rules = rules;
    this.#state = state;
    this.#changed = changed;
    this.#owners = new Map(carried?.owners);
    for (const node of carried?.nodes ?? [newNode('', null, [], Date.now())]) this.#nodes.set(node.id, node);
  }

  carry(): CarriedPlanning {
    return { nodes: [...this.#nodes.values()], owners: [...this.#owners] };
  }
  get isBusy(): boolean {
    return this.#reconciling || this.#all(({ state }) => state === 'planning').length > 0;
  }
  /** Nobody plans, will plan without anything else happening, or failed to. */
  get isSettled(): boolean {
    const pending = this.#all((node) => ['planning', 'failed'].includes(node.state) || this.#isDue(node));
    return !this.#reconciling && pending.length === 0;
  }
  /** Settled, and no scope waits for tasks. */
  get isDone(): boolean {
    return this.isSettled && this.#all(({ state }) => state === 'waiting').length === 0;
  }
  has(node: string): boolean {
    return this.#nodes.has(node);
  }
  ownerOf(task: string): string | null {
    return this.#owners.get(task) ?? null;
  }
  asksFor(occasion: ReplanOccasion): boolean {
    return this.#rules.replan.includes(occasion);
  }

  /** A task landed. */
  landed(task: string): void {
    const node = this.#nodes.get(this.#owners.get(task) ?? '?');
    if (node !== undefined && !node.news.includes(task)) node.news.push(task);
  }
  /** Integration point n is done: decisions are brought together; planners hear of what landed of theirs, unless they said that they are done. */
  integrated(wave: number): void {
    void this.#reconcile();
    if (!this.asksFor('wave')) return;
    for (const node of this.#nodes.values()) {
      if (node.done || node.news.length === 0) continue;
      node.wants.push(
        `Wave ${wave} has landed; of your tasks: ${node.news.join(', ')}. Plan what is missing, or say "done": true.`,
      );
      node.news.length = 0;
    }
  }
  /** The planner of a task is called: for `occasion`, where the spec has it so. false: nobody is. */
  concern(task: string, occasion: ReplanOccasion, text: string): boolean {
    const node = this.#nodes.get(this.#owners.get(task) ?? '?');
    if (node === undefined || !this.asksFor(occasion)) return false;
    node.wants.push(text);
    this.#changed(false);
    return true;
  }
  /** A person calls it, whatever it said before. */
  ask(id: string, text: string): void {
    const node = this.#nodes.get(id)!;
    node.calls = Math.min(node.calls, this.#rules.calls - 1);
    if (node.state !== 'planning') node.state = 'idle';
    node.wants.push(text);
    this.#changed(false);
  }
  /** A person leaves a planner that failed as it is. */
  leave(id: string): void {
    const node = this.#nodes.get(id)!;
    Object.assign(node, { state: 'idle', done: true, why: '' });
    node.wants.length = 0;
    this.#changed(false);
  }
  /** It has been told everything, and has answered or failed. */
  isAnswered(id: string): boolean {
    const node = this.#nodes.get(id)!;
    return node.state === 'failed' || (node.state === 'idle' && node.wants.length === 0);
  }
  whyOf(id: string): string {
    return this.#nodes.get(id)?.why ?? '';
  }
  failed(id: string): boolean {
    return this.#nodes.get(id)?.state === 'failed';
  }

  /** Calls whoever is due. Returns at once: answers are applied when they come. */
  look(): void {
    for (const node of this.#nodes.values()) if (this.#isDue(node)) void this.#call(node);
  }

  waiting(): Waiting[] {
    const command = (id: string, more = ''): string =>
      `swarmline replan ${this.#run}${id === '' ? '' : ` --scope ${id}`}${more}`;
    const failed = this.#all(({ state }) => state === 'failed').map(({ id, why, sinceMs }) => ({
      on: id === '' ? 'its planner' : `the planner of ${id}`,
      why,
      sinceMs,
      command: command(id),
    }));
    const stuck = this.#all(({ state }) => state === 'waiting').flatMap(({ id, dependsOn, sinceMs }) => {
      const dead = dependsOn.filter((on) => isFinal(this.#state.get(on)?.state ?? 'pending') && !this.#hasLanded(on));
      const why = `it waits for ${dead.join(', ')}, which will not land`;
      return dead.length === 0 ? [] : [{ on: `the planner of ${id}`, why, sinceMs, command: command(id, ' --leave') }];
    });
    return [...failed, ...stuck];
  }

  #all(test: (node: NodeRecord) => boolean): NodeRecord[] {
    return [...this.#nodes.values()].filter(test);
  }
  #isDue(node: NodeRecord): boolean {
    if (node.state === 'waiting') return node.dependsOn.every((id) => this.#hasLanded(id));
    if (node.state !== 'idle' || node.calls >= this.#rules.calls) return false;
    return node.calls === 0 || node.wants.length > 0;
  }
  #hasLanded(id: string): boolean {
    if (!this.#nodes.has(id)) return hasLanded(this.#state.standings.get(id));
    const isUnder = (node: NodeRecord): boolean =>
      node.id === id || (node.parent !== null && isUnder(this.#nodes.get(node.parent)!));
    const tasks = [...this.#owners].filter(([, owner]) => isUnder(this.#nodes.get(owner)!)).map(([task]) => task);
    return scopeHasLanded(this.#all(isUnder), tasks, this.#state.standings);
  }

  async #call(node: NodeRecord): Promise<void> {
    const occasion = node.wants.splice(0).slice(-OCCASIONS_TOLD).join('\n\n');
    node.news.length = 0;
    Object.assign(node, { state: 'planning', calls: node.calls + 1, sinceMs: Date.now() });
    const planned = await this.#ask(node, occasion);
    if (planned === null) return void (node.state = 'idle');
    node.attempts = planned.attempt;
    node.sinceMs = Date.now();
    if (planned.taken === null) Object.assign(node, { state: 'failed', why: planned.why });
    else {
      Object.assign(node, { state: 'idle', why: '', done: planned.taken.done });
      this.score = planned.taken.score;
      applyPlan(planned.taken, node.id, this.#state, this.#nodes, this.#owners);
    }
    this.#changed(planned.taken !== null);
  }
  /** null: the run is being cancelled. */
  async #ask({ id, attempts, calls }: NodeRecord, occasion: string): Promise<Planned | null> {
    const { asks } = this.#rules;
    try {
      const child = await startChild(planNode, {
        workflowId: planId(this.#run, id, calls),
        args: [{ run: this.#run, node: id, attempt: attempts + 1, asks, occasion }],
        parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
        staticSummary: id === '' ? 'plan' : `plan ${id}`,
        staticDetails: occasion === '' ? 'The first plan' : occasion,
        typedSearchAttributes: attributesOf({ run: this.#run, kind: 'plan', state: 'running' }),
      });
      return await child.result();
    } catch (error) {
      if (isCancellation(error) || CancellationScope.current().consideredCancelled) return null;
      return { attempt: attempts, taken: null, why: `Its workflow failed: ${String(error)}` };
    }
  }

  /** Tasks that bring decisions together which decide the same. */
  async #reconcile(): Promise<void> {
    if (this.#reconciling) return;
    this.#reconciling = true;
    const run = this.#run;
    try {
      if (this.#rules.reconciler === true)
        await attemptActivities.askReconciler.executeWithOptions(
          { summary: 'reconciler looks at decisions', priority: PRIORITY.planner },
          [{ run }],
        );
      const tasks = await mainlineActivities.reconcileDecisions.executeWithOptions(
        { summary: 'decisions that decide the same' },
        [{ run }],
      );
      for (const task of tasks) if (this.#state.get(task.id) === undefined) this.#state.add(task, Date.now());
    } catch (error) {
      // Without a reconciler decisions stay as they are, which is no reason to stop; the UI shows the activity's failure.
      if (!isCancellation(error) && !(error instanceof ActivityFailure)) throw error;
    } finally {
      this.#reconciling = false;
    }
    this.#changed(true);
  }
}
