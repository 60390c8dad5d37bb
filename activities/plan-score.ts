/** What the plan would be worth with an answer. */
import { GUESSED, scorePlan } from '../spec/plan/index.ts';
import type { CheckedAnswer, PlanScore, PlanState } from '../spec/plan/index.ts';
import { priceOf } from '../spec/prices.ts';
import type { PriceTable } from '../spec/prices.ts';
import { isFinal } from '../spec/task-state.ts';

/** Of all that is not final, the answer's tasks included. @param paths of the tree that is planned on */
export function planScore(
  { spec, tasks }: PlanState,
  { answer, tasks: planned }: CheckedAnswer,
  paths: readonly string[],
  prices: readonly PriceTable[],
): PlanScore {
  const dropped = new Set(answer?.drop.map(({ task }) => task));
  const open = tasks
    .filter(({ spec: task, state }) => !isFinal(state) && !dropped.has(task.id))
    .map(({ spec: task }) => task);
  const { model } = spec.roles.worker;
  return scorePlan([...open, ...planned], {
    ...GUESSED,
    schedule: spec.policy.schedule,
    agents: spec.policy.inFlight,
    price: model === null ? null : priceOf(model, prices),
    files: paths,
    union: spec.repository.union,
  });
}
