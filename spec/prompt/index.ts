/** What an agent is told. Pure. */
export { buildPrompt } from './build.ts';
export type { BuiltPrompt, PromptInput } from './build.ts';
export { trimAroundFailures } from './log.ts';
export { signaturesOf } from './signatures.ts';
