/** The plan as it stands, and what one of its planners may see and do of it. Pure. */
import type { CompiledSpec, TaskSpec, TaskState } from '../model.ts';
import { isFinal } from '../task-state.ts';
import { meeting } from './check-scopes.ts';
import type { PlanContext, PlannedTask } from './context.ts';
import type { Decision } from './decisions.ts';

/** Id of the first planner. */
export const FIRST = '';

/** Attempts of planners stand beside those of tasks, under names that no task can have. */
export const plannerTask = (node: string): string => `plan:${node}`;
export const isPlanners = (task: string): boolean => task.startsWith('plan:');

export interface PlanNode {
  /** Of its scope; FIRST for the first planner. */
  readonly id: string;
  /** null: it is the first. */
  readonly parent: string | null;
  readonly depth: number;
  readonly goal: string;
  readonly interface: string;
  readonly files: readonly string[];
  readonly done: boolean;
  readonly integrated: readonly string[];
}

export interface PlanTaskState {
  readonly spec: TaskSpec;
  readonly state: TaskState;
  readonly why: string | null;
  /** Planner; null: the spec, or a person. */
  readonly node: string | null;
  readonly scaffold: boolean;
}

export interface PlanState {
  readonly spec: CompiledSpec;
  readonly nodes: readonly PlanNode[];
  readonly tasks: readonly PlanTaskState[];
  readonly decisions: readonly Decision[];
}

/** States in which nothing of a task is under way, and none of its work is on the line. */
const UNSTARTED: ReadonlySet<TaskState> = new Set(['pending', 'ready', 'blocked']);

const plannedTask = ({ spec, state, scaffold }: PlanTaskState): PlannedTask => ({
  id: spec.id,
  kind: spec.kind,
  files: spec.files,
  interface: spec.interface,
  dependsOn: spec.dependsOn,
  tests: Object.keys(spec.tests),
  started: !UNSTARTED.has(state),
  closed: isFinal(state),
  dead: state === 'cancelled',
  scaffold,
});

const ancestorsOf = (nodes: readonly PlanNode[], id: string): Set<string> => {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const out = new Set<string>();
  for (let at = byId.get(id)?.parent ?? null; at !== null && !out.has(at); at = byId.get(at)?.parent ?? null)
    out.add(at);
  return out;
};
const descendantsOf = (nodes: readonly PlanNode[], id: string): string[] =>
  nodes.filter((node) => ancestorsOf(nodes, node.id).has(id)).map((node) => node.id);

/** Scopes that neither made this one nor were made by it: their files are theirs. */
export function otherScopes(nodes: readonly PlanNode[], id: string): PlanNode[] {
  const mine = new Set([id, ...ancestorsOf(nodes, id), ...descendantsOf(nodes, id)]);
  return nodes.filter((node) => !mine.has(node.id) && !node.done);
}

/** What an answer of a planner is judged against. @param files of the tree that is planned on */
export function contextFor(
  { spec, nodes, tasks, decisions }: PlanState,
  node: PlanNode,
  files: readonly string[],
  fileContent: (path: string) => string | null,
  referring: ReadonlyMap<string, readonly string[]> = new Map(),
): PlanContext {
  const planned = tasks.map(plannedTask);
  return {
    spec,
    node,
    otherScopes: otherScopes(nodes, node.id),
    scopeIds: nodes.map(({ id }) => id),
    tasks: planned,
    integrated: nodes.flatMap(({ integrated }) => integrated),
    decisions,
    overrules: descendantsOf(nodes, node.id),
    files,
    fileContent,
    referring,
    bounds: spec.planning.bounds,
    mayScaffold:
      spec.repository.url === null &&
      !planned.some(({ scaffold, closed, dead }) => scaffold === true && closed && !dead),
  };
}

const firstLine = (text: string): string => {
  const line = text.trim().split(/\r\n|[\r\n\u2028\u2029]/)[0] ?? '';
  return line.length > 160 ? `${line.slice(0, 159)}…` : line;
};

/** Tasks that touch a scope, each in a line with its state. */
export function planLines({ tasks }: PlanState, files: readonly string[]): string[] {
  return tasks
    .filter(({ spec }) => meeting(spec.files.allow, files) !== null)
    .map(({ spec, state, why }) => {
      const waits = spec.dependsOn.length === 0 ? '' : `; after ${spec.dependsOn.join(', ')}`;
      const said = state === 'blocked' && why !== null ? `; ${firstLine(why)}` : '';
      return `${spec.id} (${spec.kind}, ${state}${said}): ${firstLine(spec.goal)} Files: ${spec.files.allow.join(', ')}${waits}`;
    });
}
