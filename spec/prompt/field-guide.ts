/**
 * The field guide: a folder of the target repository that agents own, with what newcomers must know. Its index is told to every agent at
 * its start, so it has a budget of lines; a gate step of ours holds it to that. Pure.
 *
 * 1. Every page of the folder is named in the index, and the index names no page that is not there: what nobody finds is not known.
 */

export interface GuideRules {
  /** Folder of the guide, relative to the repository. */
  readonly folder: string;
  /** Name of the index in it. */
  readonly index: string;
  readonly maxLines: number;
}
export const GUIDE_RULES: GuideRules = { folder: 'docs/field-guide', index: 'INDEX.md', maxLines: 60 };

/** @param folder as the spec says; undefined: of a run that was stored before it could */
export const guideRules = (folder: string | undefined): GuideRules =>
  folder === undefined ? GUIDE_RULES : { ...GUIDE_RULES, folder };

/** Path of the index. */
export const guideIndex = ({ folder, index }: GuideRules): string => `${folder}/${index}`;

/**
 * What is wrong with the guide, as lines of a red step's log; none where there is no guide.
 * @param paths of the whole tree
 * @param index text of the index; null: there is none
 */
export function guideProblems(
  paths: readonly string[],
  index: string | null,
  rules: GuideRules = GUIDE_RULES,
): string[] {
  const inside = `${rules.folder}/`;
  const own = guideIndex(rules);
  const pages = paths
    .filter((path) => path.startsWith(inside) && path !== own)
    .map((path) => path.slice(inside.length));
  if (index === null)
    return pages.length === 0 ? [] : [`${own}: error: is missing, so that nobody is told of ${pages.join(', ')}`];
  const out: string[] = [];
  const lines = index.trimEnd() === '' ? [] : index.trimEnd().split('\n');
  if (lines.length > rules.maxLines)
    out.push(
      `${own}: error: has ${lines.length} lines; ${rules.maxLines} are allowed, since every agent reads them: move details to pages, one line each`,
    );
  const named = lines.map(pagesNamed);
  for (const page of pages) if (!named.flat().includes(page)) out.push(`${own}: error: does not name ${page}`);
  named.forEach((names, i) => {
    for (const name of names)
      if (!pages.includes(name)) out.push(`${own}:${i + 1}: error: names ${name}, which is not there`);
  });
  return out;
}

/** Of the guide in one tree. */
export interface GuideState {
  readonly paths: readonly string[];
  readonly index: string | null;
}

/**
 * What a change made wrong with the guide: problems that it had before do not count, wherever their line is now, nor does an index that was
 * too long and has not grown.
 */
export function newGuideProblems(before: GuideState, now: GuideState, rules: GuideRules = GUIDE_RULES): string[] {
  const linesBefore = before.index === null ? 0 : before.index.trimEnd().split('\n').length;
  const allowed = { ...rules, maxLines: Math.max(rules.maxLines, linesBefore) };
  const place = (problem: string): string => problem.replace(/:\d+: error: /, ': error: ');
  const old = new Set(guideProblems(before.paths, before.index, rules).map(place));
  return guideProblems(now.paths, now.index, allowed).filter((problem) => !old.has(place(problem)));
}

/** Pages in a line: `name.md` as the target of a link, or at the line's beginning. */
function pagesNamed(line: string): string[] {
  const linked = [...line.matchAll(/\]\((?!\w+:|\/|#)(?:\.\/)?([^)#\s]+)/g)].map(([, target]) => target!);
  const first = /^\s*[-*]?\s*`?([\w./-]+\.md)`?\s*(?::|-|–|—|$)/.exec(line)?.[1];
  const names = [...linked, ...(first === undefined ? [] : [first])];
  return [...new Set(names)].filter((name) => name.endsWith('.md') && !name.startsWith('../'));
}
