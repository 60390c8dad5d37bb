/**
 * A planner's answer becomes part of the plan, or goes back with every problem.
 *
 * 1. One answer at a time is judged and taken, in one transaction: what it was judged against is what it is laid on.
 * 2. Taken twice it comes to the same, and nothing is written again.
 * 3. A plan that is worth too little by the spec's own measure (`planning.refuse`) goes back like a wrong one.
 */
import { grepTree, listFiles, readFileAt } from '../mainline/git.ts';
import type { Hub } from '../mainline/hub.ts';
import { contextFor, decisionReferences, jsonOf, planRefusals, plannerTask, readAnswer } from '../spec/plan/index.ts';
import type { PlanScore, PlanState } from '../spec/plan/index.ts';
import { REFERENCE_MARK } from '../spec/plan/references.ts';
import type { PriceTable } from '../spec/prices.ts';
import { presetTestPaths } from '../spec/preset-tests.ts';
import type { Problem } from '../spec/model.ts';
import {
  endAttempt,
  inTransaction,
  judgePlanAnswer,
  loadPlan,
  loadPlanAnswer,
  lockPlan,
  measured,
  saveArtifact,
} from '../store/index.ts';
import type { Pool } from '../store/index.ts';
import type { MainlineActivities, PlanTaken } from './contract.ts';
import { layPlan } from './lay-plan.ts';
import { planScore } from './plan-score.ts';

export interface TakePlanDeps {
  readonly db: Pool;
  readonly prices: readonly PriceTable[];
  hub(run: string): Promise<Hub>;
}

/** Artifact of a planner's attempt. */
export const PROBLEMS = 'problems.txt';
/** Problems in a result; all of them are in the store. */
const TOLD = 5;

export function createTakePlan(deps: TakePlanDeps): MainlineActivities['takePlan'] {
  const { db, prices } = deps;
  return async ({ run, node: id, attempt }) => {
    const hub = await deps.hub(run);
    const { dir } = hub;
    const { verified } = await hub.line();
    const paths = await listFiles(dir, verified);
    const key = { run, task: plannerTask(id), attempt };
    return inTransaction(db, async (tx) => {
      await lockPlan(tx, run);
      const said = await loadPlanAnswer(tx, run, id, attempt);
      const earlier = said?.result ?? null;
      if (earlier !== null) return earlier as PlanTaken;
      const plan = await loadPlan(tx, run);
      const node = plan.nodes.find((one) => one.id === id);
      const answer = said?.answer ?? null;
      if (answer === null || node === undefined)
        throw new Error(`The planner "${id}" of ${run} gave no answer ${attempt}.`);
      const contents = await presetContents(dir, verified, answer, paths);
      const checked = readAnswer(
        answer,
        contextFor(plan, node, paths, (path) => contents.get(path) ?? null, await followers(dir, verified, answer)),
      );
      const score =
        checked.answer === null
          ? null
          : planScore(plan, checked, paths, prices, await measured(tx, plan.spec.repository.url));
      const problems = score === null ? checked.problems : refusals(score, plan);
      if (problems.length > 0) {
        const text = problems.map(({ path, message }) => `${path === '' ? 'answer' : path}: ${message}`);
        const more = text.length > TOLD ? `\n… and ${text.length - TOLD} more` : '';
        const result: PlanTaken = { ok: false, why: `${text.slice(0, TOLD).join('\n')}${more}` };
        await judgePlanAnswer(tx, run, id, attempt, { problems, result });
        await saveArtifact(tx, { ...key, name: PROBLEMS }, `${text.join('\n')}\n`);
        await endAttempt(tx, key, { outcome: 'answer', why: result.why, failureArtifact: PROBLEMS });
        return result;
      }
      const result = await layPlan(tx, run, { plan, node, checked, score: score!, attempt });
      await judgePlanAnswer(tx, run, id, attempt, { problems: [], result });
      await endAttempt(tx, key, { outcome: 'passed' });
      return result;
    });
  };
}

const refusals = (score: PlanScore, { spec }: PlanState): Problem[] => planRefusals(score, spec.planning.refuse);

/** A larger file is data. */
const FILE_BYTES = 1024 * 1024;

/** Files that refer to decisions which the answer supersedes, by their ids. */
async function followers(
  gitDir: string,
  commit: string,
  answer: string,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const out = new Map<string, string[]>();
  if (!/"supersedes"\s*:\s*"[^"]/.test(answer)) return out;
  for (const { path, text } of await grepTree(gitDir, commit, REFERENCE_MARK, FILE_BYTES))
    for (const id of new Set(decisionReferences(text).map((reference) => reference.id)))
      out.set(id, [...(out.get(id) ?? []), path]);
  return out;
}

/** Preset tests that the answer gives by their path. */
async function presetContents(
  gitDir: string,
  commit: string,
  answer: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const found = jsonOf(answer);
  const out = new Map<string, string>();
  for (const path of found.ok ? presetTestPaths(found.value, paths) : []) {
    const content = await readFileAt(gitDir, commit, path);
    if (content !== null) out.set(path, content.toString('utf8'));
  }
  return out;
}
