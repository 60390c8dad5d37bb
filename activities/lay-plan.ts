/** Writes a planner's answer that was found good into the plan. */
import type { PlanTask, TaskSpec } from '../spec/model.ts';
import { scoreLines } from '../spec/plan/index.ts';
import type { CheckedAnswer, PlanNode, PlanScore, PlanState } from '../spec/plan/index.ts';
import {
  addDecision, addLogEntry, addPlanNode, amendTask, listTasks, markPlanned, markPlanNode, nextTaskIndex, savePlanScore, saveTasks, supersedeDecision,
} from '../store/index.ts'; // prettier-ignore
import type { Db } from '../store/index.ts';
import { planTask } from './plan-task.ts';
import type { PlanTaken } from './contract.ts';

export interface Laid {
  readonly plan: PlanState;
  readonly node: PlanNode;
  /** Without problems. */
  readonly checked: CheckedAnswer;
  readonly score: PlanScore;
  readonly attempt: number;
}

/** @param db of the transaction in which the answer was judged */
export async function layPlan(
  db: Db,
  run: string,
  { plan, node, checked, score, attempt }: Laid,
): Promise<Extract<PlanTaken, { ok: true }>> {
  const answer = checked.answer!;
  const scaffold = new Set(answer.scaffold);
  await saveTasks(db, run, checked.tasks, await nextTaskIndex(db, run));
  await markPlanned(
    db,
    run,
    checked.tasks.map(({ id }) => ({ id, node: node.id, scaffold: scaffold.has(id) })),
  );
  const changed = changedTasks(plan, checked);
  for (const task of changed) await amendTask(db, run, task.id, task);
  for (const { supersedes, ...decision } of answer.decisions) {
    await addDecision(db, run, { ...decision, owner: node.id });
    if (supersedes !== '') await supersedeDecision(db, run, supersedes, decision.id);
  }
  for (const scope of answer.scopes) await addPlanNode(db, run, { ...scope, parent: node.id, depth: node.depth + 1 });
  await markPlanNode(db, run, node.id, { done: answer.done, integrated: answer.integration.map(({ of }) => of) });
  await savePlanScore(db, run, score);
  const lines = scoreLines(score);
  const added = `${checked.tasks.length} tasks, ${answer.scopes.length} scopes, ${answer.decisions.length} decisions, ${answer.drop.length} dropped`;
  const message = `The planner ${node.id === '' ? 'of the whole' : node.id} planned ${added}. The plan: ${lines.join('; ')}`;
  await addLogEntry(db, { run, key: `plan/${node.id}/${attempt}`, kind: 'plan', message });

  const rows = new Map((await listTasks(db, run)).map((row) => [row.id, row.index]));
  const told = (task: TaskSpec): PlanTask => {
    const known = planTask(task, rows.get(task.id) ?? 0);
    return scaffold.has(task.id) ? { ...known, scaffold: true } : known;
  };
  return {
    ok: true,
    tasks: checked.tasks.map(told),
    changed: changed.map(told),
    dropped: answer.drop.map(({ task, why, replacedBy }) => ({ task, why, replacedBy })),
    scopes: answer.scopes.map(({ id, dependsOn }) => ({ id, dependsOn })),
    done: answer.done,
    score: lines,
  };
}

/** Earlier tasks with other dependencies: what was dropped is replaced, what was asked for is added. */
function changedTasks({ tasks }: PlanState, { answer, dependencies }: CheckedAnswer): TaskSpec[] {
  const replaced = new Map(answer!.drop.map(({ task, replacedBy }) => [task, replacedBy]));
  return tasks.flatMap(({ spec }) => {
    if (replaced.has(spec.id)) return [];
    const added = dependencies.filter(({ task }) => task === spec.id).map(({ on }) => on);
    const dependsOn = [...new Set([...spec.dependsOn.flatMap((id) => replaced.get(id) ?? [id]), ...added])];
    return dependsOn.join() === spec.dependsOn.join() ? [] : [{ ...spec, dependsOn }];
  });
}
