/** Ids of an answer: safe, and taken by nobody, neither in the answer nor in the plan. */
import type { Checking } from '../checking.ts';
import { idProblem } from '../names.ts';
import type { PlannerAnswer } from './answer.ts';
import type { PlanContext } from './context.ts';
import { decisionIdProblem } from './decisions.ts';

/** Tasks and scopes share one space of names, since dependencies name either. */
export function checkIds(check: Checking, answer: PlannerAnswer, context: PlanContext): void {
  const taken = new Map<string, string>();
  const dropped = new Set(answer.drop.map(({ task }) => task));
  for (const id of context.scopeIds) if (id !== '') taken.set(id.toLowerCase(), `the scope "${id}" of the plan`);
  for (const { id } of context.tasks)
    taken.set(id.toLowerCase(), `the task "${id}" of the plan${dropped.has(id) ? ', dropped or not' : ''}`);
  for (const list of ['scopes', 'tasks'] as const) {
    answer[list].forEach(({ id }, i) => {
      const at = [list, i, 'id'];
      const why = idProblem(id);
      check.sayIf(at, why);
      const other = taken.get(id.toLowerCase());
      if (other !== undefined)
        check.say(
          at,
          `the id "${id}" is taken by ${other}${other.includes(`"${id}"`) || other.includes('[') ? '' : ' (case apart)'}`,
        );
      else if (why === null) taken.set(id.toLowerCase(), `${list}[${i}]`);
    });
  }
  const decisions = new Map(context.decisions.map(({ id, owner }) => [id, owner === '' ? 'the first planner' : owner]));
  answer.decisions.forEach(({ id }, i) => {
    const at = ['decisions', i, 'id'];
    const why = decisionIdProblem(id);
    check.sayIf(at, why);
    const owner = decisions.get(id);
    if (owner !== undefined)
      check.say(
        at,
        `"${id}" is decided already, by ${owner}; follow it, or give yours another id and name this one under "supersedes"`,
      );
    else if (why === null) decisions.set(id, `decisions[${i}]`);
  });
}
