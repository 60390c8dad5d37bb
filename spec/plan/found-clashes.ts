/** Pairs of decisions that decide the same although neither their subjects nor their interfaces say so: what a reconciler answers. Pure. */
import * as z from 'zod';
import type { Problem } from '../model.ts';
import { problemsOf } from '../problems.ts';
import type { Clash, Decision } from './decisions.ts';
import { jsonOf } from './json-of.ts';

const MAX_PAIRS = 50;
const Answer = z.strictObject({
  clashes: z
    .array(z.strictObject({ a: z.string(), b: z.string(), why: z.string().trim().min(1).max(1_000) }))
    .max(MAX_PAIRS),
});

/** How a reconciler answers, for its prompt. */
export const CLASHES_PAGE = `End with one JSON object in a block fenced by \`\`\`json:

\`\`\`json
{"clashes": [{"a": "money-cents", "b": "amounts-decimal", "why": "Both say how amounts are kept, and they differ."}]}
\`\`\`

- \`clashes\` (at most ${MAX_PAIRS}): pairs of decisions that somebody could not follow both, or that say the same twice. \`a\` and \`b\` are their ids. An empty list when there is none; that is the usual answer.`;

/** What it said, or everything that is wrong with it. */
export function readClashes(
  text: string,
  decisions: readonly Decision[],
): { readonly clashes: readonly Clash[]; readonly problems: readonly Problem[] } {
  const found = jsonOf(text);
  if (!found.ok) return { clashes: [], problems: [{ path: '', message: found.why }] };
  const parsed = Answer.safeParse(found.value);
  if (!parsed.success) {
    return {
      clashes: [],
      problems: problemsOf(
        parsed.error.issues,
        (parts) => (parts.length === 0 ? ['clashes'] : ['a', 'b', 'why']),
        found.value,
      ),
    };
  }
  const standing = new Map(decisions.filter(({ supersededBy }) => supersededBy === null).map((one) => [one.id, one]));
  const problems: Problem[] = [];
  const clashes = parsed.data.clashes.flatMap(({ a, b, why }, i): Clash[] => {
    const [first, second] = [standing.get(a), standing.get(b)];
    if (first === undefined || second === undefined || a === b) {
      problems.push({ path: `clashes[${i}]`, message: `"${a}" and "${b}" are not two decisions that stand` });
      return [];
    }
    return [{ a, b, owners: [first.owner, second.owner], why: 'reconciler', names: [why] }];
  });
  return problems.length > 0 ? { clashes: [], problems } : { clashes, problems };
}
