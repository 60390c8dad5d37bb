/** Plans: what a planner may answer, how its answer is judged, what it is worth. Pure. */
export { answerFields, answerPage, ANSWER_FIELDS } from './answer.ts';
export type { AnsweredDecision, AnsweredScope, AnsweredTask, PlannerAnswer } from './answer.ts';
export { checkAnswer, checkedAnswer, readAnswer } from './check.ts';
export type { CheckedAnswer } from './check.ts';
export { DEFAULT_BOUNDS } from './context.ts';
export type { PlanBounds, PlanContext, PlannedTask } from './context.ts';
export {
  clashes,
  clashOf,
  decisionIdProblem,
  interfacesMeet,
  sameSubject,
  standingFor,
  supersede,
} from './decisions.ts';
export type { Clash, Decision } from './decisions.ts';
export { fencedBlocks, jsonOf } from './json-of.ts';
export type { Found } from './json-of.ts';
export { brokenReferences, decisionReferences, referenceReport } from './references.ts';
export type { BrokenReference, Reference } from './references.ts';
export { GUESSED, scorePlan } from './score.ts';
export { MIN_JUDGED, NO_LIMITS, planRefusals, scoreLines } from './score-limits.ts';
export type { AttemptCost, PlanScore, ScoredTask, ScoreOptions } from './score.ts';
export type { ScoreLimits } from './score-limits.ts';
export { CLASHES_PAGE, readClashes } from './found-clashes.ts';
export { reconcileId, reconcileTask } from './reconcile.ts';
export { contextFor, FIRST, isPlanners, otherScopes, planLines, plannerTask } from './state.ts';
export type { PlanNode, PlanState, PlanTaskState } from './state.ts';
