/** Sub-scopes of an answer, and whether its tasks stay inside the node's scope. */
import type { Checking } from '../checking.ts';
import { expandBraces, globProblem } from '../globs.ts';
import { globsIntersect } from '../globs-meet.ts';
import { covers } from '../overlap.ts';
import type { PathPart } from '../problems.ts';
import type { AnsweredScope, PlannerAnswer } from './answer.ts';
import type { PlanContext } from './context.ts';

/** Does every path of the glob surely lie within these? */
export function within(globs: readonly string[], glob: string): boolean {
  return expandBraces(glob).every((one) =>
    globs.flatMap((outer) => expandBraces(outer)).some((outer) => covers(outer, one)),
  );
}

export function checkScopes(check: Checking, answer: PlannerAnswer, context: PlanContext): void {
  const { node, bounds, spec } = context;
  const { scopes } = answer;
  if (scopes.length > 0 && node.depth >= bounds.depth)
    check.say(
      ['scopes'],
      `would be at level ${node.depth + 1} of planners; ${bounds.depth} are allowed: plan tasks here`,
    );
  if (scopes.length > bounds.breadth)
    check.say(['scopes'], `are ${scopes.length}; one answer has at most ${bounds.breadth}: join some`);
  scopes.forEach((scope, i) => checkScope(check, scope, ['scopes', i], context));
  if (scopes.length === 1 && answer.tasks.length === 0 && node.files.every((glob) => within(scopes[0]!.files, glob)))
    check.say(['scopes', 0, 'files'], 'is the whole of your own scope; plan its tasks, or divide it');
  scopes.forEach((scope, i) => {
    scopes.slice(0, i).forEach((other) => sayMeeting(check, scope, i, other));
    context.otherScopes.forEach((other) => sayMeeting(check, scope, i, other));
  });

  answer.tasks.forEach((task, i) => {
    // A manifest belongs to no scope: tasks that change one run one at a time wherever they were planned.
    const room = task.kind === 'dependency-update' ? [...node.files, ...spec.repository.manifests] : node.files;
    task.files.allow.forEach((glob, j) => {
      const at = ['tasks', i, 'files', 'allow', j];
      if (globProblem(glob) !== null) return;
      if (!within(room, glob)) check.say(at, `"${glob}" is not within your scope (${node.files.join(', ')})`);
      const child = scopes.find(
        ({ files, dependsOn }) => !dependsOn.includes(task.id) && meeting([glob], files) !== null,
      );
      if (child !== undefined && !task.files.forbid.some((forbid) => covers(forbid, glob)))
        check.say(
          at,
          `"${glob}" shares paths with the sub-scope "${child.id}"; leave them to its planner, or let the sub-scope depend on "${task.id}"`,
        );
    });
  });
}

function checkScope(check: Checking, scope: AnsweredScope, at: readonly PathPart[], { node }: PlanContext): void {
  if (!/[\p{L}\p{N}]/u.test(scope.goal)) check.say([...at, 'goal'], 'is empty; say what is true when it is done');
  check.globs([...at, 'files'], scope.files);
  scope.files.forEach((glob, j) => {
    if (globProblem(glob) === null && !within(node.files, glob))
      check.say([...at, 'files', j], `"${glob}" is not within your scope (${node.files.join(', ')})`);
  });
}

type Named = { readonly id: string; readonly files: readonly string[] };

function sayMeeting(check: Checking, scope: Named, i: number, other: Named): void {
  const met = meeting(scope.files, other.files);
  if (met === null) return;
  const [mine, theirs] = met;
  check.say(
    ['scopes', i, 'files', scope.files.indexOf(mine)],
    `"${mine}" of "${scope.id}" and "${theirs}" of "${other.id}" share paths: two planners would decide about the same files`,
  );
}

/** The first pair of globs that could share a path; null: the two lists are disjoint. */
export function meeting(a: readonly string[], b: readonly string[]): [string, string] | null {
  for (const x of a) {
    for (const y of b) {
      if (globProblem(x) === null && globProblem(y) === null && globsIntersect(x, y)) return [x, y];
    }
  }
  return null;
}
