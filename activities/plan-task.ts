/** What a workflow knows of a task. */
import type { PlanTask, TaskSpec } from '../spec/model.ts';

export function planTask({ id, kind, dependsOn, priority }: TaskSpec, index: number): PlanTask {
  return { id, kind, dependsOn, priority, index };
}
