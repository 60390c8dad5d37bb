/** What the plan would be worth with an answer. */
import { attemptOf, attemptsPerTask, landTime, waveTime } from '../spec/estimate-figures.ts';
import type { Measured } from '../spec/estimate-figures.ts';
import { scorePlan } from '../spec/plan/index.ts';
import type { CheckedAnswer, PlanScore, PlanState } from '../spec/plan/index.ts';
import { priceOf } from '../spec/prices.ts';
import type { PriceTable } from '../spec/prices.ts';
import { isFinal } from '../spec/task-state.ts';

/**
 * Of all that is not final, the answer's tasks included.
 * @param paths of the tree that is planned on
 * @param measured in this run and earlier ones: what is in it takes the place of guesses
 */
export function planScore(
  { spec, tasks }: PlanState,
  { answer, tasks: planned }: CheckedAnswer,
  paths: readonly string[],
  prices: readonly PriceTable[],
  measured: Measured,
): PlanScore {
  const dropped = new Set(answer?.drop.map(({ task }) => task));
  const open = tasks
    .filter(({ spec: task, state }) => !isFinal(state) && !dropped.has(task.id))
    .map(({ spec: task }) => task);
  const { model } = spec.roles.worker;
  return scorePlan([...open, ...planned], {
    attempt: attemptOf(measured, 'worker', model).each,
    attemptsPerTask: attemptsPerTask(measured, model).value,
    landMs: landTime(measured).value,
    waveMs: waveTime(measured).value,
    schedule: spec.policy.schedule,
    agents: spec.policy.inFlight,
    price: model === null ? null : priceOf(model, prices),
    files: paths,
    union: spec.repository.union,
  });
}
