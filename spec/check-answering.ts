/** Roles that answer instead of editing: their engine must be one that can, and a reviewer needs something to see. */
import type { Checking } from './checking.ts';
import type { RawSpec } from './fields.ts';
import type { PathPart } from './problems.ts';

/** They run a program on files and say nothing that could be read as an answer. */
const ANSWER_NOTHING: ReadonlySet<string> = new Set(['command', 'scripted']);

export function checkAnswering(check: Checking, { roles }: RawSpec): void {
  const { planner, reviewer, worker } = roles;
  const mustAnswer = (at: PathPart[], engine: string, what: string): void => {
    if (ANSWER_NOTHING.has(engine))
      check.say(
        [...at, 'engine'],
        `is "${engine}", which edits files and answers nothing; ${what} needs an agent such as "claude-code"`,
      );
  };
  if (planner !== null) mustAnswer(['roles', 'planner'], planner.engine, 'a planner');
  const isList = Array.isArray(reviewer);
  const reviewers = reviewer === null ? [] : isList ? reviewer : [reviewer];
  reviewers.forEach(({ engine, sees }, i) => {
    const at: PathPart[] = isList ? ['roles', 'reviewer', i] : ['roles', 'reviewer'];
    mustAnswer(at, engine, 'a reviewer');
    if (sees === 'transcript' && ANSWER_NOTHING.has(worker.engine))
      check.warn(
        [...at, 'sees'],
        `"transcript" shows little: the worker's engine "${worker.engine}" leaves none, so that its output is shown instead`,
      );
  });
}
