/**
 * Steps of ours: references to decisions (`decisions`) and the field guide (`guide`). Judged from stored objects, before and without a
 * container, at every level.
 *
 * 1. Counted is what the judged change touched: files that differ from the commit that it is counted from (where an attempt started,
 *    `verified`, `main`); and at the gate of a task, references to superseded decisions in files that it may change, touched or not. No
 *    two tasks that run at once may change the same file, so each such reference has at most one owner, who can mend it.
 * 2. Nobody is red for anybody else's file. A mainline or a point judged as a whole tree would be red for everybody as soon as a planner
 *    supersedes a decision that landed files refer to: the search for a culprit would take out one innocent after the other, and nothing
 *    could come green again. What stays behind is told instead (`staleReferences`, gate-stale.ts): at integration points, in the work
 *    log, which planners read when they are called there. And a planner that supersedes a decision has to plan for the files that follow
 *    it (spec/plan/check-decisions.ts).
 * 3. What the base had wrong already does not count: unknown decisions that a file named before, problems that the guide had.
 * 4. A step that finds nothing to judge (no reference, no guide) leaves no result.
 */
import { diffTrees, git, grepTree, printablePath, readBlobs, readFileAt } from '../mainline/git.ts';
import type { TreeChange } from '../mainline/git.ts';
import type { GateStepName, GateStepResult, Waivable } from '../spec/model.ts';
import { brokenReferences, decisionReferences, REFERENCE_MARK, referenceReport } from '../spec/plan/references.ts';
import type { BrokenReference, ReferringFile } from '../spec/plan/references.ts';
import type { Decision } from '../spec/plan/decisions.ts';
import { guideIndex, newGuideProblems } from '../spec/prompt/field-guide.ts';
import type { GuideRules, GuideState } from '../spec/prompt/field-guide.ts';
import { isFileMode } from './gate-changes.ts';
import { ownResult } from './gate-own-result.ts';
import type { GateVerdict } from './gate.ts';
import type { Scratch } from './scratch.ts';

/** A larger file is data, not code that follows decisions. */
const FILE_BYTES = 1024 * 1024;
/** Files read at once. */
const CHUNK = 500;

export interface OwnJob {
  readonly scratch: Pick<Scratch, 'gitDir' | 'outputFile'>;
  /** The tree that is judged. */
  readonly tree: string;
  /** Whose change is judged, and from where it counts. */
  readonly commit: string;
  readonly base: string;
  /** What the judged tree is compared with where the guide is concerned: what the change was merged with, else its base. */
  readonly onto: string;
  readonly decisions: readonly Decision[];
  readonly guide: GuideRules;
  /** Paths that are not the change's: preset tests, protected files. */
  readonly leaveOut: (path: string) => boolean;
  /** Files that the judged task may change; null: no task alone is judged. */
  readonly isOwn: ((path: string) => boolean) | null;
  /** undefined: all. */
  readonly only?: readonly GateStepName[] | undefined;
  readonly waive?: readonly Waivable[] | undefined;
  readonly now: () => number;
}

/** One step's log; null: there is nothing that it could judge. */
type Judged = { readonly log: string; readonly failures: readonly string[] } | null;

/** The first red one ends it. */
export async function judgeOwnSteps(job: OwnJob): Promise<Pick<GateVerdict, 'steps' | 'red' | 'outputs'>> {
  const changes = (await diffTrees(job.scratch.gitDir, job.base, job.commit)).filter(({ path }) => !job.leaveOut(path));
  const steps: GateStepResult[] = [];
  const outputs: GateVerdict['outputs'][number][] = [];
  for (const [step, judge] of [
    ['decisions', decisions],
    ['guide', guide],
  ] as const) {
    if (job.only !== undefined && !job.only.includes(step)) continue;
    const started = job.now();
    const judged = await judge(job, changes);
    if (judged === null) continue;
    const waived = job.waive?.includes(step) === true;
    const ok = waived || judged.failures.length === 0;
    const log = `${judged.log}${waived ? '\nWaived by a person: not counted.' : ''}`;
    const { result, output } = await ownResult(job.scratch, step, {
      log,
      failures: judged.failures,
      ok,
      durationMs: job.now() - started,
    });
    outputs.push(output);
    steps.push(result);
    if (!ok) return { steps, outputs, red: { step, cause: 'gate-red' } };
  }
  return { steps, outputs, red: null };
}

async function decisions(
  { scratch, tree, decisions: known, isOwn }: OwnJob,
  changes: readonly TreeChange[],
): Promise<Judged> {
  const changed = changes.filter(({ newMode, size }) => isFileMode(newMode) && size !== null && size <= FILE_BYTES);
  const files: ReferringFile[] = [];
  for (let at = 0; at < changed.length; at += CHUNK) {
    const some = changed.slice(at, at + CHUNK);
    const texts = await readBlobs(
      scratch.gitDir,
      some.map(({ newOid }) => newOid!),
    );
    const referring = some.filter(({ newOid }) => refers(texts.get(newOid!)));
    const before = await readBlobs(
      scratch.gitDir,
      referring.flatMap(({ oldOid, oldMode }) => (oldOid !== null && isFileMode(oldMode) ? [oldOid] : [])),
    );
    for (const { path, newOid, oldOid } of referring) {
      const old = before.get(oldOid ?? '');
      const text = texts.get(newOid!)!.toString('utf8');
      files.push(old === undefined ? { path, text } : { path, text, before: old.toString('utf8') });
    }
  }
  const touched = new Set(files.map(({ path }) => path));
  const left =
    isOwn === null
      ? []
      : (await staleReferences(scratch.gitDir, tree, known)).filter(({ path }) => !touched.has(path) && isOwn(path));
  if (files.length === 0 && left.length === 0) return null;
  const broken = [...brokenReferences(files, known), ...left];
  const log =
    broken.length === 0
      ? `${files.length} of the changed files refer to decisions; all of these stand.`
      : `${referenceReport(broken)}\n${broken.length} references to decisions that do not stand, in files that this change touches or may touch.`;
  return { log, failures: broken.map(({ path, line, id }) => `${path}:${line} ${id}`) };
}

const refers = (blob: Buffer | undefined): boolean =>
  blob !== undefined && !blob.includes(0) && decisionReferences(blob.toString('utf8')).length > 0;

async function guide({ scratch, tree, onto, guide: rules }: OwnJob, changes: readonly TreeChange[]): Promise<Judged> {
  if (!changes.some(({ path }) => path.startsWith(`${rules.folder}/`))) return null;
  const [now, before] = [await guideState(scratch.gitDir, tree, rules), await guideState(scratch.gitDir, onto, rules)];
  if (now.paths.length === 0) return null;
  const problems = newGuideProblems(before, now, rules);
  const log =
    problems.length === 0 ? `The field guide's index names its ${now.paths.length - 1} pages.` : problems.join('\n');
  return { log, failures: problems };
}

async function guideState(gitDir: string, treeish: string, rules: GuideRules): Promise<GuideState> {
  const out = await git(gitDir, [
    'ls-tree',
    '-r',
    '-z',
    '--name-only',
    '--full-tree',
    treeish,
    '--',
    `${rules.folder}/`,
  ]);
  const paths = out
    .toString('latin1')
    .split('\0')
    .filter((name) => name !== '')
    .map((name) => printablePath(Buffer.from(name, 'latin1')).path);
  return { paths, index: (await readFileAt(gitDir, treeish, guideIndex(rules)))?.toString('utf8') ?? null };
}

/** Every reference of a whole tree to a decision that was superseded. */
export async function staleReferences(
  gitDir: string,
  tree: string,
  known: readonly Decision[],
  signal?: AbortSignal,
): Promise<BrokenReference[]> {
  if (known.every(({ supersededBy }) => supersededBy === null)) return [];
  const files = await grepTree(gitDir, tree, REFERENCE_MARK, FILE_BYTES, { signal });
  return brokenReferences(files, known).filter(({ why }) => why === 'superseded');
}
