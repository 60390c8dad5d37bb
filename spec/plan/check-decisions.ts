/** Decisions of an answer: complete, one owner each, and not about what somebody has decided. */
import type { Checking } from '../checking.ts';
import { anyGlob } from '../globs.ts';
import { didYouMean } from '../problems.ts';
import { mayWrite } from '../scope.ts';
import type { AnsweredDecision, PlannerAnswer } from './answer.ts';
import type { PlanContext } from './context.ts';
import { clashOf, standingFor } from './decisions.ts';
import { decisionReferences } from './references.ts';

export function checkDecisions(check: Checking, answer: PlannerAnswer, context: PlanContext): void {
  const superseded = new Set(answer.decisions.map(({ supersedes }) => supersedes));
  const standing = context.decisions.filter(({ id, supersededBy }) => supersededBy === null && !superseded.has(id));
  answer.decisions.forEach((decision, i) => {
    const at = ['decisions', i];
    if (decision.subject.trim() === '') check.say([...at, 'subject'], 'is empty; say what is decided about');
    if (decision.text.trim() === '') check.say([...at, 'text'], 'is empty; say what everybody must follow');
    checkSuperseding(check, decision, i, context);
    checkFollowers(check, decision, i, answer, context);
    const others = [...standing, ...answer.decisions.slice(0, i).map((one) => ({ ...one, owner: context.node.id }))];
    for (const other of others) {
      const clash = clashOf(other, decision);
      if (clash === null || other.id === decision.id || isReconciled(answer, other.id, decision.id)) continue;
      const about =
        clash.why === 'subject' ? `the subject "${other.subject}"` : `the interfaces ${clash.names.join(', ')}`;
      const owner = other.owner === context.node.id ? 'you' : other.owner === '' ? 'the first planner' : other.owner;
      check.say(
        [...at, clash.why === 'subject' ? 'subject' : 'interfaces'],
        `"${decision.id}" decides what "${other.id}" of ${owner} decides (${about}): follow that one, supersede it where it is yours, or plan a task of kind reconcile whose goal names both`,
      );
    }
  });
  checkMentions(check, answer, context);
}

function checkSuperseding(
  check: Checking,
  { supersedes, id }: AnsweredDecision,
  i: number,
  context: PlanContext,
): void {
  if (supersedes === '') return;
  const at = ['decisions', i, 'supersedes'];
  const known = context.decisions.map((decision) => decision.id);
  const old = context.decisions.find((decision) => decision.id === supersedes);
  if (supersedes === id)
    check.say(at, 'is the decision itself; a decision is never changed: give the new one another id');
  else if (old === undefined)
    check.say(at, `there is no earlier decision "${supersedes}"${didYouMean(supersedes, known)}`);
  else if (old.supersededBy !== null) {
    const now = standingFor(context.decisions, supersedes);
    check.say(at, `"${supersedes}" is superseded already${now === null ? '' : `, by "${now.id}"`}; supersede that one`);
  } else if (old.owner !== context.node.id && !context.overrules.includes(old.owner))
    check.say(
      at,
      `"${supersedes}" belongs to ${old.owner === '' ? 'the first planner' : old.owner}, who alone may supersede it`,
    );
}

const FILES_NAMED = 5;

/** Files of this planner's scope that follow the old decision, and that nobody would bring along. */
function checkFollowers(
  check: Checking,
  { supersedes }: AnsweredDecision,
  i: number,
  answer: PlannerAnswer,
  context: PlanContext,
): void {
  const referring = context.referring?.get(supersedes) ?? [];
  if (referring.length === 0) return;
  const isInside = anyGlob(context.node.files);
  const isScope = anyGlob(answer.scopes.flatMap(({ files }) => files));
  const dropped = new Set(answer.drop.map(({ task }) => task));
  const writers = [...answer.tasks, ...context.tasks.filter(({ id, closed }) => !closed && !dropped.has(id))];
  const left = referring.filter(
    (path) =>
      isInside(path) &&
      !isScope(path) &&
      !writers.some(({ files }) => mayWrite({ files: { ...files, reference: [] } }, path)),
  );
  if (left.length === 0) return;
  const named = left.slice(0, FILES_NAMED).join(', ');
  const more = left.length > FILES_NAMED ? ` and ${left.length - FILES_NAMED} more` : '';
  check.say(
    ['decisions', i, 'supersedes'],
    `files that landed refer to "${supersedes}", and no task may change them: ${named}${more}; plan tasks that make them follow the new decision`,
  );
}

function isReconciled({ tasks }: PlannerAnswer, a: string, b: string): boolean {
  return tasks.some(({ kind, goal }) => kind === 'reconcile' && goal.includes(a) && goal.includes(b));
}

/** Tasks that send a worker to a decision which is not there, or no longer stands. */
function checkMentions(check: Checking, answer: PlannerAnswer, { decisions }: PlanContext): void {
  const known = new Set([...decisions, ...answer.decisions].map(({ id }) => id));
  const gone = new Map(answer.decisions.map(({ id, supersedes }) => [supersedes, id]));
  answer.tasks.forEach((task, i) => {
    if (task.kind === 'reconcile') return;
    for (const field of ['goal', 'interface'] as const) {
      for (const { id } of decisionReferences(task[field])) {
        const now = gone.get(id) ?? standingFor(decisions, id)?.id ?? id;
        if (!known.has(id))
          check.say(
            ['tasks', i, field],
            `refers to the decision "${id}", which there is not${didYouMean(id, [...known])}`,
          );
        else if (now !== id) check.say(['tasks', i, field], `refers to "${id}", which "${now}" supersedes`);
      }
    }
  });
}
