/**
 * Goals that nobody can tell to be reached.
 *
 * The rule. A goal is *vague* when every sentence of it begins with a verb of taste (improve, optimise, refactor, clean up, tidy,
 * enhance, polish, simplify, modernise, rework, "make … better") and nothing in it says what will be different afterwards: no
 * number, and no word such as "so that", "no longer", "must", "without", "returns", "instead of". A task is refused when its goal
 * is vague and none of its acceptance criteria contains anything that can be checked: a number, a path, a code span, an
 * identifier, a command, or a word such as must, fails, passes, returns, exports, no longer, exactly, at most, only, every.
 */

const TASTE = new RegExp(
  "^(?:(?:please|just|also|then|and|try to|we (?:should|want to|need to)|let us|let's|the goal is to|to)\\s+)*" +
    '(?:improv|optimi[sz]|refactor|clean(?:s|ing)?(?:\\s+\\S+){0,4}?[\\s-]*up|clean\\b|tid(?:y|ies|ying)|enhanc|polish|simplif|moderni[sz]|rework|streamlin|beautif|' +
    'mak(?:e|ing)\\b.*\\b(?:better|nicer|cleaner|faster|simpler|more|easier|readable|maintainable|robust|good)\\b)',
  'i',
);

const SAYS_WHAT_CHANGES =
  /\d|\b(?:so that|such that|no longer|must|without|returns?|instead of|replac\w+|exactly|at (?:most|least)|fewer than|less than|more than|throws?|fails?|pass(?:es)?)\b/i;

const CHECKABLE_WORD =
  /\b(?:must|fails?|pass(?:es)?|returns?|exports?|imports?|throws?|rejects?|accepts?|answers?|responds?|prints?|compiles?|exists?|equals?|contains?|matches|no longer|no more|not? (?:longer|any)|none|never|always|only|exactly|every|each|at (?:most|least)|less than|fewer than|more than|within|zero|unchanged|identical|removed|deleted|absent|gone)\b/i;
const CHECKABLE_FORM = new RegExp(
  [
    '\\d', // a number
    '`[^`]+`', // a code span
    '(?:^|\\s)\\.{0,2}/?[\\w@.-]+(?:/[\\w@.*-]+)+\\.\\w+', // a path with an extension
    '\\b[\\w-]+\\.(?:[cm]?[jt]sx?|py|rs|go|java|kt|rb|php|cs?|cpp|h|md|json|ya?ml|toml|sql|sh|html|css)\\b', // a file
    '\\b[a-z]+[A-Z]\\w*\\b', // camelCase
    '\\b[A-Z][a-z0-9]+[A-Z]\\w*\\b', // PascalCase of two words
    '\\b\\w+_\\w+\\b', // snake_case
    '\\b\\w+\\(\\)', // a call
    '\\b(?:npm|npx|yarn|pnpm|make|cargo|go|pytest|mvn|gradle|docker|git|tsc|eslint|node|python)\\s+[a-z-]', // a command
    '(?:GET|POST|PUT|PATCH|DELETE)\\s+/',
  ].join('|'),
);

/** Characters of a text that are looked at: patterns on text of any length could take any time. */
const JUDGED = 4000;

/** Does the sentence contain anything that somebody, or a program, can find true or false? */
export function isCheckable(criterion: string): boolean {
  const text = criterion.slice(0, JUDGED);
  return CHECKABLE_FORM.test(text) || CHECKABLE_WORD.test(text);
}

/** Does the goal ask only for "better"? */
export function isVague(goal: string): boolean {
  const text = goal.slice(0, JUDGED);
  if (SAYS_WHAT_CHANGES.test(text.replace(/`[^`]*`/g, ' '))) return false;
  const sentences = text
    .replace(/^[#>*\-\s]+/gm, '')
    .split(/[.!?;]\s+|[.!?;]?\n+|[.!?;]$/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => /\w/.test(sentence));
  return sentences.length > 0 && sentences.every((sentence) => TASTE.test(sentence));
}

/** Why a task's goal cannot be judged, or null. */
export function goalProblem(goal: string, acceptance: readonly string[]): string | null {
  if (!/\w/u.test(goal) && !/\p{L}/u.test(goal))
    return 'is empty; say what is to be done, so that somebody else can tell whether it was';
  if (!isVague(goal) || acceptance.some(isCheckable)) return null;
  return 'asks only for something better, and no acceptance criterion says how to tell: add one with a number, a file, a command or a behaviour ("p95 under 200 ms", "`parse()` no longer copies its input")';
}
