/** A user's mistake in a spec or a task, as Temporal shows it. */
import { ApplicationFailure } from '@temporalio/activity';
import type { Problem } from '../spec/model.ts';

/** One failure with every problem, one a line, as a person reads it in the Temporal UI. */
export function badSpec(problems: readonly Problem[]): ApplicationFailure {
  const lines = problems.map(({ path, message }) => `- ${path === '' ? 'spec' : path}: ${message}`);
  return ApplicationFailure.create({
    message: `The spec has ${problems.length} problem${problems.length === 1 ? '' : 's'}:\n${lines.join('\n')}`,
    type: 'BadSpec',
    nonRetryable: true,
    details: [problems],
  });
}
