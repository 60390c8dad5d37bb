/** What agents are told, by role. Pure. */
export { buildPrompt } from './build.ts';
export type { PromptInput } from './build.ts';
export type { BuiltPrompt } from './fit.ts';
export { trimAroundFailures } from './log.ts';
export { buildMergerPrompt } from './merger.ts';
export type { ConflictFile, MergerInput, MergeSide } from './merger.ts';
export type { NamedText } from './parts.ts';
export { buildPlannerPrompt } from './planner.ts';
export type { MappedFile, PlannerInput } from './planner.ts';
export { buildReconcilerPrompt } from './reconciler.ts';
export { buildReviewerPrompt } from './reviewer.ts';
export type { Reviewed, ReviewedStep, ReviewerInput } from './reviewer.ts';
export { signaturesOf } from './signatures.ts';
export { GUIDE_RULES, guideIndex, guideProblems, guideRules, newGuideProblems } from './field-guide.ts';
export type { GuideRules, GuideState } from './field-guide.ts';
