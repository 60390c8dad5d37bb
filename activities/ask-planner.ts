/**
 * One answer of a planner: the plan as it stands and the repository's map in, what it said in the store out.
 *
 * 1. An answer that was given is not asked for again.
 * 2. Its workspace is read-only (ask-agent): a planner never edits.
 */
import { engineFor, promptBytes } from '../engines/index.ts';
import { treeOf } from '../mainline/git.ts';
import { openScratch } from '../sandbox/scratch.ts';
import { buildPlannerPrompt } from '../spec/prompt/index.ts';
import { otherScopes, planLines, plannerTask } from '../spec/plan/index.ts';
import type { PlanNode, PlanState } from '../spec/plan/index.ts';
import { planDemands } from '../spec/plan/score-limits.ts';
import { agentsNotes } from './agents-notes.ts';
import { askAgent } from './ask-agent.ts';
import type { AttemptDeps } from './attempt-ports.ts';
import type { AskPlannerInput, AttemptActivities } from './contract.ts';
import { mapOf } from './repository-map.ts';
import type { Running } from './running.ts';

/** Some 75,000 tokens. */
const PROMPT_BYTES = 300_000;
const LANDED = 40;

export async function askPlanner(
  input: AskPlannerInput,
  deps: AttemptDeps,
  running: Running,
): ReturnType<AttemptActivities['askPlanner']> {
  const { run, node: id, attempt } = input;
  const { store, hub } = deps;
  const given = await store.planAnswer(run, id, attempt);
  if ((given?.answer ?? null) !== null) return { ok: true };
  const key = { run, task: plannerTask(id), attempt };
  const plan = await store.plan(run);
  const node = plan.nodes.find((one) => one.id === id);
  const role = plan.spec.roles.planner;
  if (node === undefined || role === undefined) throw new Error(`The run "${run}" has no planner "${id}".`);
  const commit = await hub.resolve(run, 'verified', running.signal);
  const source = await hub.ensure(run, [commit], running.signal);
  await store.startAttempt(key, { round: 1, host: deps.hostId, base: commit });
  const scratch = await openScratch({ stateDir: deps.stateDir, source, union: plan.spec.repository.union });
  try {
    running.report({ phase: 'reading the repository' });
    const prompt = await promptFor(input, plan, node, await treeOf(scratch.gitDir, commit), scratch.gitDir, deps);
    const ask = { key, name: 'planner', spec: plan.spec, role, roleName: 'planner' as const, commit, prompt, scratch };
    const said = await askAgent(ask, deps, running);
    await store.savePlanAnswer(run, {
      node: id,
      attempt,
      occasion: input.occasion,
      answer: said.ok ? said.text : null,
    });
    await store.markAttempt(key, { phase: 'agent', agentMs: said.ms });
    if (said.ok) return { ok: true };
    await store.endAttempt(key, { outcome: said.cause, why: said.why, failureArtifact: 'planner.log' });
    return { ok: false, cause: said.cause, why: said.why };
  } catch (error) {
    const stopped = { outcome: 'cancelled', why: 'Stopped by a person or by its run.', failureArtifact: null } as const;
    if (running.cancelRequested()) await store.endAttempt(key, stopped);
    throw error;
  } finally {
    await scratch.close();
  }
}

async function promptFor(
  { run, attempt, occasion }: AskPlannerInput,
  plan: PlanState,
  node: PlanNode,
  tree: string,
  gitDir: string,
  deps: AttemptDeps,
): Promise<string> {
  const { spec, nodes, decisions, tasks } = plan;
  const before = await deps.store.planAnswer(run, node.id, attempt - 1);
  const isSentBack =
    before !== null && before.answer !== null && before.occasion === occasion && (before.problems?.length ?? 0) > 0;
  const { contracts, manifests } = spec.repository;
  const landed = tasks.filter(({ state }) => state === 'passed').slice(-LANDED);
  return buildPlannerPrompt({
    runGoal: spec.goal,
    scope: node.parent === null ? null : node,
    files: node.files,
    depth: node.depth,
    bounds: spec.planning.bounds,
    repository: {
      isEmpty: spec.repository.url === null && landed.length === 0,
      contracts,
      manifests,
      protected: spec.repository.protected,
    },
    gate: spec.gate.steps.flatMap(({ name, skip, commands }) =>
      skip || commands.task === null ? [] : [`${name}: ${commands.task}`],
    ),
    map: await mapOf(gitDir, tree, node.files),
    decisions,
    plan: planLines(plan, node.files),
    otherScopes: otherScopes(nodes, node.id),
    landed: planLines({ ...plan, tasks: landed }, ['**']),
    workLog: await agentsNotes(run, deps),
    occasion,
    sentBack: isSentBack ? { answer: before.answer ?? '', problems: before.problems ?? [] } : null,
    threshold: planDemands(spec.planning.refuse),
    maxBytes: promptBytes(PROMPT_BYTES, engineFor(spec.roles.planner!.engine, spec.engines)),
  }).text;
}
