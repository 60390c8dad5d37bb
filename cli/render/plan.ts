/** A plan as text and as JSON. Pure. */
import { scoreLines } from '../../spec/plan/index.ts';
import type { Decision, PlanScore, PlanState } from '../../spec/plan/index.ts';
import { printable } from './table.ts';

export interface PlanReport {
  readonly score: PlanScore | null;
  readonly planners: readonly {
    readonly scope: string;
    readonly parent: string | null;
    readonly files: readonly string[];
    readonly done: boolean;
    /** Answers that it gave, those that were sent back included. */
    readonly answers: number;
    readonly sentBack: number;
  }[];
  readonly tasks: readonly {
    readonly id: string;
    readonly planner: string | null;
    readonly kind: string;
    readonly state: string;
    readonly dependsOn: readonly string[];
    readonly files: readonly string[];
    readonly goal: string;
  }[];
  readonly decisions: readonly Decision[];
}

interface Answer {
  readonly node: string;
  readonly problems: readonly unknown[] | null;
}

export function planReport(
  { nodes, tasks, decisions }: PlanState,
  answers: readonly Answer[],
  score: unknown,
): PlanReport {
  return {
    score: score as PlanScore | null,
    planners: nodes.map(({ id, parent, files, done }) => {
      const own = answers.filter(({ node }) => node === id);
      const sentBack = own.filter(({ problems }) => (problems?.length ?? 0) > 0).length;
      return { scope: id, parent, files, done, answers: own.length, sentBack };
    }),
    tasks: tasks.map(({ spec, state, node }) => ({
      id: spec.id,
      planner: node,
      kind: spec.kind,
      state,
      dependsOn: spec.dependsOn,
      files: spec.files.allow,
      goal: spec.goal,
    })),
    decisions,
  };
}

const line = (text: string): string => printable(text.trim().split('\n')[0] ?? '').slice(0, 120);

export function planLines(run: string, { score, planners, tasks, decisions }: PlanReport): string[] {
  if (planners.length === 0 && tasks.length === 0) return [`run ${run} has no plan yet`];
  const ofNode = (node: string | null): string[] =>
    tasks
      .filter(({ planner }) => planner === node)
      .map(({ id, kind, state, dependsOn, goal }) => {
        const after = dependsOn.length === 0 ? '' : `, after ${dependsOn.join(', ')}`;
        return `  ${id} (${kind === 'work' ? '' : `${kind}, `}${state}${after}): ${line(goal)}`;
      });
  const own = ofNode(null);
  return [
    `run ${run}: ${tasks.length} tasks`,
    ...(score === null ? [] : scoreLines(score).map((text) => `  ${text}`)),
    ...(own.length === 0 ? [] : ['', 'tasks of the spec and of people', ...own]),
    ...planners.flatMap(({ scope, files, done, answers, sentBack }) => [
      '',
      `${scope === '' ? 'the first planner' : `planner of ${scope}`} (${files.join(', ')}): ${answers} answers, ${sentBack} sent back${done ? '; has nothing more to plan' : ''}; logs: ./swarmline logs ${run} plan:${scope}`,
      ...ofNode(scope),
    ]),
    ...(decisions.length === 0 ? [] : ['', 'decisions']),
    ...decisions.map(({ id, subject, owner, supersededBy, text }) => {
      const by = owner === '' ? 'the first planner' : owner;
      return `  ${id} (${printable(subject)}; by ${by}${supersededBy === null ? '' : `; superseded by ${supersededBy}`}): ${line(text)}`;
    }),
  ];
}
