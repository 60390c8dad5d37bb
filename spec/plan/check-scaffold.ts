/**
 * Starting from nothing: scaffold tasks make what the gate needs (a manifest, its configuration, a first test) and are judged by their own
 * criteria; the full gate starts at the green point that they make.
 *
 * 1. In an empty repository the first plan names scaffold tasks; nowhere else can there be any.
 * 2. A scaffold task depends on scaffold tasks only; whatever else is planned before they have landed waits for all of them.
 */
import type { Checking } from '../checking.ts';
import { didYouMean } from '../problems.ts';
import type { PlannerAnswer } from './answer.ts';
import type { PlanContext } from './context.ts';

export function checkScaffold(check: Checking, answer: PlannerAnswer, context: PlanContext): void {
  const { scaffold, tasks } = answer;
  if (!context.mayScaffold) {
    if (scaffold.length > 0)
      check.say(['scaffold'], 'names tasks, but only the first plan of an empty repository has scaffold tasks');
    return;
  }
  const own = new Map(tasks.map((task) => [task.id, task]));
  const known = context.tasks.filter((task) => task.scaffold === true).map(({ id }) => id);
  if (tasks.length > 0 && scaffold.length + known.length === 0)
    check.say(
      ['scaffold'],
      'is empty, but so is the repository: name the tasks that make manifest, gate configuration and a first test; the full gate starts when they have landed',
    );
  scaffold.forEach((id, i) => {
    const task = own.get(id);
    if (task === undefined)
      return check.say(['scaffold', i], `there is no task "${id}" in this answer${didYouMean(id, [...own.keys()])}`);
    const other = task.dependsOn.find((on) => !scaffold.includes(on) && !known.includes(on));
    if (other !== undefined)
      check.say(
        ['tasks', tasks.indexOf(task), 'dependsOn'],
        `the scaffold task "${id}" depends on "${other}", which is none`,
      );
  });
}

/** Dependencies of a task of the answer, with the scaffold that has not landed. */
export function afterScaffold(
  id: string,
  dependsOn: readonly string[],
  answer: PlannerAnswer,
  context: PlanContext,
): readonly string[] {
  if (answer.scaffold.includes(id)) return dependsOn;
  const open = context.tasks.filter((task) => task.scaffold === true && !task.closed).map((task) => task.id);
  return [...new Set([...dependsOn, ...open, ...answer.scaffold.filter((one) => one !== id)])];
}
