/** `policy.evaluate`: the suite that no agent sees. */
import type { Checking } from './checking.ts';
import { scoreProblem } from './evaluation.ts';
import type { RawSpec } from './fields.ts';
import { globProblem } from './globs.ts';

export function checkEvaluate(check: Checking, evaluate: RawSpec['policy']['evaluate']): void {
  if (evaluate === null) return;
  const at = ['policy', 'evaluate'];
  if (evaluate.run.trim() === '') check.say([...at, 'run'], 'is empty; write the command that measures a green point');
  if (evaluate.score !== null) check.sayIf([...at, 'score'], scoreProblem(evaluate.score));
  for (const [path, file] of Object.entries(evaluate.files)) {
    const where = [...at, 'files', path];
    check.sayIf(where, globProblem(path) ?? (/[*?]/.test(path) ? 'is a glob; name one file' : null));
    if (typeof file === 'string')
      check.say(
        where,
        `"${file}" was not read in: only \`./swarmline run\` and \`validate\` read files, relative to the spec; give {content: "…"} otherwise`,
      );
  }
}
