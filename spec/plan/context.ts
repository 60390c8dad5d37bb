/** What a planner's answer is judged against. */
import type { CompiledSpec, TaskKind } from '../model.ts';
import type { Decision } from './decisions.ts';

/** Bounds of planning; each names itself in the message of what exceeds it. */
export interface PlanBounds {
  /** Levels of planners below the first. 0: the first plans tasks only. */
  readonly depth: number;
  /** Sub-scopes in one answer. */
  readonly breadth: number;
  /** Tasks in one answer. */
  readonly tasks: number;
  /** Tasks in the whole plan, finished ones included. */
  readonly totalTasks: number;
  /** Decisions in the whole plan. */
  readonly decisions: number;
}
export const DEFAULT_BOUNDS: PlanBounds = { depth: 3, breadth: 12, tasks: 100, totalTasks: 1_000, decisions: 200 };

/** A task that is in the plan already. */
export interface PlannedTask {
  readonly id: string;
  readonly kind: TaskKind;
  readonly files: { readonly allow: readonly string[]; readonly forbid: readonly string[] };
  readonly interface: string;
  readonly dependsOn: readonly string[];
  /** Paths of its preset tests. */
  readonly tests: readonly string[];
  /** It has begun or is final: nothing about it can be changed any more. */
  readonly started: boolean;
  /** Landed, skipped or cancelled: it writes nothing any more. */
  readonly closed: boolean;
  /** It will never land: cancelled, or skipped without releasing what depends on it. */
  readonly dead: boolean;
  /** Judged by its own criteria, before the full gate starts. */
  readonly scaffold?: boolean;
}

export interface PlanContext {
  readonly spec: Pick<CompiledSpec, 'roles' | 'repository' | 'policy'>;
  readonly node: {
    /** '' is the first planner's. */
    readonly id: string;
    /** 0: the first. */
    readonly depth: number;
    /** Globs within which it plans; the first planner's are `**`. */
    readonly files: readonly string[];
  };
  /** Sub-scopes elsewhere that no ancestor or descendant of this node made and that are not finished. */
  readonly otherScopes: readonly { readonly id: string; readonly files: readonly string[] }[];
  /** Ids of all scopes of the plan, this node's included. */
  readonly scopeIds: readonly string[];
  readonly tasks: readonly PlannedTask[];
  /** Tasks with an integration check from an earlier answer. */
  readonly integrated: readonly string[];
  readonly decisions: readonly Decision[];
  /** Owners, beside the node itself, whose decisions it may supersede: planners below it. */
  readonly overrules: readonly string[];
  /** Files of that tree that refer to a decision which the answer supersedes, by its id. */
  readonly referring?: ReadonlyMap<string, readonly string[]>;
  /** Paths of the tree that is planned on; null: not known. */
  readonly files: readonly string[] | null;
  readonly fileContent?: (path: string) => string | null;
  readonly bounds: PlanBounds;
  /** The repository is empty, and no scaffold has landed. */
  readonly mayScaffold: boolean;
}
