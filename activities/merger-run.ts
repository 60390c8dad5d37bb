/**
 * One attempt of the neutral merger: work that conflicts in, a commit on top of `next` out that holds all of it.
 *
 * 1. It is given everything of the work that merges by itself, and the conflicting files as they landed; only these may it change, and only
 *    those of them that the work itself had changed. So its result changes nothing that the work's own task may not.
 * 2. The result stands on `next` as it was: it goes through the same gate and merge as any other (execute-task).
 */
import { engineFor, promptBytes } from '../engines/index.ts';
import { treeOf } from '../mainline/git.ts';
import type { MergeInput } from '../mainline/git.ts';
import { requestsTouching } from '../mainline/touching.ts';
import type { Scratch } from '../sandbox/scratch.ts';
import { escapeGlob } from '../spec/globs.ts';
import type { AgentResult, TaskSpec } from '../spec/model.ts';
import { buildMergerPrompt } from '../spec/prompt/index.ts';
import type { ConflictFile } from '../spec/prompt/index.ts';
import { decisionReferences } from '../spec/plan/references.ts';
import type { MergerWork } from './agent-attempt.ts';
import { runAttempt } from './agent-run.ts';
import type { AttemptDeps } from './attempt-ports.ts';
import type { RunMergeInput } from './contract.ts';
import type { Running } from './running.ts';
import { mergedUpTo } from './merged-up-to.ts';
import { treeDiff } from './tree-diff.ts';
import { treeTexts } from './tree-texts.ts';

/** Some 50,000 tokens, as a worker's. */
const PROMPT_BYTES = 200_000;

export async function mergerRun(input: RunMergeInput, deps: AttemptDeps, running: Running): Promise<AgentResult> {
  return runAttempt(input, deps, running, async (key, spec, task) => {
    const role = spec.roles.merger;
    if (role === undefined) throw new Error(`The run "${input.run}" has no merger.`);
    const engine = engineFor(role.engine, spec.engines);
    const base = await deps.hub.resolve(input.run, 'next', running.signal);
    return {
      base,
      commits: [input.of.commit, input.of.base],
      attempt: async (scratch) => {
        running.report({ phase: 'merging' });
        const maxBytes = promptBytes(PROMPT_BYTES, engine);
        const merge = await mergerWork(input, base, task, scratch, maxBytes, deps, running);
        await deps.store.saveMergerAttempt(key, merge);
        const confined = await confinedTo(merge, base, task, scratch);
        return { key, spec, task: confined, role, engine, base, scratch, merge };
      },
    };
  });
}

/** The task as the merger has it. Where the work brings something else along, leaving the conflicting files as they landed may be right. */
async function confinedTo(merge: MergerWork, base: string, task: TaskSpec, { gitDir }: Scratch): Promise<TaskSpec> {
  if (merge.paths.length === 0) return { ...task, role: 'merger' };
  const bringsMore = merge.tree !== (await treeOf(gitDir, base));
  const files = { allow: merge.paths.map(escapeGlob), forbid: [], reference: [] };
  return { ...task, role: 'merger', files, mayBeEmpty: bringsMore || task.mayBeEmpty };
}

async function mergerWork(
  { run, of }: RunMergeInput,
  base: string,
  task: TaskSpec,
  { gitDir }: Scratch,
  maxBytes: number,
  deps: AttemptDeps,
  { signal }: Running,
): Promise<MergerWork> {
  const sides = { base: of.base, ours: base, theirs: of.commit };
  const { tree, paths, foreign } = await mergedUpTo(gitDir, sides, { signal });
  const refused = foreign.length === 0 ? null : `It does not merge file by file: ${foreign.join(', ')}`;
  const landed = await requestsTouching(gitDir, of.base, base, paths, { signal });
  const merges = [...new Set(landed.map(({ request }) => request))];
  const ids = [...new Set(landed.map((one) => one.task))];
  const tasks = await Promise.all(ids.map((id) => deps.store.task(run, id)));
  const only = new Set(paths);
  const files = await conflictFiles(gitDir, paths, sides);
  const [landedDiff, arrivingDiff] = [
    await treeDiff(gitDir, of.base, base, { paths: only }),
    await treeDiff(gitDir, of.base, of.commit, { paths: only }),
  ].map((diffs) => diffs.map(({ path, diff }) => `${path}\n${diff}`).join('\n'));
  const decisions = await decisionsIn(run, files, deps);
  return {
    tree,
    paths,
    merges,
    ofAttempt: of.attempt,
    refused,
    prompt: (lastFailure) =>
      buildMergerPrompt({
        landed: { task: tasks.at(-1) ?? UNKNOWN, diff: landedDiff ?? '' },
        arriving: { task, diff: arrivingDiff ?? '' },
        before: tasks.slice(0, -1),
        files,
        decisions,
        lastFailure,
        maxBytes,
      }).text,
  };
}

/** Whatever changed the files came by no task (a base that was rebuilt since). */
const UNKNOWN = { id: '(the mainline)', goal: 'What has landed.', interface: '', acceptance: [], files: { allow: [], forbid: [], reference: [] }, tests: {} }; // prettier-ignore

async function conflictFiles(gitDir: string, paths: readonly string[], sides: MergeInput): Promise<ConflictFile[]> {
  const read = async (treeish: string): Promise<Map<string, string>> => {
    const texts = await (await treeTexts(gitDir, treeish)).read(paths);
    return new Map(texts.map(({ path, content }) => [path, content]));
  };
  const [base, landed, arriving] = [await read(sides.base), await read(sides.ours), await read(sides.theirs)];
  return paths.map((path) => ({
    path,
    base: base.get(path) ?? null,
    landed: landed.get(path) ?? null,
    arriving: arriving.get(path) ?? null,
  }));
}

/** Decisions that stand and that a side of the conflicting files refers to. */
async function decisionsIn(run: string, files: readonly ConflictFile[], deps: AttemptDeps): Promise<string[]> {
  const texts = files.flatMap(({ base, landed, arriving }) => [base, landed, arriving]);
  const named = new Set(texts.flatMap((text) => decisionReferences(text ?? '')).map(({ id }) => id));
  if (named.size === 0) return [];
  const { decisions } = await deps.store.plan(run);
  return decisions
    .filter(({ id, supersededBy }) => named.has(id) && supersededBy === null)
    .map(({ id, subject, text }) => `${id} (${subject}): ${text}`);
}
